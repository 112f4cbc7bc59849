"""One rule of the port, and how it is checked."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import NoReturn

from attrs import field, frozen

from hindbrain.contracts._errors import InvalidValueError
from hindbrain.contracts.conformance._context import ConformanceFailure, Context

__all__ = ["Case", "Check", "ConformanceFailure", "Skip", "case", "fail", "require"]

Check = Callable[[Context], Awaitable[None]]
_CAPTURE = re.compile(r"[a-f]\d{3}")


@frozen(kw_only=True)
class Case:
    """One rule.

    Attributes:
        name: stable, in kebab case; a :class:`Skip` and a report name it.
        summary: the rule in a sentence.
        check: a coroutine function of a :class:`Context`; it returns None, or raises :class:`ConformanceFailure`. It
            expects a backend that no other case has closed.
        captures: recordings of the real server that show the rule.
    """

    name: str
    summary: str
    check: Check = field(repr=False)
    captures: tuple[str, ...] = ()


@frozen
class Skip:
    """A case that a backend cannot pass because the real server behaves otherwise.

    Attributes:
        case: the name of the case.
        capture: the recording of the server that justifies it, such as ``a016``.
        reason: a sentence.

    Raises:
        InvalidValueError: the capture is not an id, or the reason is blank.
    """

    case: str
    capture: str
    reason: str

    def __attrs_post_init__(self) -> None:
        if not _CAPTURE.fullmatch(self.capture):
            raise InvalidValueError("capture", "the id of a server recording, such as a016")
        if not self.reason.strip():
            raise InvalidValueError("reason", "a sentence")


def case(*captures: str) -> Callable[[Check], Case]:
    """Make a case of a coroutine function: its name gives the case's name, its docstring the rule."""

    def make(function: Check) -> Case:
        async def check(ctx: Context) -> None:
            timeout = asyncio.timeout(ctx.deadline)
            try:
                async with timeout:
                    await function(ctx)
            except TimeoutError:
                if not timeout.expired():
                    raise
                fail(f"not done within {ctx.deadline:g} s, while waiting for {ctx.waiting_for}")

        name = getattr(function, "__name__", "").replace("_", "-")
        return Case(name=name, summary=(function.__doc__ or "").strip(), check=check, captures=captures)

    return make


def fail(sentence: str) -> NoReturn:
    """End the case: the rule is broken in the way the sentence says."""
    raise ConformanceFailure(sentence)


def require(holds: object, sentence: str) -> None:
    """Go on only if it holds."""
    if not holds:
        fail(sentence)
