"""A host at the other end of the pipe, and a project for its sessions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from inspect import isawaitable
from pathlib import Path
from typing import Any

import pytest

from hindbrain.contracts import JsonValue
from hindbrain.generic._config import Layer, Settings, merge
from hindbrain.generic.sidecar import Application

STAMP = "2026-01-02T03:04:05.000Z"


class FakeHost:
    """Answers the application's calls from a table and keeps what it was told."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {"host/notify": {}, "host/entries": {"entries": [], "leaf": None, "more": False}}
        self.calls: list[tuple[str, Mapping[str, JsonValue]]] = []
        self.told: list[tuple[str, Mapping[str, JsonValue]]] = []

    async def call(self, method: str, params: Mapping[str, JsonValue], timeout: float) -> JsonValue:  # noqa: ASYNC109
        assert timeout > 0
        self.calls.append((method, params))
        answer = self.answers[method]
        if callable(answer):
            answer = answer(params)
        if isawaitable(answer):
            answer = await answer
        if isinstance(answer, list):
            answer = answer.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def notify(self, method: str, params: Mapping[str, JsonValue]) -> object:
        self.told.append((method, params))
        return True

    def footers(self) -> list[JsonValue]:
        return [params["text"] for method, params in self.told if method == "host/status"]

    def notices(self) -> list[str]:
        return [str(params["text"]) for method, params in self.calls if method == "host/notify"]


class Place:
    """A project with a session file in the form of pi."""

    def __init__(self, root: Path) -> None:
        self.root = root / "project"
        (self.root / ".git").mkdir(parents=True)
        self.data = root / "data"
        self.file = root / "session.jsonl"
        self.leaf: str | None = None
        self.values: dict[str, Any] = {}
        self._line({"type": "session", "version": 3, "id": "s1", "timestamp": STAMP, "cwd": str(self.root)})

    def say(self, text: str, role: str = "user") -> dict[str, Any]:
        """A message that the host has written."""
        number = len(self.file.read_text().splitlines())
        message = {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1_767_323_045_000 + number}
        parent, self.leaf = self.leaf, f"{number:08x}"
        self._line({"type": "message", "id": self.leaf, "parentId": parent, "timestamp": STAMP, "message": message})
        return message

    def custom(self, custom_type: str, data: Any) -> str:
        """An entry of an extension that the host has written."""
        return self._entry({"type": "custom", "customType": custom_type, "data": data})

    def compaction(self, first_kept: str, details: Any = None, summary: str = "A summary.") -> str:
        """A compaction that the host has written."""
        entry = {"type": "compaction", "summary": summary, "firstKeptEntryId": first_kept, "tokensBefore": 9}
        return self._entry({**entry, "details": details})

    def entries(self, custom_type: str) -> list[Any]:
        """The data of the entries of a type that lie in the session's file."""
        lines = map(json.loads, self.file.read_text("utf-8").splitlines())
        return [line["data"] for line in lines if line.get("customType") == custom_type]

    def append(self, params: Mapping[str, Any]) -> dict[str, JsonValue]:
        """What the host does for ``host/append``."""
        return {"id": self.custom(params["customType"], params["data"])}

    def _entry(self, entry: dict[str, Any]) -> str:
        number = len(self.file.read_text().splitlines())
        parent, self.leaf = self.leaf, f"{number:08x}"
        self._line({**entry, "id": self.leaf, "parentId": parent, "timestamp": STAMP})
        return self.leaf

    def opened(self, **more: JsonValue) -> dict[str, JsonValue]:
        return {"session": "s1", "file": str(self.file), "cwd": str(self.root), "mode": "tui", "ui": True, **more}

    def now(self, **more: JsonValue) -> dict[str, JsonValue]:
        return {"session": "s1", "file": str(self.file), "leaf": self.leaf, **more}

    async def settings(self, _cwd: str) -> Settings:
        values = {"backend": "local", "dataDir": str(self.data), **self.values}
        return merge([Layer(origin="test", values=values)])

    def _line(self, value: Mapping[str, JsonValue]) -> None:
        with self.file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(value) + "\n")


@pytest.fixture
def host() -> FakeHost:
    return FakeHost()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def app(host: FakeHost, place: Place) -> Application:
    return Application(host, "pi", place.settings)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers begin at a turn's end, and not a moment later."""
    monkeypatch.setattr("hindbrain.generic._observe._consolidator.BREATH", 0.0)
