from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hindbrain.contracts import (
    Backend,
    BackendError,
    Entry,
    Message,
    Outcome,
    Recall,
    RecallQuery,
    Retained,
    RetainItem,
    TextPart,
)
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import BranchMovedError, InProcessHost, Layer, Session, SessionPlace, merge
from hindbrain.generic._outbox import Flush, MemoryOutbox
from hindbrain.memory import (
    Checkout,
    MemoryConfig,
    NoProjectError,
    RecallConfig,
    RetainConfig,
    ScopeConfig,
    SessionIdentity,
    identify,
)

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
IDENTITY = SessionIdentity(host="pi", key="29e67821bedc391a", lineage="s1", label="session.jsonl", origin="local")


def said(id_: str, parent: str | None, role: str, text: str) -> Entry:
    return Entry(id=id_, parent_id=parent, kind="message", message=Message(role=role, parts=(TextPart(text),)))


def user(text: str) -> Message:
    return Message(role="user", parts=(TextPart(text),))


class Flaky(InMemoryBackend):
    """An in-memory backend that fails the next calls as told."""

    def __init__(self) -> None:
        super().__init__()
        self.failures: list[Exception] = []
        self.operations: list[str] = []

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        self.operations.append(operation_id)
        if self.failures:
            raise self.failures.pop(0)
        return await super().retain(bank, item, operation_id=operation_id)

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        if self.failures:
            raise self.failures.pop(0)
        return await super().recall(bank, query)


def failure(outcome: Outcome, *, retryable: bool = False) -> BackendError:
    error = BackendError("it failed")
    error.outcome, error.retryable = outcome, retryable
    return error


class Told:
    def __init__(self, backend: Backend | None = None, **config: Any) -> None:
        self.lines: list[str] = []
        self.host = InProcessHost(notify=lambda text, _level: self.lines.append(text))
        self.backend = backend or InMemoryBackend()
        self.session = Session(
            host=self.host,
            backend=self.backend,
            config=MemoryConfig(**config),
            project=PROJECT,
            identity=IDENTITY,
            clock=lambda: 1767323045000,
        )


async def test_what_one_session_learnt_the_next_one_is_shown() -> None:
    first = Told()
    first.host.add(said("a", None, "user", "Never force-push to the main branch."))
    assert (await first.session.settled()).jobs
    second = Told(first.backend)
    patch = await second.session.context([user("may I force-push?")])
    assert "Never force-push to the main branch." in patch.text
    await second.session.close()
    assert second.host.events[-1].counts["injected"] == 1


@pytest.mark.req("S0-recall-012", "S0-recall-013")
async def test_the_block_stands_before_the_users_last_message_or_first() -> None:
    told = Told()
    told.host.add(said("a", None, "user", "We use tabs."))
    await told.session.settled()
    messages = [user("a"), Message(role="assistant", parts=(TextPart("b"),)), user("tabs or spaces?")]
    patched = (await told.session.context(messages)).apply(messages)
    assert [m.text.startswith("<hindsight-memory>") for m in patched] == [False, False, True, False]
    prepend = Told(told.backend, recall=RecallConfig(injection_position="prepend"))
    patched = (await prepend.session.context(messages)).apply(messages)
    assert patched[0].text.startswith("<hindsight-memory>")


@pytest.mark.req("S0-recall-007")
async def test_nothing_found_leaves_the_messages_alone() -> None:
    messages = [user("anything?")]
    patch = await Told().session.context(messages)
    assert patch.text == ""
    assert patch.apply(messages) == tuple(messages)


@pytest.mark.parametrize(
    ("config", "messages", "reason"),
    [
        ({"enabled": False}, [user("x")], "disabled"),
        ({"recall": RecallConfig(enabled=False)}, [user("x")], "disabled"),
        ({}, [], "append-requires-user"),
        ({}, [Message(role="assistant", parts=(TextPart("b"),))], "append-requires-user"),
    ],
)
async def test_recall_is_skipped_with_a_reason(config: dict[str, Any], messages: list[Message], reason: str) -> None:
    backend = Flaky()
    backend.failures = [AssertionError("no call may be made")]
    assert (await Told(backend, **config).session.context(messages)).skipped == reason


async def test_each_entry_is_retained_once_over_turns_branches_and_repeated_calls() -> None:
    told = Told()
    told.host.add(said("a", None, "user", "first thing"))
    first = await told.session.settled()
    again = await told.session.settled()
    told.host.add(said("b", "a", "user", "second thing"))
    told.host.add(said("c", "a", "user", "another way"))
    branch = await told.session.settled()
    covers = [job.covers for turn in (first, branch) for job in turn.jobs]
    assert [(c.first_id, c.last_id) for c in covers if c] == [("a", "a"), ("c", "c")]
    assert again.skipped == "nothing-new"


async def test_a_turn_whose_outcome_is_unknown_is_sent_again_under_the_same_operation() -> None:
    backend = Flaky()
    backend.failures = [failure(Outcome.UNKNOWN)]
    told = Told(backend)
    told.host.add(said("a", None, "user", "one"))
    assert (await told.session.settled()).flush.waiting == 1
    told.host.add(said("b", "a", "user", "two"))
    turn = await told.session.settled()
    assert turn.flush.waiting == 0
    assert turn.flush.sent == 2
    assert backend.operations[0] == backend.operations[1] != backend.operations[2]
    assert len(told.lines) == 1


