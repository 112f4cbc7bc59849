"""The retain path of a live session: what reaches the disk, and when it is sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hindbrain.contracts import BackendError, Entry, Message, Outcome, Retained, RetainItem, TextPart
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import InProcessHost, Layer, Session, SessionPlace, Settings, live_session, merge

FILE = "/tmp/session.jsonl"
DOCUMENT = "pi-session:29e67821bedc391a"


class Server(InMemoryBackend):
    """Keeps what it took; can be down, or hang. ``called`` is set when a retain arrives."""

    def __init__(self) -> None:
        super().__init__()
        self.down = self.hang = False
        self.called = asyncio.Event()
        self.took: list[tuple[str, RetainItem]] = []

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        self.called.set()
        if self.hang:
            await asyncio.get_running_loop().create_future()
        if self.down:
            error = BackendError("it cannot be reached")
            error.outcome, error.retryable = Outcome.UNKNOWN, True
            raise error
        self.took.append((bank, item))
        return await super().retain(bank, item, operation_id=operation_id)

    async def close(self) -> None:
        """It outlives the sessions of a test."""

    def has(self, text: str) -> bool:
        return any(text in item.content for _, item in self.took)


class Place:
    """A project with a session that is opened again and again, as by one process after the other."""

    def __init__(self, root: Path, server: Server) -> None:
        self.root, self.server = root, server
        self.host = InProcessHost()
        self.last: str | None = None
        (root / "project" / ".git").mkdir(parents=True)

    @asynccontextmanager
    async def open(self, **values: Any) -> AsyncIterator[Session]:
        values.setdefault("dataDir", str(self.root / "data"))
        settings: Settings = merge([Layer(origin="test", values=values)])
        place = SessionPlace(host="pi", cwd=str(self.root / "project"), file=FILE)
        async with live_session(self.host, settings, place) as session:
            yield session

    def say(self, text: str, role: str = "user") -> None:
        message = Message(role=role, parts=(TextPart(text),))
        self.host.add(Entry(id=text, parent_id=self.last, kind="message", message=message))
        self.last = text

    def queued(self) -> list[dict[str, Any]]:
        raw = (self.root / "project/.pi/hindsight/retain-queue.jsonl").read_text("utf-8")
        return [json.loads(line) for line in raw.splitlines()]


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def place(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Place:
    @asynccontextmanager
    async def opened(_settings: Settings) -> AsyncIterator[Server]:
        yield server

    monkeypatch.setattr("hindbrain.generic._live.open_backend", opened)
    return Place(tmp_path, server)


async def leave(place: Place, *texts: str) -> None:
    """Turns that an outage left behind."""
    place.server.down = True
    async with place.open() as session:
        for text in texts:
            place.say(text)
            await session.settled()
    place.server.down = False
    place.server.called.clear()


@pytest.mark.req("S0-retain-003", "S0-retain-010")
async def test_a_turns_job_holds_the_new_messages_only_and_no_new_message_makes_no_job(place: Place) -> None:
    async with place.open() as session:
        for n in (1, 2):
            place.say(f"question {n}")
            place.say(f"answer {n}", "assistant")
            await session.settled()
            assert (await session.settled()).skipped == "nothing-new"
    said = [[m["content"][0]["text"] for m in json.loads(line["item"]["content"])] for line in place.queued()]
    assert said == [["question 1", "answer 1"], ["question 2", "answer 2"]]


@pytest.mark.req("S0-retain-005", "S0-retain-006")
async def test_all_turns_of_a_session_are_appended_to_one_document(place: Place) -> None:
    for texts in (("one", "two"), ("three",)):
        async with place.open() as session:
            for text in texts:
                place.say(text)
                await session.settled()
    assert [(item.document_id, item.update_mode) for _, item in place.server.took] == [(DOCUMENT, "append")] * 3
    assert [(line["documentId"], line["updateMode"]) for line in place.queued()] == [(DOCUMENT, "append")] * 3
    assert all("session:29e67821bedc391a" in item.tags for _, item in place.server.took)


@pytest.mark.req("S0-queue-003")
async def test_a_turn_is_on_the_disk_before_anything_is_sent(place: Place) -> None:
    place.server.hang = True
    place.say("We ship on Fridays.")
    async with place.open(retain={"shutdownFlushTimeoutMs": 1}) as session:
        turn = asyncio.create_task(session.settled())
        await place.server.called.wait()
        assert ["Fridays" in line["item"]["content"] for line in place.queued()] == [True]
        turn.cancel()
        await asyncio.wait({turn})
    assert place.server.took == []


async def test_a_turn_is_kept_while_an_older_one_hangs_on_its_way(place: Place) -> None:
    await leave(place, "one")
    place.server.hang = True
    async with place.open(retain={"shutdownFlushTimeoutMs": 1}) as session:
        tick = asyncio.create_task(session.tick())
        await place.server.called.wait()
        place.say("two")
        turn = asyncio.create_task(session.settled())
        async with asyncio.timeout(20):
            while len(place.queued()) < 2:  # noqa: ASYNC110 - a file tells no event
                await asyncio.sleep(0.001)
        assert not tick.done()
        tick.cancel()
        turn.cancel()
        await asyncio.wait({tick, turn})


@pytest.mark.req("S0-flush-002")
async def test_a_new_turn_takes_along_what_an_outage_left(place: Place) -> None:
    await leave(place, "one", "two")
    assert place.server.took == []
    async with place.open() as session:
        place.say("three")
        turn = await session.settled()
        assert (turn.flush.sent, turn.flush.waiting) == (3, 0)
        assert [place.server.has(text) for text in ("one", "two", "three")] == [True] * 3


@pytest.mark.req("S0-flush-003")
async def test_the_end_of_a_session_sends_what_waits(place: Place) -> None:
    await leave(place, "one")
    async with place.open():
        assert place.server.took == []
    assert place.server.has("one")


@pytest.mark.req("S0-flush-004", "S0-flush-013")
async def test_a_session_that_stands_idle_sends_what_waits_by_the_clock_until_it_ends(place: Place) -> None:
    await leave(place, "one", "two")
    async with place.open(retain={"flushIntervalMs": 1, "shutdownFlushMaxJobs": 1}):
        async with asyncio.timeout(20):
            await place.server.called.wait()
    taken = len(place.server.took)
    assert place.server.has("one")
    assert [task for task in asyncio.all_tasks() if task.get_name() == "hindbrain-every"] == []
    await asyncio.sleep(0)
    assert len(place.server.took) == taken


@pytest.mark.req("S0-flush-005")
async def test_by_default_no_session_sends_by_the_clock(place: Place) -> None:
    await leave(place, "one")
    async with place.open():
        assert [task for task in asyncio.all_tasks() if task.get_name() == "hindbrain-every"] == []


async def test_a_tick_sends_one_job_and_none_while_something_is_being_sent(place: Place) -> None:
    await leave(place, "one", "two")
    async with place.open(retain={"shutdownFlushTimeoutMs": 1}) as session:
        assert (await session.tick()).sent == 1
        place.server.hang = True
        place.server.called.clear()
        sending = asyncio.create_task(session.settled())
        await place.server.called.wait()
        assert (await session.tick()).sent == 0
        sending.cancel()
        await asyncio.wait({sending})


async def test_a_tick_that_fails_breaks_nothing_and_is_told_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    place.host = InProcessHost(notify=lambda text, _level: lines.append(text))

    async def broken(_self: object) -> None:
        raise OSError

    monkeypatch.setattr("hindbrain.generic._disk_outbox.DiskOutbox.tick", broken)
    async with place.open() as session:
        assert [(await session.tick()).code for _ in range(2)] == ["OSError", "OSError"]
    assert [line for line in lines if "OSError" in line] == lines[:1]
