"""A disk whose Nth operation goes wrong."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from enum import Enum
from typing import Any, ParamSpec, TypeVar, cast

from hindbrain.store._files import FileLayer
from hindbrain.store.testing._forwarding import ForwardingLayer
from hindbrain.store.testing._memory import MemoryLayer

P = ParamSpec("P")
T = TypeVar("T")


class Fault(Enum):
    """What the chosen operation does instead of its work."""

    EIO = errno.EIO
    ENOSPC = errno.ENOSPC
    EINTR = errno.EINTR
    SHORT_WRITE = "short write"
    """A write takes half of what it was given and says so; any other operation works."""
    KILL = "kill"
    """The process is gone before the operation: ``Killed``, and nothing is done after it."""
    TORN_KILL = "torn kill"
    """As KILL, but half of a write is done first."""


class Killed(BaseException):
    """The process would be gone here. Only a test may catch it."""


class FaultyLayer(ForwardingLayer):
    """Fails operation number ``fail_at`` (from 1), and with ``lasting`` every later one too.

    To try them all::

        for n in itertools.count(1):
            layer = FaultyLayer(MemoryLayer(), fail_at=n, fault=Fault.EIO)
            ...
            if not layer.fired:
                break

    Attributes:
        count: operations asked for so far. ``close``, ``unlock`` and what comes after a kill are not counted.
        fired: whether the fault has come to pass.
    """

    def __init__(self, inner: FileLayer, *, fail_at: int, fault: Fault, lasting: bool = False) -> None:
        super().__init__(inner)
        self.count = 0
        self.fired = False
        self._fail_at = fail_at
        self._fault = fault
        self._lasting = lasting
        self._killed = False

    def around(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if call.__name__ in {"close", "unlock"}:
            # A process that dies gives its descriptors and locks back too.
            return call(*args, **kwargs)
        if self._killed:
            raise Killed
        self.count += 1
        if self.count == self._fail_at or (self._lasting and self.count > self._fail_at):
            self.fired = True
            return cast("T", self._fail(call, args))
        return call(*args, **kwargs)

    def _fail(self, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        if self._fault is Fault.KILL or self._fault is Fault.TORN_KILL:
            self._killed = True
            if self._fault is Fault.TORN_KILL and call.__name__ == "write":
                call(args[0], args[1][: len(args[1]) // 2])
            raise Killed
        if self._fault is Fault.SHORT_WRITE:
            if call.__name__ == "write":
                return call(args[0], args[1][: max(1, len(args[1]) // 2)])
            return call(*args)
        if call.__name__ == "fsync" and self._fault is not Fault.EINTR and isinstance(self.inner, MemoryLayer):
            self.inner.doubt(args[0])
        number = int(self._fault.value)
        raise OSError(number, os.strerror(number))
