"""A loopback model that also plays the workers of observational memory, through real tool calls.

The observer records each line ``FACT relevance kind: text`` of its passages; the reflector makes one statement of the
observations that no reflection covers; the dropper drops what is of low relevance. While it is ``down`` the workers'
requests fail, and only theirs.
"""

import json
import re
import threading
from collections.abc import Iterator
from typing import Any

from hosts.model import Body, ObedientModel, RefusedError, chunks, text_of

PASSAGE = re.compile(r"^\[Source entry id: (\S+)\]$")
FACT = re.compile(r"FACT (low|medium|high|critical) (user|decision|fact|progress): ([^\n]+)")
LINE = re.compile(r"^(none|partial|strong) \[([0-9a-f]{12})\] ([^\n]*)", re.MULTILINE)
TOOLS = {"record_observations": "observer", "record_reflections": "reflector", "drop_observations": "dropper"}


class Workers(ObedientModel):
    """The server; ``asked`` counts the requests of each worker that were answered, ``missed`` those that were not."""

    def __init__(self) -> None:
        super().__init__()
        self.down = False
        self.asked = dict.fromkeys(TOOLS.values(), 0)
        self.missed = 0
        self._held: str | None = None
        self._reached, self._released = threading.Event(), threading.Event()

    def hold_worker(self, worker: str) -> None:
        """Let the next request of this worker wait until `release_worker`."""
        self._reached.clear()
        self._released.clear()
        self._held = worker

    def reached(self) -> bool:
        """Whether that request is there."""
        return self._reached.is_set()

    def release_worker(self) -> None:
        """Let it go on."""
        self._released.set()

    def take(self, body: Body) -> Iterator[Body]:
        """Play a worker where its tool is offered, else do what the user says."""
        names = [tool["function"]["name"] for tool in body.get("tools") or ()]
        worker = next((TOOLS[name] for name in names if name in TOOLS), None)
        if worker is None:
            return super().take(body)
        if self.down:
            self.missed += 1
            raise RefusedError(503)
        if worker == self._held:
            self._held = None
            self._reached.set()
            self._released.wait(60)
        self.asked[worker] += 1
        messages = body["messages"]
        size = len(json.dumps(messages, ensure_ascii=False)) // 4
        number = sum(self.asked.values())
        if any(message["role"] == "tool" for message in messages):
            return chunks("done", [], number, size)
        prompt = next(text_of(message) for message in messages if message["role"] == "user")
        arguments = _PLAY[worker](prompt)
        calls = [] if arguments is None else [(names[0], json.dumps(arguments))]
        return chunks("" if calls else "nothing", calls, number, size)


def _observe(prompt: str) -> dict[str, Any] | None:
    found, source = [], ""
    for line in prompt.partition("# Passages")[2].splitlines():
        if passage := PASSAGE.match(line):
            source = passage[1]
        elif "[Assistant @" not in line and (fact := FACT.search(line)):
            content = {"content": fact[3], "relevance": fact[1], "kind": fact[2], "sourceEntryIds": [source]}
            found.append(content)
    return {"observations": found} if found else None


def _reflect(prompt: str) -> dict[str, Any] | None:
    bare = [record for tier, record, _ in LINE.findall(prompt) if tier == "none"]
    if len(bare) < 2:
        return None
    statement = {"content": f"Ships that were seen: {len(bare)} since {bare[0]}", "supportingObservationIds": bare[:20]}
    return {"reflections": [statement]}


def _drop(prompt: str) -> dict[str, Any] | None:
    low = [record for _, record, rest in LINE.findall(prompt) if "[low]" in rest]
    return {"ids": low} if low else None


_PLAY = {"observer": _observe, "reflector": _reflect, "dropper": _drop}
