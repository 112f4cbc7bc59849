"""The real sidecar with a memory, and what it kept: on the disk, on the server, in the model's requests."""

import contextlib
import json
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import httpx
from _pinned.rpc import HostFailedError
from hosts.machine import Machine, eventually
from hosts.model import text_of

from hindbrain.memory import RetainConfig
from hindbrain.memory import project as projection
from hindbrain.memory.sessions import read_session

KEY = "HINDBRAIN_TEST_KEY"
BLOCK = "<hindsight-memory>"
Settings = dict[str, Any]
Messages = list[dict[str, Any]]


class Hindsight:
    """A real server, as the tests ask it beside the hosts."""

    def __init__(self, url: str, key: str) -> None:
        self.url, self.key = url, key

    def document(self, bank: str, document: str) -> str | None:
        """The text of a document, None where there is none."""
        return None if (found := self._get(f"banks/{bank}/documents/{document}")) is None else found["original_text"]

    def documents(self, bank: str) -> list[str]:
        """The ids of a bank's documents."""
        found = self._get(f"banks/{bank}/documents?limit=100")
        return [] if found is None else [each["id"] for each in found["items"]]

    def observed(self, bank: str) -> bool:
        """Whether a bank has facts and each is in an observation: recall asks for those, and they come later."""
        known, waiting = (self._total(bank, which) for which in ("", "&consolidation_state=pending"))
        return known > 0 and waiting == 0

    def settings(self, bank: str, url: str | None = None, **more: Any) -> Settings:
        """What a user writes to use it: with a token, which lies in the environment."""
        place = {"baseUrl": url or self.url, "apiKeyRef": f"env:{KEY}"}
        return {"backend": "hindsight", "hindsight": place, "banks": {"project": {"bankId": bank}}, **more}

    def _total(self, bank: str, which: str) -> int:
        found = self._get(f"banks/{bank}/memories/list?limit=1{which}")
        return 0 if found is None else int(found["total"])

    def _get(self, path: str) -> Any:
        headers = {"authorization": f"Bearer {self.key}"}
        answer = httpx.get(f"{self.url}/v1/default/{path}", headers=headers, timeout=30, trust_env=False)
        return None if answer.status_code == httpx.codes.NOT_FOUND else answer.raise_for_status().json()


def new_bank() -> str:
    """The id of a bank that no other test knows."""
    return f"hosts-{uuid.uuid4().hex}"


def remember(machine: Machine, settings: Settings | None = None) -> None:
    """Install the real sidecar; without other settings its memory lies on this machine's disk."""
    machine.install_command([sys.executable, "-I", "-m", f"hindbrain.{machine.host}"])
    data = {"dataDir": str(machine.root / "data")}
    own = {"backend": "local", **data} if settings is None else {**data, **settings}
    (machine.installed.parents[1] / "hindbrain.json").write_text(json.dumps(own), "utf-8")
    (machine.project / ".git").mkdir(exist_ok=True)


def state(machine: Machine) -> Path:
    """The project's state folder."""
    return machine.project / f".{machine.host}" / "hindsight"


def jobs(machine: Machine) -> list[Any]:
    """The jobs in the queue's file, those that were sent among them."""
    queue = state(machine) / "retain-queue.jsonl"
    return [json.loads(line) for line in queue.read_text("utf-8").splitlines()] if queue.exists() else []


def blocks(machine: Machine, prompt: str) -> list[str]:
    """The block that each request about this prompt shows, "" where it shows none."""
    found = []
    for body in machine.model.about(prompt):
        texts = [text_of(message) for message in body["messages"]]
        found.append("\n".join(text for text in texts if BLOCK in text))
    return found


def turns(document: str) -> Messages:
    """The messages of a document: one JSON array a retain, one after the other."""
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(document):
        value, at = decoder.raw_decode(document, at)
        found += value
        while at < len(document) and document[at].isspace():
            at += 1
    return found


def stored(hindsight: Hindsight, bank: str) -> list[Messages]:
    """The messages of each document of a bank, sorted."""
    found = [turns(hindsight.document(bank, each) or "") for each in hindsight.documents(bank)]
    return sorted(found, key=str)


def arrives(hindsight: Hindsight, bank: str, expected: list[Messages]) -> None:
    """Wait until the bank has these documents; a server that was away may answer the hosts' last request late."""
    with contextlib.suppress(HostFailedError):
        eventually(lambda: stored(hindsight, bank) == sorted(expected, key=str), 45)
    assert stored(hindsight, bank) == sorted(expected, key=str)


def projected(session: Path) -> Messages:
    """What should be retained of a session, as its file stands."""
    branch = read_session(str(session)).branch()
    content = projection(branch.path(), RetainConfig())
    return turns(content or "")


def said(messages: Messages, role: str) -> list[str]:
    """The texts of messages of one role."""
    found = [message["content"] for message in messages if message["role"] == role]
    return ["".join(part.get("text", "") for part in parts) for parts in found]


def sidecars(machine: Machine) -> list[int]:
    """The ids of the sidecars that run below this machine's home."""
    return machine.processes(f"hindbrain.{machine.host}")


def hindbrain(machine: Machine, *words: str) -> dict[str, Any]:
    """What a command says in the project, as a user of this machine runs it."""
    command = [str(Path(sys.executable).with_name("hindbrain")), *words, "--json"]
    done = subprocess.run(
        command, cwd=machine.project, env=machine.env, capture_output=True, text=True, check=False, timeout=60
    )
    said: dict[str, Any] = json.loads(done.stdout)
    assert said["ok"], said
    data: dict[str, Any] = said["data"]
    return data
