"""Sessions whose turns wait on the disk: restarts, outages, forks and moved files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from hindbrain.contracts import BackendError, Entry, Message, Outcome, Retained, RetainItem, TextPart
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import DiskOutbox, InProcessHost, Layer, Session, Settings, merge, state_folder
from hindbrain.memory import Checkout, MemoryConfig, ScopeConfig, SessionIdentity, identify
from hindbrain.store import HostState, StoreError

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
IDENTITY = SessionIdentity(host="pi", key="29e67821bedc391a", lineage="s1", label="session.jsonl", origin="local")


def said(id_: str, parent: str | None, text: str) -> Entry:
    return Entry(id=id_, parent_id=parent, kind="message", message=Message(role="user", parts=(TextPart(text),)))


class Server(InMemoryBackend):
    """Keeps what it took, in order; can be down, or hang."""

    def __init__(self) -> None:
        super().__init__()
        self.down = False
        self.hang = False
        self.took: list[tuple[str, str]] = []

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        if self.hang:
            await asyncio.get_running_loop().create_future()
        if self.down:
            error = BackendError("it cannot be reached")
            error.outcome, error.retryable = Outcome.UNKNOWN, True
            raise error
        if operation_id not in {operation for operation, _ in self.took}:
            self.took.append((operation_id, item.content))
        return await super().retain(bank, item, operation_id=operation_id)

    def count(self, text: str) -> int:
        return sum(content.count(text) for _, content in self.took)


Open = Callable[..., Any]


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def open_session(tmp_path: Path, server: Server) -> Open:
    async def open_(
        host: InProcessHost, *, identity: SessionIdentity = IDENTITY, told: list[str] | None = None, **retain: Any
    ) -> Session:
        settings: Settings = merge([Layer(origin="test", values={"retain": retain})])
        lines = told if told is not None else []
        state = await HostState.open(tmp_path / "state", seal_file=tmp_path / "seal.key", notify=lines.append)
        outbox = DiskOutbox(state, server, settings)
        config = MemoryConfig()
        return Session(host=host, backend=server, config=config, project=PROJECT, identity=identity, outbox=outbox)

    return open_


def host(*entries: Entry) -> InProcessHost:
    new = InProcessHost()
    for entry in entries:
        new.add(entry)
    return new


async def test_a_restart_repeats_nothing_and_loses_nothing(server: Server, open_session: Open) -> None:
    entries = [said("a", None, "first"), said("b", "a", "second")]
    session = await open_session(host(*entries))
    await session.settled()
    await session.close()
    again = await open_session(host(*entries, said("c", "b", "third")))
    await again.settled()
    await again.close()
    assert [server.count(text) for text in ("first", "second", "third")] == [1, 1, 1]


async def test_a_session_that_ends_without_a_close_is_continued_from_the_queue(
    server: Server, open_session: Open
) -> None:
    server.down = True
    lost = await open_session(host(said("a", None, "first")))
    await lost.settled()
    server.down = False
    again = await open_session(host(said("a", None, "first"), said("b", "a", "second")))
    await again.settled()
    await again.close()
    assert (server.count("first"), server.count("second")) == (1, 1)


async def test_ten_turns_of_an_outage_arrive_in_order_afterwards(server: Server, open_session: Open) -> None:
    lines = InProcessHost()
    session = await open_session(lines)
    server.down = True
    for number in range(10):
        lines.add(said(f"e{number}", f"e{number - 1}" if number else None, f"turn number {number}."))
        await session.settled()
    await session.close()
    assert server.took == []
    server.down = False
    later = await open_session(lines)
    await later.settled()
    await later.close()
    assert [f"turn number {n}." in content for n, (_, content) in enumerate(server.took)] == [True] * 10


async def test_a_recall_that_is_answered_ends_the_wait_after_an_outage(server: Server, open_session: Open) -> None:
    there = host(said("a", None, "first"))
    session = await open_session(there)
    server.down = True
    assert (await session.settled()).flush.code == "backend"
    server.down = False
    assert (await session.send()).waiting == 1
    await session.context([Message(role="user", parts=(TextPart("first"),))])
    assert (await session.send()).sent == 1
    await session.close()


async def test_a_fork_retains_only_what_is_new(server: Server, open_session: Open) -> None:
    entries = [said("a", None, "first"), said("b", "a", "second")]
    session = await open_session(host(*entries))
    await session.settled()
    await session.close()
    fork = await open_session(host(*entries, said("z", "a", "other way")), identity=evolve(IDENTITY, key="f" * 16))
    await fork.settled()
    await fork.close()
    assert [server.count(text) for text in ("first", "second", "other way")] == [1, 1, 1]


async def test_an_edited_message_alone_is_retained_again(server: Server, open_session: Open) -> None:
    session = await open_session(host(said("a", None, "first"), said("b", "a", "second")))
    await session.settled()
    await session.close()
    edited = await open_session(host(said("a", None, "first, corrected"), said("b", "a", "second")))
    await edited.settled()
    await edited.close()
    assert (server.count("corrected"), server.count("second")) == (1, 1)


async def test_the_last_flush_is_bounded_in_jobs(server: Server, open_session: Open) -> None:
    lines = InProcessHost()
    session = await open_session(lines, shutdownFlushMaxJobs=2)
    server.down = True
    for number in range(4):
        lines.add(said(f"e{number}", f"e{number - 1}" if number else None, f"turn {number}"))
        await session.settled()
    await session.close()
    server.down = False
    again = await open_session(lines, shutdownFlushMaxJobs=2)
    flush = await again.close()
    assert (len(server.took), flush.waiting) == (2, 2)


@pytest.mark.req("S0-flush-009")
async def test_the_last_flush_ends_in_the_middle_of_a_request_that_hangs(server: Server, open_session: Open) -> None:
    lines = InProcessHost()
    session = await open_session(lines, shutdownFlushTimeoutMs=50)
    server.down = True
    lines.add(said("a", None, "first"))
    await session.settled()
    server.down, server.hang = False, True
    again = await open_session(lines, shutdownFlushTimeoutMs=50)
    flush = await again.close()
    assert flush.waiting == 1
    server.hang = False
    last = await open_session(lines)
    await last.close()
    assert server.count("first") == 1


async def test_two_sessions_of_one_project_share_the_folder(server: Server, open_session: Open) -> None:
    one, two = InProcessHost(), InProcessHost()
    first = await open_session(one)
    second = await open_session(two, identity=evolve(IDENTITY, key="e" * 16, lineage="s2"))
    for number in range(5):
        one.add(said(f"a{number}", f"a{number - 1}" if number else None, f"one says {number}."))
        two.add(said(f"b{number}", f"b{number - 1}" if number else None, f"two says {number}."))
        await asyncio.gather(first.settled(), second.settled())
    await first.close()
    await second.close()
    texts = [f"{who} says {n}." for who in ("one", "two") for n in range(5)]
    assert [server.count(text) for text in texts] == [1] * 10


@pytest.mark.req("S0-receipts-008")
async def test_the_newest_outcome_of_a_document_is_noted_without_its_words(open_session: Open, tmp_path: Path) -> None:
    lines = InProcessHost()
    session = await open_session(lines)
    for number in range(2):
        lines.add(said(f"e{number}", f"e{number - 1}" if number else None, f"MARKER-42 says {number}."))
        await session.settled()
    await session.close()
    raw = (tmp_path / "state" / "retain-receipts.json").read_text("utf-8")
    (receipt,) = json.loads(raw)["receipts"]
    assert receipt["documentId"] == IDENTITY.document_id
    assert receipt["outcome"]["itemsCount"] == 1
    assert "MARKER-42" not in raw


async def test_a_state_folder_that_is_a_link_is_refused(tmp_path: Path, open_session: Open) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "state").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError):
        await open_session(InProcessHost())
    assert list((tmp_path / "elsewhere").iterdir()) == []


async def test_each_host_has_its_own_state_folder() -> None:
    root = Path("/repo")
    assert [str(state_folder(name, root)) for name in ("pi", "omp", "generic")] == [
        "/repo/.pi/hindsight",
        "/repo/.omp/hindsight",
        "/repo/.hindbrain",
    ]