async def test_a_turn_that_is_refused_for_good_does_not_block_the_next() -> None:
    backend = Flaky()
    backend.failures = [failure(Outcome.REFUSED)]
    told = Told(backend)
    told.host.add(said("a", None, "user", "one"))
    assert (await told.session.settled()).flush.refused == 1
    told.host.add(said("b", "a", "user", "two"))
    assert (await told.session.settled()).flush.sent == 1


async def test_a_close_during_a_settling_turn_sends_nothing_twice() -> None:
    backend = Flaky()
    told = Told(backend)
    told.host.add(said("a", None, "user", "one"))
    await asyncio.gather(told.session.settled(), told.session.settled(), told.session.close())
    assert len(backend.operations) == 1


async def test_what_is_not_taken_at_the_end_is_told() -> None:
    backend = Flaky()
    backend.failures = [failure(Outcome.UNKNOWN), failure(Outcome.REFUSED, retryable=True)]
    told = Told(backend)
    told.host.add(said("a", None, "user", "one"))
    await told.session.settled()
    assert (await told.session.close()).waiting == 1
    assert any("1 turns could not be retained yet" in line for line in told.lines)


async def test_what_waits_only_because_the_end_was_near_is_told_without_a_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def bounded(_: object) -> Flush:
        return Flush(waiting=3)

    monkeypatch.setattr(MemoryOutbox, "last_flush", bounded)
    told = Told(Flaky())
    await told.session.close()
    assert told.lines == ["3 turns could not be retained yet; they are kept and sent later."]


@pytest.mark.parametrize("error", [failure(Outcome.UNKNOWN), RuntimeError("a bug")])
async def test_a_broken_memory_never_breaks_a_turn(error: Exception) -> None:
    backend = Flaky()
    backend.failures = [error] * 3
    told = Told(backend)
    told.host.add(said("a", None, "user", "one"))
    for _ in range(2):
        patch = await told.session.context([user("x")])
        assert patch.text == ""
    await told.session.settled()
    assert len(told.lines) == 2
    assert "a bug" not in "".join(told.lines)
    backend.failures = [error]
    assert (await told.session.close()).code is not None


async def test_a_host_that_fails_to_notify_breaks_nothing() -> None:
    def refuse(_text: str, _level: str) -> None:
        raise RuntimeError

    backend = Flaky()
    backend.failures = [failure(Outcome.UNKNOWN)]
    told = Told(backend)
    told.host = InProcessHost(notify=refuse)
    session = Session(host=told.host, backend=backend, config=MemoryConfig(), project=PROJECT, identity=IDENTITY)
    assert (await session.context([user("x")])).text == ""


async def test_retain_switched_off_retains_nothing() -> None:
    told = Told(retain=RetainConfig(enabled=False))
    told.host.add(said("a", None, "user", "one"))
    assert (await told.session.settled()).skipped == "disabled"


async def test_a_session_opened_at_a_place_finds_its_project_once(tmp_path: Path) -> None:
    settings = merge([Layer(origin="test", values={"scope": {"projectId": "acme"}})])
    folder = tmp_path / "gone-later"
    folder.mkdir()
    place = SessionPlace(host="omp", cwd=str(folder), file="/tmp/session.jsonl", session_id="s1")
    session = await Session.open(InProcessHost(), InMemoryBackend(), settings, place)
    folder.rmdir()
    assert session.project.id == "acme"
    assert (session.identity.key, session.identity.lineage) == ("29e67821bedc391a", "s1")
    assert session.identity.origin == "local"


async def test_two_ephemeral_sessions_have_two_documents(tmp_path: Path) -> None:
    place = SessionPlace(host="pi", cwd=str(tmp_path))
    sessions = [await Session.open(InProcessHost(), InMemoryBackend(), merge([]), place) for _ in range(2)]
    assert sessions[0].identity.document_id != sessions[1].identity.document_id


async def test_a_session_in_no_project_is_refused() -> None:
    with pytest.raises(NoProjectError):
        await Session.open(InProcessHost(), InMemoryBackend(), merge([]), SessionPlace(host="pi", cwd="/"))


async def test_the_host_in_this_process_appends_on_the_branch_it_was_meant_for() -> None:
    host = InProcessHost()
    host.add(said("a", None, "user", "one"))
    new = await host.append("om.x", {"n": 1}, expect_ancestor="a")
    branch = await host.branch()
    assert branch.leaf_id == new
    assert branch.entries[new].data == '{"n": 1}'
    host.add(said("b", None, "user", "elsewhere"))
    with pytest.raises(BranchMovedError):
        await host.append("om.x", {}, expect_ancestor="a")


async def test_the_host_in_this_process_knows_no_user() -> None:
    host = InProcessHost()
    assert await host.confirm("sure?", "really") is False
    assert (await host.task_state()).available is False
    assert (await host.context_usage()).tokens is None
