"""What the host says in its calls. Source: docs/protocol.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeVar

import msgspec

from hindbrain.contracts import HindbrainError, JsonValue


class BadParamsError(HindbrainError):
    """A call from the host does not have the protocol's form; nothing was done."""

    code = "bad-params"

    def __init__(self, method: str) -> None:
        super().__init__(f"The call {method} does not have the form of the protocol; nothing was done.")


class Open(msgspec.Struct, rename="camel", frozen=True):
    """``session/open``. ``session`` is the host's own id, ``parent`` the path or id of what it was forked from."""

    session: str
    cwd: str
    file: str | None = None
    mode: str = "print"
    ui: bool = False
    kind: str = "main"
    parent: str | None = None


class Context(msgspec.Struct, rename="camel", frozen=True):
    """``session/context``. ``user`` is the last message of the user as the host spells it."""

    session: str
    file: str | None = None
    leaf: str | None = None
    user: dict[str, Any] | None = None


class Settled(msgspec.Struct, rename="camel", frozen=True):
    """``session/settled``."""

    session: str
    file: str | None = None
    leaf: str | None = None
    outcome: str = "completed"


class Turn(msgspec.Struct, rename="camel", frozen=True):
    """``session/turn``. ``phase`` is ``start`` where a run of the agent begins, ``end`` where a turn of it is over."""

    session: str
    file: str | None = None
    leaf: str | None = None
    phase: Literal["start", "end"] = "end"


class Compact(msgspec.Struct, rename="camel", frozen=True):
    """``session/compact``: the host compacts and keeps its conversation from ``first_kept`` on. Numbers are tokens."""

    session: str
    first_kept: str
    file: str | None = None
    leaf: str | None = None
    tokens_before: int = 0
    window: int | None = None
    reserve: int | None = None
    system_tokens: int | None = None
    reason: Literal["manual", "threshold", "overflow"] = "threshold"
    instructions: str | None = None


class BeforeSettle(msgspec.Struct, rename="camel", frozen=True):
    """``session/before-settle``: the host can take a compaction now, and would keep a tail of ``keep`` tokens."""

    session: str
    file: str | None = None
    leaf: str | None = None
    window: int | None = None
    reserve: int | None = None
    system_tokens: int | None = None
    keep: int | None = None


class Close(msgspec.Struct, rename="camel", frozen=True):
    """``session/close``."""

    session: str


class ToolCall(msgspec.Struct, rename="camel", frozen=True):
    """``tool/call``."""

    session: str
    name: str
    arguments: dict[str, Any] = {}
    file: str | None = None
    leaf: str | None = None


class CommandRun(msgspec.Struct, rename="camel", frozen=True):
    """``command/run``; ``args`` is what was typed behind the command's name, ``width`` that of the terminal."""

    session: str
    name: str
    args: str = ""
    file: str | None = None
    leaf: str | None = None
    width: int | None = None


class CommandComplete(msgspec.Struct, rename="camel", frozen=True):
    """``command/complete``."""

    name: str
    prefix: str = ""
    session: str | None = None


P = TypeVar("P")


def read(kind: type[P], method: str, params: Mapping[str, JsonValue]) -> P:
    """The parameters of a call. What the protocol does not know is passed over.

    Raises:
        BadParamsError: something is missing or of another type.
    """
    try:
        return msgspec.convert(params, kind)
    except msgspec.ValidationError:
        raise BadParamsError(method) from None
