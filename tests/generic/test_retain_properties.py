"""What holds for any session: no secret gets out, and each turn is retained once or never, as was decided about it."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import pytest
from attrs import frozen
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hindbrain.contracts import (
    BackendError,
    Entry,
    Message,
    Part,
    Retained,
    RetainItem,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.contracts.testing import PlantedSecret, planted_secrets
from hindbrain.generic import DiskOutbox, InProcessHost, Session, merge
from hindbrain.generic._governance import RecordedGovernance
from hindbrain.memory import Checkout, MemoryConfig, RetainConfig, ScopeConfig, SessionIdentity, identify
from hindbrain.store import HostState
from hindbrain.store.testing import ForwardingLayer, MemoryLayer, RecordingLayer

P = ParamSpec("P")
T = TypeVar("T")

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
SID = "29e67821bedc391a"
IDENTITY = SessionIdentity(host="pi", key=SID, lineage="s1", label="session.jsonl", origin="local")
STATE, SEAL = Path("/project/.pi/hindsight"), Path("/data/seal.key")
PLANTED = planted_secrets()
EVERYTHING = RetainConfig(
    assistant=("text", "toolCall", "thinking"), tool_result=("error", "content"), compact_tool_calls=False
)
LONG = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])


class Server(InMemoryBackend):
    """Takes each operation once, as a server does, and remembers what it was sent; can be down."""

    def __init__(self) -> None:
        super().__init__()
        self.down = False
        self.took: dict[str, RetainItem] = {}

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        if self.down:
            error = BackendError("it cannot be reached")
            error.retryable = True
            raise error
        self.took.setdefault(operation_id, item)
        return await super().retain(bank, item, operation_id=operation_id)

    def count(self, text: str) -> int:
        return sum(item.content.count(text) for item in self.took.values())


class Flaky(ForwardingLayer):
    """A disk on which the Nth change from now on fails: once, or with every one after it where it is lasting."""

    def __init__(self, inner: MemoryLayer) -> None:
        super().__init__(inner)
        self.memory = inner
        self.left = 0
        self.is_lasting = False

    def around(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self.left and call.__name__ in {"write", "fsync", "ftruncate", "replace", "sync_dir"}:
            self.left -= 0 if self.left == 1 and self.is_lasting else 1
            if self.left <= self.is_lasting:
                if call.__name__ == "fsync":
                    self.memory.doubt(args[0])  # type: ignore[arg-type]  # a descriptor
                raise OSError(errno.EIO, os.strerror(errno.EIO))
        return call(*args, **kwargs)


def disk() -> MemoryLayer:
    made = MemoryLayer()
    for folder in (STATE.parent, SEAL.parent):
        made.make_folders(folder)
    return made


async def opened(layer: Any, host: InProcessHost, server: Server, retain: RetainConfig) -> tuple[HostState, Session]:
    state = await HostState.open(STATE, seal_file=SEAL, layer=layer)
    session = Session(
        host=host,
        backend=server,
        config=MemoryConfig(retain=retain, user_bank="me"),
        project=PROJECT,
        identity=IDENTITY,
        outbox=DiskOutbox(state, server, merge([])),
        governance=RecordedGovernance(state, SID),
    )
    return state, session


@frozen
class Said:
    """A secret as one entry says it; ``cut`` is where its core is cut in two text parts, 0 where it is not."""

    secret: PlantedSecret
    how: str
    cut: int = 0

    @property
    def place(self) -> int:
        return self.secret.text.index(self.secret.core) + self.cut

    def parts(self) -> tuple[Part, ...]:
        text = self.secret.text
        if self.how == "halves":
            return (TextPart(text[: self.place]), TextPart(text[self.place :]))
        if self.how == "arguments":
            return (ToolCallPart("1", "bash", {"deep": [{"command": text}], "path": text}),)
        return (ThinkingPart(text),) if self.how == "thinking" else (TextPart(text),)

    def entry(self, number: int) -> Entry:
        roles = {"arguments": "assistant", "thinking": "assistant", "failed": "toolResult", "passed": "toolResult"}
        message = Message(
            role=roles.get(self.how, "user"),
            parts=self.parts(),
            tool_name="bash" if self.how in {"failed", "passed"} else None,
            is_error=self.how == "failed",
        )
        return Entry(id=f"e{number}", parent_id=f"e{number - 1}" if number else None, kind="message", message=message)

    def leaks(self) -> set[bytes]:
        """What must stand nowhere: the core, and where it was cut each half that is long enough to be known."""
        core = self.secret.core
        halves = (core[: self.cut], core[self.cut :]) if self.how == "halves" else ()
        return {each.encode() for each in (core, *(half for half in halves if len(half) >= 8))}


HOWS = ("said", "halves", "arguments", "thinking", "failed", "passed", "explicit", "tag", "context")


@st.composite
def says(draw: st.DrawFn) -> Said:
    secret = draw(st.sampled_from(PLANTED))
    how = draw(st.sampled_from(HOWS))
    return Said(secret, how, draw(st.integers(1, len(secret.core) - 1)) if how == "halves" else 0)


@LONG
@given(st.lists(says(), min_size=1, max_size=8), st.booleans())
def test_no_planted_secret_stands_in_any_byte_on_the_disk_or_on_the_wire(what: list[Said], down: bool) -> None:
    layer, server = RecordingLayer(disk()), Server()

    async def live() -> None:
        host = InProcessHost()
        _, session = await opened(layer, host, server, EVERYTHING)
        server.down = down
        for number, said in enumerate(what):
            if said.how == "explicit":
                await session.explicit.retain(said.secret.text)
            elif said.how == "context":
                await session.explicit.retain_user(f"note {number}", context=said.secret.text)
            elif said.how == "tag":
                await session.explicit.retain(f"note {number}", tags=(said.secret.text.replace("\n", " "),))
            host.add(said.entry(number))
            await session.settled()
        await session.close()

    asyncio.run(live())
    written = b"\n".join(
        repr(op.args).encode() + b"".join(each for each in op.args if isinstance(each, bytes))
        for op in layer.operations
    )
    sent = "\n".join(
        "\n".join((i.content, i.context or "", i.document_id, *i.tags, *i.metadata.values(), str(i.observation_scopes)))
        for i in server.took.values()
    ).encode()
    assert b"retain-queue" in written
    assert bool(sent) is not down
    raw = written + sent
    seen = (raw, raw.replace(b"\\\\", b"\\"), raw.replace(b"\\/", b"/"))
    assert [s.secret.family for s in what for leak in s.leaks() if any(leak in each for each in seen)] == []


Step = tuple[str, Any]
STEPS = st.one_of(
    st.tuples(st.just("turn"), st.integers(-4, 6)),
    st.tuples(st.just("again"), st.integers(-3, 3)),
    st.tuples(st.just("opt-out"), st.none()),
    st.tuples(st.just("mode"), st.sampled_from(["normal", "read-only", "ignored"])),
    st.tuples(st.just("retain"), st.booleans()),
    st.tuples(st.just("down"), st.booleans()),
    st.tuples(st.just("restart"), st.none()),
)


class Life:
    """A session and what has to become of each turn.

    A number with a turn says which change of the disk in it fails: 0 none, a negative one that and all later ones.
    """

    def __init__(self) -> None:
        self.layer = Flaky(disk())
        self.server, self.host = Server(), InProcessHost()
        self.state: HostState
        self.session: Session
        self.may_keep: dict[str, bool] = {}
        self.is_pending = False

    async def open(self) -> None:
        self.state, self.session = await opened(self.layer, self.host, self.server, RetainConfig())

    async def settle(self, fails: int) -> None:
        self.layer.left, self.layer.is_lasting = abs(fails), fails < 0
        turn = await self.session.settled()
        self.layer.left = 0
        self.is_pending = turn.skipped == "error"

    async def step(self, name: str, value: Any) -> None:
        decide = self.session.governance
        if name == "turn":
            record = await decide.record()
            number = len(self.may_keep)
            text = f"<turn {number} is said>"
            self.may_keep[text] = record.mode == "normal" and record.retained and not record.skips_next
            message = Message(role="user", parts=(TextPart(text),))
            parent = f"e{number - 1}" if number else None
            self.host.add(Entry(id=f"e{number}", parent_id=parent, kind="message", message=message))
            await self.settle(value)
        elif name == "again":
            await self.settle(value)
        elif name == "opt-out":
            await decide.opt_out()
        elif name == "mode":
            await decide.set_mode(value)
        elif name == "retain":
            await decide.set_retain(on=value)
        elif name == "down":
            self.server.down = value
        elif not self.is_pending:  # what a broken disk could not take dies with its process
            await self.session.close()
            await self.open()

    async def end(self) -> None:
        """The disk is well and the server is there: everything that waits arrives."""
        self.server.down = False
        await self.settle(0)
        await self.session.close()
        await self.open()
        await self.settle(0)
        await self.session.close()


@LONG
@given(st.lists(STEPS, max_size=14))
@example([("turn", 2), ("opt-out", None), ("turn", 0), ("turn", 0)])
@example([("turn", 2), ("opt-out", None), ("again", 0), ("turn", 0), ("turn", 0)])
@example([("turn", 0), ("turn", -3), ("turn", 0)])
@example([("mode", "read-only"), ("turn", 1), ("mode", "normal"), ("turn", 0)])
def test_each_turn_is_retained_once_or_never_as_it_was_decided_when_it_was_said(steps: list[Step]) -> None:
    life = Life()

    async def live() -> None:
        await life.open()
        for name, value in steps:
            await life.step(name, value)
        await life.end()

    asyncio.run(live())
    assert {text: life.server.count(text) for text in life.may_keep} == {
        text: int(may) for text, may in life.may_keep.items()
    }
    raw = b"".join(life.layer.memory.files().values())
    assert [text for text, may in life.may_keep.items() if not may and text.encode() in raw] == []


@pytest.mark.parametrize("fails", range(1, 8))
def test_a_turn_whose_every_write_fails_once_is_retained_across_an_opt_out_that_holds_for_the_next(fails: int) -> None:
    life = Life()

    async def live() -> None:
        await life.open()
        await life.step("turn", 0)
        await life.step("turn", fails)
        failed = life.is_pending
        await life.step("opt-out", None)
        await life.step("again", 0)
        assert (await life.session.governance.record()).skips_next, "no run with something in it has ended"
        await life.step("turn", 0)
        await life.step("turn", 0)
        await life.end()
        assert failed or fails > 1

    asyncio.run(live())
    assert [life.server.count(text) for text in life.may_keep] == [1, 1, 0, 1]
