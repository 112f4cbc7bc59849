"""Session files made for the tests of import, and a place to import them to."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from attrs import define, evolve, field

from hindbrain.contracts import BackendError, Operation, OperationStatus, Outcome, Retained, RetainItem
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import Layer, Settings, merge
from hindbrain.generic._import import ImportReport, Profile, Survey, TreeImport, Where, survey


def session_id(number: int) -> str:
    """An id as hosts make them."""
    return f"{number:08x}-0000-7000-8000-000000000000"


@define
class Recording:
    """Writes a session file entry by entry; the last one is the parent of the next."""

    path: Path
    cwd: Path
    number: int = 1
    parent_session: str | None = None
    _leaf: str | None = None
    _count: int = 0
    lines: list[str] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        header: dict[str, Any] = {"type": "session", "version": 3, "id": session_id(self.number), "timestamp": at(0)}
        more = {"parentSession": self.parent_session} if self.parent_session else {}
        self.lines.append(json.dumps({**header, "cwd": str(self.cwd), **more}))

    def add(self, role: str, text: str, *, parent: str | None = None, **more: Any) -> str:
        """A message; its id."""
        self._count += 1
        entry = f"{self.number:04x}{self._count:04x}"
        message = {"role": role, "content": [{"type": "text", "text": text}], **more}
        self.put(
            {
                "type": "message",
                "id": entry,
                "parentId": parent or self._leaf,
                "timestamp": at(self._count),
                "message": message,
            }
        )
        return entry

    def put(self, entry: dict[str, Any]) -> None:
        """Any entry."""
        self._leaf = entry["id"]
        self.lines.append(json.dumps(entry))

    def turns(self, first: int, last: int) -> list[str]:
        """Turns of a question and an answer; the ids of the questions."""
        asked = []
        for number in range(first, last + 1):
            asked.append(self.add("user", f"question {number} of {self.number}"))
            self.add("assistant", f"answer {number} of {self.number}")
        return asked

    def write(self) -> Path:
        """Put it on the disk."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        return self.path


def at(minute: int) -> str:
    """A time."""
    return f"2026-01-02T{minute // 60:02d}:{minute % 60:02d}:00.000Z"


class Server(InMemoryBackend):
    """Notes every retain it was asked for, in order; can be down; may break off what it took (``ends``, by turns)."""

    def __init__(self) -> None:
        super().__init__()
        self.down = False
        self.ends: list[OperationStatus] = []
        self.asked: list[tuple[str, str, RetainItem]] = []

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        if self.down:
            error = BackendError("it cannot be reached")
            error.outcome, error.retryable = Outcome.UNKNOWN, True
            raise error
        self.asked.append((operation_id, bank, item))
        retained = await super().retain(bank, item, operation_id=operation_id)
        return evolve(retained, status=OperationStatus.PENDING) if self.ends else retained

    async def status(self, bank: str, operation_id: str) -> Operation:
        stands = await super().status(bank, operation_id)
        return evolve(stands, status=self.ends.pop(0)) if self.ends else stands

    @property
    def documents(self) -> dict[str, RetainItem]:
        """The newest item of each document."""
        return {item.document_id: item for _, _, item in self.asked}

    def words(self) -> list[str]:
        """All texts that memory holds now, in the order of sending."""
        found = []
        for item in self.documents.values():
            found += [part["text"] for turn in json.loads(item.content) for part in turn["content"] if "text" in part]
        return found


@define
class Place:
    """A project, its settings, and a server."""

    folder: Path
    server: Server
    values: dict[str, Any] = field(factory=dict)

    @property
    def project(self) -> Path:
        """The root of the project that recordings are made in."""
        return self.folder / "project"

    @property
    def sessions(self) -> Path:
        """Where the host keeps its session files."""
        return self.folder / "sessions"

    def settings(self, _root: Path) -> Settings:
        """The settings of any project."""
        return merge([Layer(origin="test", values={"dataDir": str(self.folder / "data"), **self.values})])

    async def survey(self, *places: Path, **where: Any) -> Survey:
        """Look at these, or at all sessions."""
        return await survey(places or (self.sessions,), Where(**where), self.settings)

    async def plan(self, *places: Path, profile: Profile | None = None) -> list[ImportReport]:
        """What would be imported."""
        return await TreeImport(await self.survey(*places), profile or Profile()).plan()

    async def run(self, *places: Path, send: bool = True, **profile: Any) -> list[ImportReport]:
        """Import, and send."""
        tree = TreeImport(await self.survey(*places), Profile(**profile))
        reports = await tree.run()
        if send:
            await tree.send(reports)
        return reports

    def record(self, name: str = "one.jsonl", **more: Any) -> Recording:
        """A new recording in the project."""
        return Recording(self.sessions / name, more.pop("cwd", self.project), **more)


PlaceOf: TypeAlias = Callable[..., Place]


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def place(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A project with sessions, whose backend is the server."""
    from contextlib import asynccontextmanager

    @asynccontextmanager
    async def open_server(_settings: Settings) -> Any:
        yield server

    monkeypatch.setattr("hindbrain.generic._import._tree.open_backend", open_server)
    made = Place(tmp_path, server)
    (made.project / ".git").mkdir(parents=True)
    made.sessions.mkdir()
    return made
