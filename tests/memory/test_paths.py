"""The recall and retain paths over the in-memory backend."""

from __future__ import annotations

import asyncio
import json

import pytest

from hindbrain.contracts import (
    Backend,
    BackendError,
    Coverage,
    Entry,
    Message,
    Outcome,
    Recall,
    RecallQuery,
    RetainItem,
    TextPart,
)
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.memory import (
    Checkout,
    EntryIndex,
    MemoryConfig,
    RecallConfig,
    ScopeConfig,
    SessionIdentity,
    build_job,
    explicit_item,
    identify,
    operation_id,
    recall_for,
    recall_scopes,
)

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
OTHER = identify(Checkout(cwd="/other", root="/other"), ScopeConfig(project_id="other"))
SESSION = SessionIdentity(host="pi", key="29e67821bedc391a", lineage="s1", label="session.jsonl", origin="local")
NOW = "2026-01-02T03:04:05.000Z"


def said(id_: str, parent: str | None, role: str, text: str, at: int | None = None) -> Entry:
    message = Message(role=role, parts=(TextPart(text),), at=at)
    return Entry(id=id_, parent_id=parent, kind="message", at=at, message=message)


def covers(bank: str) -> Coverage:
    return Coverage(lineage="s1", bank=bank, first_id="a", last_id="b", chain="c")


def user(text: str) -> tuple[Message, ...]:
    return (Message(role="user", parts=(TextPart(text),)),)


async def remember(backend: Backend, text: str, bank: str, tags: tuple[str, ...]) -> None:
    item = RetainItem(content=text, document_id=f"doc-{text[:20]}", tags=tags)
    operation = operation_id(origin="o", bank=bank, project="p", document=item.document_id, revision=text)
    await backend.retain(bank, item, operation_id=operation)


def test_the_operation_id_is_that_of_the_golden_vector() -> None:
    assert (
        operation_id(
            origin="https://h.example.com",
            bank="bank-a",
            project="proj-926574b4279e",
            document="psc-cg-ee4e7fc0c92e36603c2c2ea1",
            revision="7118d32517ce0216",
        )
        == "93e33487-6c92-5880-9b29-dc86689d9c26"
    )


async def test_what_a_turn_retained_is_recalled_by_default_settings() -> None:
    backend, config = InMemoryBackend(), MemoryConfig()
    entries = (
        said("a", None, "user", "We retry with exponential backoff."),
        said("b", "a", "assistant", "Understood."),
    )
    job = build_job(entries, config, SESSION, PROJECT, covers=covers(PROJECT.bank), now=NOW)
    assert job is not None
    await backend.retain(job.bank, job.item, operation_id=job.operation_id)
    outcome = await recall_for(
        backend, user("how do we retry?"), recall_scopes(config, PROJECT, "pi"), config.recall, project=PROJECT
    )
    assert "exponential backoff" in outcome.block.text
    assert outcome.failures == ()


async def test_a_shared_bank_never_shows_another_projects_memory() -> None:
    backend, config = InMemoryBackend(), MemoryConfig(project_bank="shared")
    await remember(backend, "The port is 8888 in acme.", "shared", ("project:acme",))
    await remember(backend, "The port is 9999 in other.", "shared", ("project:other",))
    await remember(backend, "The port is 1234 and nobody's.", "shared", ())
    outcome = await recall_for(
        backend, user("which port?"), recall_scopes(config, PROJECT, "pi"), config.recall, project=PROJECT
    )
    assert "8888" in outcome.block.text
    assert "9999" not in outcome.block.text
    assert "1234" not in outcome.block.text


class Failing(InMemoryBackend):
    """Fails or hangs for one bank: what the in-memory backend will not do on demand."""

    def __init__(self, bank: str, *, hang: bool = False) -> None:
        super().__init__()
        self.bank, self.hang, self.cancelled = bank, hang, False

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        if bank != self.bank:
            return await super().recall(bank, query)
        try:
            await asyncio.get_running_loop().create_future() if self.hang else None
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        error = BackendError("down")
        error.outcome = Outcome.UNKNOWN
        raise error


@pytest.mark.parametrize("hang", [False, True])
async def test_one_failing_bank_costs_the_other_nothing(hang: bool) -> None:
    backend = Failing("user-a", hang=hang)
    config = MemoryConfig(user_bank="user-a", recall=RecallConfig(deadline_ms=50))
    await remember(backend, "We ship on Fridays.", PROJECT.bank, ("project:acme",))
    outcome = await recall_for(
        backend, user("when do we ship?"), recall_scopes(config, PROJECT, "pi"), config.recall, project=PROJECT
    )
    assert "Fridays" in outcome.block.text
    assert [(f.bank, f.code) for f in outcome.failures] == [("user-a", "timeout" if hang else "backend")]
    assert backend.cancelled is hang


