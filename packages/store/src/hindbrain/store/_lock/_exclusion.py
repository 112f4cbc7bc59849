"""The two ways to keep others out: by the operating system, and by the record alone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from attrs import frozen

from hindbrain.store._files import remove_file, uninterrupted
from hindbrain.store._lock._errors import LockLostError
from hindbrain.store._lock._flock import FileLock
from hindbrain.store._lock._owner import Owner
from hindbrain.store._lock._record import Record
from hindbrain.store._lock._watch import Look, Watch


class Exclusion(Protocol):
    """A way to keep others out. ``mine`` makes the holder's record where one is needed, the same each time."""

    @property
    def was_mine(self) -> bool:
        """Whether nobody else has had the OS lock between this object's last use of it and the one now."""
        ...

    def attempt(self, mine: Callable[[], Owner], *, recorded: bool) -> bool:
        """Take the lock if it is free."""
        ...

    def renew(self, me: Owner) -> None:
        """Say that its holder is alive."""
        ...

    def release(self, mine: Callable[[], Owner], *, recorded: bool) -> None:
        """Give the lock back. Never fails: the work under it is done."""
        ...


@frozen
class ByOs:
    """The OS lock is the truth; a record that is found under it is a dead holder's or another program's."""

    file: FileLock
    record: Record
    watch: Watch

    @property
    def was_mine(self) -> bool:
        return self.file.was_mine

    def attempt(self, mine: Callable[[], Owner], *, recorded: bool) -> bool:
        if not self.file.take():
            return False
        taken = False
        try:
            look = self.watch.look()
            if self.watch.is_as_it_was(look) or self._is_in_order(look, mine):
                self.file.sign()
                if recorded:
                    # It only tells others: a full disk must not keep a rewrite from making room.
                    with suppress(OSError):
                        self.record.write(mine())
                taken = True
        finally:
            if not taken:
                self.file.close()
        return taken

    def _is_in_order(self, look: Look, mine: Callable[[], Owner]) -> bool:
        if not self.file.is_current():
            return False
        me = mine()
        if self.record.is_there():
            owner = self.record.read()
            # A holder of this machine would have the OS lock, and writes its record whole: it is dead. Another
            # program's record has no host, and another machine may see no OS locks: those bind for as long as they are
            # fresh.
            if owner is not None and owner.host != me.host and self.record.is_fresh(owner, me):
                return False
            uninterrupted(self.record.layer.unlink, self.record.path)
        self.watch.found_in_order(look, me.acquired_at)
        return True

    def renew(self, me: Owner) -> None:
        self.record.write(me)

    def release(self, mine: Callable[[], Owner], *, recorded: bool) -> None:  # noqa: ARG002 - under the OS lock the record is mine
        try:
            if recorded:
                remove_file(self.record.layer, self.record.path)
        finally:
            self.file.release()


@frozen
class ByRecord:
    """Whoever makes the folder, or takes over from a dead owner, and writes the record has the lock."""

    record: Record
    was_mine = False

    def attempt(self, mine: Callable[[], Owner], *, recorded: bool) -> bool:  # noqa: ARG002 - there is nothing else
        me = mine()
        if self.record.make_folder():
            return self.record.create(me)
        if self.record.is_there():
            owner = self.record.read()
            return self.record.is_stale(owner, me) and self.record.take_over(owner, me)
        return self.record.is_stale(None, me) and self.record.create(me)

    def renew(self, me: Owner) -> None:
        owner = self.record.read()
        if owner is None or owner.token != me.token:
            raise LockLostError
        self.record.write(me)

    def release(self, mine: Callable[[], Owner], *, recorded: bool) -> None:  # noqa: ARG002 - as above
        with suppress(OSError):
            if self.record.remove(mine()):
                self.record.clear_folder()
