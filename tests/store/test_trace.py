"""What a state folder knows of how a document came to be."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from hindbrain.contracts import BackendError, Branch, Entry, Message, Outcome, Retained, RetainItem, RetainJob, TextPart
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.store import DocumentTrace, FlushPolicy, HostState, StateView

BANK, DOCUMENT, KEY = "bank-a", "pi-session:29e67821bedc391a", "29e67821bedc391a"


class Refusing(InMemoryBackend):
    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        del bank, item, operation_id
        error = BackendError("it was refused")
        error.outcome = Outcome.REFUSED
        raise error


@pytest.fixture
async def state(tmp_path: Path) -> AsyncIterator[HostState]:
    opened = await HostState.open(tmp_path / "state", seal_file=tmp_path / "seal.key")
    yield opened
    await opened.close()


def trace(state: HostState, document: str = DOCUMENT, *, bank: str = BANK) -> DocumentTrace:
    """What somebody sees who looks into the folder beside the session."""
    folder = state.queue.path.parent
    view = StateView.open(folder, seal_file=folder.parent / "seal.key")
    assert view is not None
    with closing(view):
        return view.trace(bank, document)


async def keep(state: HostState, number: int, *, document: str = DOCUMENT, bank: str = BANK) -> str:
    """Retain the entry with this number, on a branch of all entries up to it."""
    entries = [
        Entry(
            id=f"e{n}",
            parent_id=f"e{n - 1}" if n else None,
            kind="message",
            message=Message(role="user", parts=(TextPart(f"words {n}"),)),
        )
        for n in range(number + 1)
    ]
    branch = Branch.of(entries)
    new = await state.new_entries("lineage-1", bank, branch)
    moved = await state.plan("lineage-1", bank, branch, new)
    assert moved is not None
    id_ = f"{number:08d}-0000-4000-8000-000000000000"
    job = RetainJob(
        id=id_,
        bank=bank,
        item=RetainItem(content=f"words {number}", document_id=document),
        operation_id=id_,
        created_at="2026-03-01T09:00:00.000Z",
        covers=moved.coverage("lineage-1", bank),
    )
    await state.keep("lineage-1", bank, moved, job)
    return id_


async def test_of_an_unknown_document_nothing_is_claimed(state: HostState) -> None:
    await keep(state, 0)
    assert trace(state, "doc-9") == trace(state, bank="bank-b") == DocumentTrace()


async def test_jobs_are_known_while_they_wait_and_after_they_were_taken(state: HostState) -> None:
    first, second = await keep(state, 0), await keep(state, 2)
    waiting = trace(state)
    assert [job.id for job in waiting.waiting] == [job.id for job in waiting.jobs] == [first, second]
    assert [(c.first_id, c.last_id) for job in waiting.jobs if (c := job.covers)] == [("e0", "e0"), ("e1", "e2")]
    assert waiting.receipt is None
    assert (waiting.lineage, waiting.session_id) == ("lineage-1", None)
    await state.flusher(InMemoryBackend()).flush(max_jobs=1)
    one_left = trace(state)
    assert one_left.receipt is not None
    assert one_left.receipt.job_id == first
    assert [job.id for job in one_left.waiting] == [second]
    assert [job.id for job in one_left.jobs] == [first, second]


async def test_a_job_that_was_given_up_is_told(state: HostState) -> None:
    first = await keep(state, 0)
    await state.flusher(Refusing(), FlushPolicy(max_attempts=1)).flush()
    found = trace(state)
    assert [letter.id for letter in found.dead] == [first]
    assert (found.waiting, found.receipt) == ((), None)


async def test_the_session_is_known_by_its_key_also_behind_a_document_of_its_own(state: HostState) -> None:
    await state.document_key("lineage-1", "session-1", KEY)
    for document in (DOCUMENT, f"pi-explicit:{KEY}:0123456789abcdef"):
        found = trace(state, document)
        assert (found.session_id, found.lineage) == ("session-1", "lineage-1")
    assert trace(state, f"pi-session:{KEY}0").session_id is None


async def test_another_document_of_the_same_chain_of_forks_is_not_mixed_in(state: HostState) -> None:
    first = await keep(state, 0)
    second = await keep(state, 1, document="pi-session:0000000000000000")
    assert [job.id for job in trace(state).jobs] == [first]
    assert [job.id for job in trace(state, "pi-session:0000000000000000").jobs] == [second]


async def test_a_line_that_came_with_a_repository_says_nothing(state: HostState, tmp_path: Path) -> None:
    await keep(state, 0)
    await state.close()
    (tmp_path / "seal.key").unlink()
    theirs = await HostState.open(tmp_path / "state", seal_file=tmp_path / "seal.key")
    assert trace(theirs).jobs == ()
    await theirs.close()