async def test_cancelling_the_turn_cancels_the_requests() -> None:
    backend = Failing(PROJECT.bank, hang=True)
    config = MemoryConfig()
    task = asyncio.create_task(
        recall_for(backend, user("x"), recall_scopes(config, PROJECT, "pi"), config.recall, project=PROJECT)
    )
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert backend.cancelled


@pytest.mark.req("S0-recall-017", "S0-recall-019")
async def test_source_facts_tell_the_document_and_show_as_evidence_only_on_request() -> None:
    backend = InMemoryBackend()
    await remember(backend, "We prefer uv over pip.", PROJECT.bank, ("project:acme",))
    for shown in (False, True):
        config = RecallConfig(include_source_facts=shown)
        outcome = await recall_for(
            backend,
            user("uv or pip?"),
            recall_scopes(MemoryConfig(), PROJECT, "pi"),
            config,
            project=PROJECT,
            sources=True,
        )
        (item,) = outcome.block.items
        assert {outcome.sources[i].document_id for i in item.fact.source_fact_ids} == {"doc-We prefer uv over pi"}
        assert ("evidence" in outcome.block.text) is shown


def test_a_turns_job_names_its_range_document_and_full_tags() -> None:
    entries = (said("a", None, "user", "hello", 1700000000000), said("b", "a", "assistant", "hi"))
    job = build_job(entries, MemoryConfig(), SESSION, PROJECT, covers=covers("proj-a"), now=NOW)
    assert job is not None
    assert job.covers == covers("proj-a")
    assert job.bank == "proj-a"
    assert job.item.document_id == "pi-session:29e67821bedc391a"
    assert job.item.update_mode == "append"
    assert job.item.timestamp == "2023-11-14T22:13:20.000Z"
    assert "session:29e67821bedc391a" in job.item.tags
    assert [turn["role"] for turn in json.loads(job.item.content)] == ["user", "assistant"]


def test_an_entry_with_an_absurd_time_does_not_keep_its_turn_from_being_retained() -> None:
    job = build_job(
        (said("a", None, "user", "hello", 10**18),), MemoryConfig(), SESSION, PROJECT, covers=covers("b"), now=NOW
    )
    assert job is not None
    assert job.item.timestamp == NOW


def test_the_same_turn_again_is_the_same_operation_and_any_change_is_another() -> None:
    one = (said("a", None, "user", "hello"),)
    jobs = [
        build_job(entries, MemoryConfig(), session, PROJECT, covers=covers(bank), now=now)
        for entries, session, bank, now in (
            (one, SESSION, "b1", NOW),
            (one, SESSION, "b1", "2027-01-01T00:00:00Z"),
            (one, SESSION, "b2", NOW),
            ((said("a", None, "user", "hello!"),), SESSION, "b1", NOW),
            ((said("z", None, "user", "hello"),), SESSION, "b1", NOW),
        )
    ]
    first, again, *others = [job.operation_id for job in jobs if job]
    assert first == again
    assert len({first, *others}) == 4


def test_entries_with_nothing_to_keep_make_no_job() -> None:
    silent = (Entry(id="c", parent_id=None, kind="model_change"),)
    assert build_job(silent, MemoryConfig(), SESSION, PROJECT, covers=covers("b"), now=NOW) is None


def test_an_explicit_retain_has_its_own_document_and_the_base_tags() -> None:
    item = explicit_item("Deploy on Fridays", MemoryConfig(), SESSION, PROJECT, bank="b", tags=("topic:ops",))
    same = explicit_item("Deploy on Fridays", MemoryConfig(), SESSION, PROJECT, bank="b", tags=("topic:ops",))
    other = explicit_item("Deploy on Mondays", MemoryConfig(), SESSION, PROJECT, bank="b")
    assert item.document_id == same.document_id != other.document_id
    assert {"source:pi", "harness:pi", "project:acme", "topic:ops"} <= set(item.tags)


def test_a_verbatim_text_is_traced_to_the_entries_that_hold_it() -> None:
    index = EntryIndex.of(
        [
            said("a", None, "user", "ok"),
            said("b", "a", "user", "Slight steering: why does unsubscribe\n clear the event   listeners? Keep them."),
            said("c", "b", "assistant", "look, 記憶は大切です。"),
        ]
    )
    assert index.find("why does unsubscribe clear the event listeners?") == ("b",)
    assert index.find("ok") == ("a",)
    assert index.find("記憶は大切") == ("c",)
    assert index.find("") == ()


def test_a_models_wording_is_traced_to_the_closest_entry_or_not_at_all() -> None:
    index = EntryIndex.of([said("a", None, "user", "please keep listeners when unsubscribing from the agent session")])
    assert index.find("listeners keep when unsubscribing from session") == ("a",)
    assert index.find("bananas grow in the garden of the session") == ()
