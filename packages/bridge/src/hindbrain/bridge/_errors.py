"""What can go wrong between two peers, and how it is told on the wire.

This room needs nothing but the standard library, so its errors do not come from ``hindbrain.contracts``; they keep the
same form: a stable ``code``, and a sentence that holds no content, no secret and no other library's words.
"""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import Any, Final


class Rpc(IntEnum):
    """The numbers of protocol 1. Source: docs/protocol.md, "Errors"."""

    PARSE = -32700
    INVALID = -32600
    NO_METHOD = -32601
    PARAMS = -32602
    INTERNAL = -32603
    FAILED = -32000
    BUSY = -32001
    CANCELLED = -32800
    TOO_LATE = -32801
    UNKNOWN_SESSION = -32802
    TOO_LARGE = -32803
    PROTOCOL = -32804
    BRANCH_MOVED = -32805


_WORDS: Final = {
    "params": Rpc.PARAMS,
    "bad-params": Rpc.PARAMS,
    "cancelled": Rpc.CANCELLED,
    "too-late": Rpc.TOO_LATE,
    "unknown-session": Rpc.UNKNOWN_SESSION,
    "frame-too-large": Rpc.TOO_LARGE,
    "branch-moved": Rpc.BRANCH_MOVED,
}
"""Stable codes of our errors that have a number of their own; for the others it is `Rpc.FAILED`."""


def word(number: int) -> str:
    """The stable code for a number that came without one."""
    return next((code for code, known in _WORDS.items() if known == number), "remote")


class BridgeError(Exception):
    """Base of what this package raises."""

    code: str = "bridge"


class ConnectionLostError(BridgeError):
    """The other side is gone or the connection was closed; whether the call was done there is not known."""

    code = "connection-lost"

    def __init__(self) -> None:
        super().__init__("The connection to the host is closed. Whether the call was carried out is not known.")


class DeadlineError(BridgeError):
    """A call had no answer in time. The other side was told to give it up."""

    code = "deadline"

    def __init__(self, method: str, seconds: float) -> None:
        super().__init__(f"{method} had no answer within {seconds:g} s. The other side was told to give it up.")
        self.method = method


class RpcError(BridgeError):
    """An answer that is an error: raised by a call that got one, and by a handler that gives one.

    Attributes:
        rpc: the number on the wire, one of `Rpc` or a stranger's.
        code: the stable word for it, ``data.code`` on the wire.
        data: what else the answer carries; never content.
    """

    def __init__(self, rpc: int, message: str, *, code: str, data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.rpc = int(rpc)
        self.code = code
        self.data = data or {}

    def wire(self) -> dict[str, Any]:
        """The value of ``error`` in an answer."""
        return {"code": self.rpc, "message": str(self), "data": {**self.data, "code": self.code}}


def too_large(limit: int) -> RpcError:
    """A frame was over the limit, in bytes, and was not taken or not sent."""
    message = f"A frame of more than {limit} bytes was not carried. Ask for less at a time."
    return RpcError(Rpc.TOO_LARGE, message, code="frame-too-large", data={"limit": limit})


def explain(error: BaseException, method: str) -> RpcError:
    """The answer that stands for whatever a handler raised.

    The sentences of our own errors are made to be shown. Of any other error only its class is told: its text may hold
    what must not leave this process.
    """
    if isinstance(error, RpcError):
        return error
    ours = getattr(sys.modules.get("hindbrain.contracts"), "HindbrainError", BridgeError)
    if isinstance(error, (ours, BridgeError)):
        code = str(error.code)
        return RpcError(_WORDS.get(code, Rpc.FAILED), str(error), code=code)
    kind = type(error).__name__
    return RpcError(Rpc.INTERNAL, f"{method} failed inside hindbrain ({kind}); it was not done.", code="internal")


def where(error: BaseException) -> str:
    """The module and line that raised it, for a log that holds no content."""
    trace, place = error.__traceback__, "?"
    while trace is not None:
        place = f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
