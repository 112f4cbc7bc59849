"""What the user decides about a session holds at every turn, across failures and restarts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from hindbrain.contracts import Entry, Message, Recall, RecallQuery, Retained, RetainItem, TextPart
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import DiskOutbox, InProcessHost, Session, merge
from hindbrain.generic._governance import RecordedGovernance
from hindbrain.memory import Checkout, MemoryConfig, ScopeConfig, SessionIdentity, identify
from hindbrain.store import HostState, StoreFullError

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
SID = "29e67821bedc391a"
IDENTITY = SessionIdentity(host="pi", key=SID, lineage="s1", label="session.jsonl", origin="local")


class Taking(InMemoryBackend):
    def __init__(self) -> None:
        super().__init__()
        self.items: list[RetainItem] = []
        self.asked = 0

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        self.asked += 1
        return await super().recall(bank, query)

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        self.items.append(item)
        return await super().retain(bank, item, operation_id=operation_id)

    def has(self, text: str) -> bool:
        return any(text in item.content for item in self.items)


class Place:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.backend = Taking()
        self.host = InProcessHost()
        self.last: str | None = None
        self.state: HostState
        self.session: Session

    async def open(self) -> None:
        self.state = await HostState.open(self.folder / "state", seal_file=self.folder / "seal.key")
        self.session = Session(
            host=self.host,
            backend=self.backend,
            config=MemoryConfig(),
            project=PROJECT,
            identity=IDENTITY,
            outbox=DiskOutbox(self.state, self.backend, merge([])),
            governance=RecordedGovernance(self.state, SID),
        )

    async def turn(self, text: str) -> str | None:
        message = Message(role="user", parts=(TextPart(text),))
        self.host.add(Entry(id=text, parent_id=self.last, kind="message", message=message))
        self.last = text
        return (await self.session.settled()).skipped


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    made = Place(tmp_path)
    await made.open()
    yield made
    await made.session.close()


def asking() -> list[Message]:
    return [Message(role="user", parts=(TextPart("what is said?"),))]


@pytest.mark.req("S0-governance-010")
async def test_a_normal_session_recalls_and_retains(place: Place) -> None:
    assert await place.turn("one is said") is None
    assert [item.content.count("one is said") for item in place.backend.items] == [1]
    assert "one is said" in (await place.session.context(asking())).text
    assert place.backend.asked == 1


@pytest.mark.req("S0-governance-011")
async def test_a_read_only_session_recalls_and_never_retains(place: Place) -> None:
    await place.turn("one is said")
    await place.state.run(lambda: place.state.records.set_mode(SID, "read-only"))
    assert await place.turn("two is said") == "disabled"
    assert (await place.session.context(asking())).text
    await place.state.run(lambda: place.state.records.set_mode(SID, "normal"))
    await place.turn("three is said")
    assert [place.backend.has(f"{n} is said") for n in ("one", "two", "three")] == [True, False, True]


@pytest.mark.req("S0-governance-012")
async def test_an_ignored_session_does_neither(place: Place) -> None:
    await place.state.run(lambda: place.state.records.set_mode(SID, "ignored"))
    assert await place.turn("one is said") == "disabled"
    patch = await place.session.context(asking())
    assert (patch.skipped, patch.text) == ("session-disabled", "")
    assert (place.backend.items, place.backend.asked) == ([], 0)


@pytest.mark.req("S0-governance-013")
async def test_an_opt_out_holds_for_one_run_and_for_ever(place: Place) -> None:
    await place.state.run(lambda: place.state.records.skip_next(SID))
    assert await place.turn("one is said") == "disabled"
    await place.turn("two is said")
    await place.session.close()
    await place.open()
    await place.turn("three is said")
    assert [place.backend.has(f"{n} is said") for n in ("one", "two", "three")] == [False, True, True]


@pytest.mark.req("S0-governance-014")
async def test_an_opt_out_leaves_recall_as_it_is(place: Place) -> None:
    await place.turn("one is said")
    await place.state.run(lambda: place.state.records.skip_next(SID))
    assert "one is said" in (await place.session.context(asking())).text


@pytest.mark.req("S0-governance-002")
async def test_what_is_decided_about_a_session_is_no_part_of_the_conversation(place: Place) -> None:
    await place.turn("one is said")
    await place.state.run(lambda: place.state.records.set_mode(SID, "read-only"))
    await place.state.run(lambda: place.state.records.add_tag(SID, "topic:secret-plan"))
    before = set((await place.host.branch()).entries)
    patch = await place.session.context(asking())
    await place.turn("two is said")
    entries = (await place.host.branch()).entries
    read: list[Any] = [*patch.apply(asking()), *entries.values()]
    shown = str([attrs.asdict(each) for each in read])
    assert "one is said" in patch.text
    assert "secret-plan" not in shown
    assert "read-only" not in shown
    assert "one is said" in shown
    assert set(entries) - before == {"two is said"}


async def test_an_opt_out_waits_for_a_run_with_something_in_it(place: Place) -> None:
    await place.state.run(lambda: place.state.records.skip_next(SID))
    await place.session.settled()
    assert await place.turn("one is said") == "disabled"


async def test_session_tags_stand_on_what_is_retained_from_then_on(place: Place) -> None:
    await place.turn("one is said")
    await place.state.run(lambda: place.state.records.add_tag(SID, "topic:db"))
    await place.turn("two is said")
    assert ["topic:db" in item.tags for item in place.backend.items] == [False, True]
    assert "project:acme" in place.backend.items[1].tags


async def test_a_turn_that_could_not_be_kept_is_kept_later_even_across_an_opt_out(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_args: object) -> None:
        raise StoreFullError

    with monkeypatch.context() as broken:
        broken.setattr(place.state, "keep", full)
        assert await place.turn("one is said") == "error"
    await place.state.run(lambda: place.state.records.skip_next(SID))
    await place.turn("two is said")
    await place.turn("three is said")
    assert [place.backend.has(f"{n} is said") for n in ("one", "two", "three")] == [True, False, True]


async def test_an_opted_out_turn_that_could_not_be_passed_over_is_never_retained(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_args: object) -> None:
        raise StoreFullError

    await place.state.run(lambda: place.state.records.skip_next(SID))
    with monkeypatch.context() as broken:
        broken.setattr(place.state, "pass_over", full)
        assert await place.turn("one is said") == "error"
    assert await place.state.run(lambda: place.state.records.pending_skip(SID)) is not None
    await place.state.run(lambda: place.state.records.set_retain(SID, on=True))
    await place.turn("two is said")
    await place.turn("three is said")
    assert not place.backend.has("one is said")
    assert place.backend.has("three is said")


async def test_a_record_that_cannot_be_believed_closes_the_session(place: Place) -> None:
    await place.state.run(lambda: place.state.records.set_mode(SID, "normal"))
    (place.folder / "state" / "session-meta" / f"{SID}.json").write_text("{}", "utf-8")
    assert await place.turn("one is said") == "disabled"
    assert (await place.session.context(asking())).skipped == "session-disabled"
