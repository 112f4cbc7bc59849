"""What is retained and forgotten because somebody says so: queue first, in every mode of a session."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from hindbrain.contracts import BackendError, BackendRequestError, Deleted, Entry, HindbrainError, Message, TextPart
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import DiskOutbox, InProcessHost, Session, SettingsError, merge
from hindbrain.generic._gate import GateRefusedError, GateUnansweredError
from hindbrain.memory import (
    Access,
    BankEntry,
    Checkout,
    EnqueueGate,
    MemoryConfig,
    RetainConfig,
    ScopeConfig,
    SessionIdentity,
    identify,
)
from hindbrain.store import EmbeddedBackend, HostState, StoreError

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
IDENTITY = SessionIdentity(host="pi", key="29e67821bedc391a", lineage="s1", label="session.jsonl", origin="local")


class Server:
    """The embedded store, which can be out of reach."""

    def __init__(self, folder: Path) -> None:
        self._inner = EmbeddedBackend(folder / "banks")
        self.down = False

    def __getattr__(self, name: str) -> Any:
        if self.down:
            error = BackendError("it cannot be reached")
            error.retryable = True
            raise error
        return getattr(self._inner, name)


class Place:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.server = Server(folder)
        self.host = InProcessHost()
        self.state: HostState

    async def open(self, **config: Any) -> Session:
        self.state = await HostState.open(self.folder / "state", seal_file=self.folder / "seal.key")
        return Session(
            host=self.host,
            backend=self.server,
            config=MemoryConfig(**config),
            project=PROJECT,
            identity=IDENTITY,
            outbox=DiskOutbox(self.state, self.server, merge([])),
        )

    def queued(self) -> list[dict[str, Any]]:
        raw = (self.folder / "state/retain-queue.jsonl").read_text("utf-8")
        return [json.loads(line) for line in raw.splitlines()]


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    made = Place(tmp_path)
    yield made
    made.server.down = False
    await made.server.close()


def asking(text: str) -> list[Message]:
    return [Message(role="user", parts=(TextPart(text),))]


@pytest.mark.req("S0-retain-008")
async def test_what_is_retained_by_hand_is_found_by_automatic_recall(place: Place) -> None:
    session = await place.open()
    done = await session.explicit.retain("Deploy on Fridays.", tags=("x",))
    assert done.sent
    assert "Deploy on Fridays." in (await session.context(asking("when do we deploy?"))).text
    await session.close()


@pytest.mark.req("S0-retain-007")
async def test_tags_of_the_caller_join_the_base_tags_each_once(place: Place) -> None:
    session = await place.open()
    await session.explicit.retain("We use SQLite.", tags=("topic:db", "source:pi", "topic:db"))
    (line,) = place.queued()
    assert sorted(line["item"]["tags"]) == sorted(
        ["source:pi", "harness:pi", "project:acme", "repo:repo-816fc349d3fa", "session:29e67821bedc391a", "topic:db"]
    )
    await session.close()


@pytest.mark.req("S0-queue-004")
@pytest.mark.parametrize("user", [False, True])
async def test_what_is_retained_while_the_server_is_down_waits_and_is_sent_later(place: Place, user: bool) -> None:
    session = await place.open(user_bank="me")
    retain = session.explicit.retain_user if user else session.explicit.retain
    place.server.down = True
    done = await retain("We ship on Fridays.")
    assert (done.sent, done.flush.waiting, done.flush.code) == (False, 1, "backend")
    assert ["Fridays" in line["item"]["content"] for line in place.queued()] == [True]
    place.server.down = False
    await session.close()
    again = await place.open(user_bank="me")
    assert (await again.settled()).flush.sent == 1
    assert "Fridays" in (await again.context(asking("when do we ship?"))).text
    await again.close()


async def test_older_jobs_go_first_and_along_with_it(place: Place) -> None:
    session = await place.open()
    place.server.down = True
    await session.explicit.retain("One is said.")
    await session.close()
    place.server.down = False
    again = await place.open()
    done = await again.explicit.retain("Two is said.")
    assert (done.sent, done.flush.sent, done.flush.jobs[-1]) == (True, 2, done.job.id)
    await again.close()


async def test_the_users_bank_gets_what_is_about_the_user_with_the_tags_recall_asks_for(place: Place) -> None:
    scope = ScopeConfig(user_scope_tags=("user:ann",))
    session = await place.open(user_bank="me", scope=scope)
    done = await session.explicit.retain_user("I prefer tabs.")
    assert done.job.bank == "me"
    assert {"user:ann", "project:acme"} <= set(done.job.item.tags)
    await session.close()


async def test_without_a_user_bank_nothing_is_retained_and_the_setting_is_named(place: Place) -> None:
    session = await place.open()
    with pytest.raises(SettingsError, match=r"banks\.user\.bankId"):
        await session.explicit.retain_user("I prefer tabs.")
    assert not (place.folder / "state/retain-queue.jsonl").exists()
    await session.close()


@pytest.mark.parametrize(
    ("config", "text", "bank", "error"),
    [
        ({"banks": (BankEntry(id="b", access=Access.READ),)}, "x", None, SettingsError),
        ({}, "x", "../all", BackendRequestError),
        ({}, "  ", None, BackendRequestError),
        ({"retain": RetainConfig(before_enqueue=EnqueueGate(command=("false",)))}, "x", None, GateRefusedError),
        ({"retain": RetainConfig(before_enqueue=EnqueueGate(command=()))}, "x", None, GateUnansweredError),
    ],
    ids=["read-only", "bank", "blank", "refused", "unanswered"],
)
async def test_what_may_not_be_retained_never_reaches_the_queue(
    place: Place, config: dict[str, Any], text: str, bank: str | None, error: type[HindbrainError]
) -> None:
    session = await place.open(**config)
    with pytest.raises(error):
        await session.explicit.retain(text, bank=bank)
    assert not (place.folder / "state/retain-queue.jsonl").exists()
    await session.close()


async def test_explicit_operations_work_in_every_mode(place: Place) -> None:
    session = await place.open()
    await session.governance.set_mode("ignored")
    done = await session.explicit.retain("We ship on Fridays.")
    assert done.sent
    assert (await session.explicit.forget(done.job.item.document_id)).deleted.found
    await session.close()


async def test_what_was_forgotten_can_be_retained_again(place: Place) -> None:
    session = await place.open()
    done = await session.explicit.retain("We ship on Fridays.")
    await session.explicit.forget(done.job.item.document_id)
    assert (await session.context(asking("when do we ship?"))).text == ""
    again = await session.explicit.retain("We ship on Fridays.")
    assert again.job.item.document_id == done.job.item.document_id
    assert "Fridays" in (await session.context(asking("do we ship on Fridays?"))).text
    await session.close()


async def test_a_forgotten_document_is_not_brought_back_by_what_waits_for_it(place: Place) -> None:
    session = await place.open()
    place.host.add(Entry(id="a", parent_id=None, kind="message", message=asking("We ship on Fridays.")[0]))
    place.server.down = True
    await session.settled()
    kept = await session.explicit.retain("We pay on Mondays.")
    await session.close()
    place.server.down = False
    again = await place.open()
    gone = await again.explicit.forget(IDENTITY.document_id)
    assert (gone.deleted.found, gone.given_up) == (False, 1)
    flush = await again.close()
    assert (flush.sent, flush.jobs) == (1, (kept.job.id,))
    last = await place.open()
    assert (await last.settled()).skipped == "nothing-new"
    assert "Fridays" not in (await last.context(asking("when do we ship and pay?"))).text
    await last.close()


async def test_where_the_backend_does_not_delete_nothing_is_given_up(place: Place) -> None:
    session = await place.open()
    place.server.down = True
    done = await session.explicit.retain("We ship on Fridays.")
    with pytest.raises(BackendError):
        await session.explicit.forget(done.job.item.document_id)
    await session.close()
    place.server.down = False
    again = await place.open()
    assert (await again.close()).jobs == (done.job.id,)


async def test_nothing_is_forgotten_while_another_process_sends(place: Place) -> None:
    session = await place.open()
    done = await session.explicit.retain("We ship on Fridays.")
    other = await HostState.open(place.folder / "state", seal_file=place.folder / "seal.key")
    with other.queue.flush_lease().held(0), pytest.raises(StoreError):
        await session.explicit.forget(done.job.item.document_id)
    await other.close()
    assert (await session.explicit.forget(done.job.item.document_id)).deleted == Deleted(found=True, facts=1)
    await session.close()


async def test_dead_letters_of_a_forgotten_document_go_with_it(place: Place) -> None:
    session = await place.open()
    place.server.down = True
    done = await session.explicit.retain("We ship on Fridays.")
    await place.state.ask(lambda queue: queue.bury(done.job.id))
    place.server.down = False
    assert (await session.explicit.forget(done.job.item.document_id)).given_up == 1
    assert await place.state.ask(lambda queue: queue.dead()) == ()
    await session.close()


async def test_in_this_process_only_the_same_operations_work() -> None:
    backend = InMemoryBackend()
    config = MemoryConfig(user_bank="me")
    session = Session(host=InProcessHost(), backend=backend, config=config, project=PROJECT, identity=IDENTITY)
    done = await session.explicit.retain("We ship on Fridays.")
    assert done.sent
    assert (await session.explicit.retain_user("I prefer tabs.")).sent
    assert (await session.explicit.forget(done.job.item.document_id)).deleted.found
    assert (await session.close()).waiting == 0


@pytest.mark.req("S0-governance-017")
@pytest.mark.parametrize("make", [lambda g: g.set_mode("read-only"), lambda g: g.set_retain(on=False)])
async def test_decisions_in_this_process_hold_like_recorded_ones(make: Callable[[Any], Any]) -> None:
    host = InProcessHost()
    session = Session(host=host, backend=InMemoryBackend(), config=MemoryConfig(), project=PROJECT, identity=IDENTITY)

    async def turn(text: str) -> bool:
        last = (await host.branch()).leaf_id
        host.add(Entry(id=text, parent_id=last, kind="message", message=asking(text)[0]))
        return bool((await session.settled()).jobs)

    assert (await session.governance.add_tag("x")).tags == ("x",)
    assert (await session.governance.remove_tag("x")).tags == ()
    await session.governance.opt_out()
    assert [await turn("one"), await turn("two")] == [False, True]
    await make(session.governance)
    assert not await turn("three")
    await session.governance.set_mode("normal")
    await session.governance.set_retain(on=True)
    assert await turn("four")
    with pytest.raises(HindbrainError):
        await session.governance.set_mode("tools-only")
