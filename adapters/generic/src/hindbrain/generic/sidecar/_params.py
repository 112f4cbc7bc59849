"""What the host says in its calls. Source: docs/protocol.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

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


class Close(msgspec.Struct, rename="camel", frozen=True):
    """``session/close``."""

    session: str


class ToolCall(msgspec.Struct, rename="camel", frozen=True):
    """``tool/call``."""

    session: str
    name: str
    arguments: dict[str, Any] = {}


class CommandRun(msgspec.Struct, rename="camel", frozen=True):
    """``command/run``; ``args`` is what was typed behind the command's name."""

    session: str
    name: str
    args: str = ""


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
