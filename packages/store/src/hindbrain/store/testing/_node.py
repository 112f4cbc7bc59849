"""What lies on a disk in memory: files and folders, each with what of it is durable and what is not yet."""

from __future__ import annotations

import itertools
import stat
from collections.abc import Iterable

from attrs import define, field, frozen

_numbers = itertools.count(1)


@frozen
class Change:
    """A change of a file's bytes: a write at an offset, or a cut to a length (``data`` is None)."""

    at: int
    data: bytes | None


@define(eq=False)
class File:
    """A file. Its bytes now, its durable bytes, and the changes between the two.

    A change is *pending* until a sync, *firm* after it, and *in doubt* for ever after a sync that failed: it may be on
    the disk or not, and no later sync tells.
    """

    mode: int
    data: bytes | bytearray = b""
    durable: bytes = b""
    changes: list[Change] = field(factory=list)
    firm: list[bool] = field(factory=list)
    doubtful: int = 0
    changed: float = 0.0
    number: int = field(factory=lambda: next(_numbers))

    @property
    def kind(self) -> int:
        return stat.S_IFREG

    @property
    def size(self) -> int:
        return len(self.data)

    def apply(self, change: Change) -> None:
        """Change the bytes, not yet durably."""
        if not isinstance(self.data, bytearray):
            self.data = bytearray(self.data)
        apply(self.data, change)
        self.changes.append(change)
        self.firm.append(False)

    def settle(self) -> None:
        """Make it durable, but for what is in doubt."""
        self.firm[self.doubtful :] = [True] * (len(self.firm) - self.doubtful)
        if not self.doubtful:
            self.durable = bytes(self.data)
            self.changes.clear()
            self.firm.clear()

    def doubt(self) -> None:
        """What is pending now may be durable or not, for ever."""
        self.doubtful = len(self.changes)


@frozen
class Rename:
    """A change of a folder's names: ``gone`` leads nowhere any more, ``name`` leads to ``node``; None for neither."""

    gone: str | None
    name: str | None
    node: Node | None


@define(eq=False)
class Folder:
    """A folder. Its names now, its durable names, and the changes between the two."""

    mode: int
    names: dict[str, Node] = field(factory=dict)
    durable: dict[str, Node] = field(factory=dict)
    changes: list[Rename] = field(factory=list)
    changed: float = 0.0
    number: int = field(factory=lambda: next(_numbers))

    @property
    def kind(self) -> int:
        return stat.S_IFDIR

    @property
    def size(self) -> int:
        return 0

    def apply(self, change: Rename) -> None:
        """Change the names, not yet durably."""
        rename(self.names, (change,))
        self.changes.append(change)

    def settle(self) -> None:
        """Make the names durable."""
        self.durable = dict(self.names)
        self.changes.clear()


Node = File | Folder


def apply(data: bytearray, change: Change) -> None:
    """Carry a change out; a hole is filled with zeros."""
    if len(data) < change.at:
        data.extend(bytes(change.at - len(data)))
    if change.data is None:
        del data[change.at :]
    else:
        data[change.at : change.at + len(change.data)] = change.data


def rename(names: dict[str, Node], changes: Iterable[Rename]) -> None:
    """Carry changes of names out."""
    for change in changes:
        if change.gone is not None:
            names.pop(change.gone, None)
        if change.name is not None and change.node is not None:
            names[change.name] = change.node
