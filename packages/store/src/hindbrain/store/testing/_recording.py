"""Every operation in its order, and the same again on a disk in memory."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ParamSpec, TypeVar

from attrs import frozen

from hindbrain.store._files import FileLayer
from hindbrain.store.testing._forwarding import ForwardingLayer
from hindbrain.store.testing._memory import MemoryLayer

P = ParamSpec("P")
T = TypeVar("T")

_CHANGING = {"open", "write", "fsync", "ftruncate", "replace", "link", "unlink", "mkdir", "rmdir", "sync_dir"}
_ON_DESCRIPTOR = {"write", "fsync", "ftruncate", "close"}


@frozen
class Operation:
    """One operation: its name in FileLayer, its arguments, what it returned or the ``errno`` it raised."""

    name: str
    args: tuple[Any, ...]
    result: Any = None
    error: int | None = None


class RecordingLayer(ForwardingLayer):
    """Records what is asked of a disk.

    Attributes:
        operations: all of them, oldest first; clear it to begin anew.
    """

    def __init__(self, inner: FileLayer) -> None:
        super().__init__(inner)
        self.operations: list[Operation] = []

    def around(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        kept = tuple(bytes(value) if isinstance(value, memoryview) else value for value in args)
        try:
            result = call(*args, **kwargs)
        except OSError as error:
            self.operations.append(Operation(call.__name__, kept, error=error.errno))
            raise
        self.operations.append(Operation(call.__name__, kept, result))
        return result

    def count(self, *names: str) -> int:
        """How many operations had one of these names."""
        return sum(operation.name in names for operation in self.operations)

    def changes(self) -> list[Operation]:
        """The operations that can change what is on the disk or what of it is durable."""
        return [operation for operation in self.operations if operation.name in _CHANGING]


def replay(operations: Iterable[Operation], disk: MemoryLayer | None = None) -> Iterator[tuple[int, MemoryLayer]]:
    """Carry the operations out again, on a disk like the one they began on, and show it after each that changes it.

    Yields how many operations are done, and the disk: its ``crash_states`` are what a loss of power may leave at that
    moment. The first one is the untouched disk. What was recorded on a real disk can be replayed too: make its folders
    first (``make_folders``). A write that failed is left out, and a sync that failed leaves its
    file in doubt.
    """
    disk = disk if disk is not None else MemoryLayer()
    descriptors: dict[int, int] = {}
    yield 0, disk
    for number, operation in enumerate(operations, start=1):
        args = operation.args
        if operation.name in _ON_DESCRIPTOR:
            args = (descriptors.get(args[0], args[0]), *args[1:])
        if operation.error is not None:
            if operation.name == "fsync" and operation.error != errno.EINTR:
                disk.doubt(args[0])
        elif operation.name == "open":
            descriptors[operation.result] = disk.open(*args)
        elif operation.name == "write":
            disk.write(args[0], args[1][: operation.result])
        elif operation.name in _CHANGING or operation.name == "close":
            getattr(disk, operation.name)(*args)
        if operation.name in _CHANGING and not (operation.name == "open" and not args[1] & os.O_CREAT):
            yield number, disk
