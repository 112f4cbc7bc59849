"""The owner's record in the lock's folder: whether it binds others, and how it is taken, renewed and given back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from attrs import field, frozen

from hindbrain.store._errors import StoreUnavailableError
from hindbrain.store._files import PRIVATE_DIR, FileLayer, check_dir, remove_file, uninterrupted, write_new
from hindbrain.store._lock._owner import Owner, is_running, read_owner

STALE_AFTER = timedelta(seconds=30)


@frozen
class Record:
    """``<folder>/owner``, and the claims on it by those who would take over from a dead owner."""

    layer: FileLayer
    folder: Path
    stale_after: timedelta = STALE_AFTER
    running: Callable[[int], bool] = is_running
    path: Path = field(init=False)

    @path.default
    def _path(self) -> Path:
        return self.folder / "owner"

    def read(self) -> Owner | None:
        """The owner, or None where there is no readable record."""
        return read_owner(self.layer, self.path)

    def is_there(self) -> bool:
        """Whether there is a record at all, readable or not. A signal may interrupt it."""
        try:
            self.layer.lstat(self.path)
        except FileNotFoundError:
            return False
        return True

    def is_stale(self, owner: Owner | None, me: Owner) -> bool:
        """Whether nobody stands behind the record any more, judged at ``me.acquired_at`` by ``acquiredAt`` alone.

        A process of this machine that runs is never taken for dead. A record that cannot be read, or is missing, is
        as old as its folder's last change.
        """
        if owner is None:
            changed = uninterrupted(self.layer.lstat, self.folder).st_mtime
            return me.acquired_at - datetime.fromtimestamp(changed, UTC) > self.stale_after
        if owner.host == me.host and self.running(owner.pid):
            return False
        return me.acquired_at - owner.acquired_at > self.stale_after

    def make_folder(self) -> bool:
        """Make the lock's folder; False where it is there.

        Raises:
            StateDirError: a link, no folder, or another user's is there.
            StoreUnavailableError: the folder above is not there.
        """
        try:
            uninterrupted(self.layer.mkdir, self.folder, PRIVATE_DIR)
        except FileExistsError:
            check_dir(self.layer, self.folder)
            return False
        except FileNotFoundError as error:
            raise StoreUnavailableError(f"{self.folder.parent} is not there; nothing was changed.") from error
        uninterrupted(self.layer.chmod, self.folder, PRIVATE_DIR)
        return True

    def is_fresh(self, owner: Owner, me: Owner) -> bool:
        """Whether the record was renewed lately, and not in a future that somebody made up."""
        return abs(me.acquired_at - owner.acquired_at) <= self.stale_after

    def write(self, me: Owner) -> None:
        """Put my record in place of whatever is there. It tells, it does not guard, so it is not synced."""
        temporary = self.folder / f"owner.{me.token}.tmp"
        write_new(self.layer, temporary, me.to_bytes(), durable=False)
        try:
            uninterrupted(self.layer.replace, temporary, self.path)
        except BaseException:
            remove_file(self.layer, temporary)
            raise

    def create(self, me: Owner, path: Path | None = None) -> bool:
        """Write my record, or my claim at ``path``, where there is none; False where there is one."""
        try:
            write_new(self.layer, path or self.path, me.to_bytes(), durable=False)
        except FileExistsError:
            return False
        return True

    def remove(self, me: Owner) -> bool:
        """Take my record away; False where it is another's, which stays."""
        owner = self.read()
        if owner is None or owner.token != me.token:
            return False
        uninterrupted(self.layer.unlink, self.path)
        return True

    def take_over(self, stale: Owner | None, me: Owner) -> bool:
        """Put my record in place of a stale one; of many who try, one succeeds.

        A claim is a file named after the token it claims, so none can be mistaken for one on a fresh record. A dead
        claimant's is claimed in turn. Whoever holds the last claim looks once more before the record changes.
        """
        claims = [self.folder / f"owner.{_plain(stale.token) if stale else 'unreadable'}.claim"]
        while not self.create(me, claims[-1]):
            claimant = read_owner(self.layer, claims[-1])
            if not self.is_stale(claimant, me):
                return False
            claims.append(claims[-1].with_name(claims[-1].name + ".claim"))
        unchanged = self.read() == stale
        if unchanged:
            self.write(me)
        for claim in claims if unchanged else claims[-1:]:
            remove_file(self.layer, claim)
        return unchanged

    def clear_folder(self) -> None:
        """Remove the folder and what served the lock alone; other files keep it where it is."""
        with suppress(OSError):
            for name in uninterrupted(self.layer.listdir, self.folder):
                if name == "os.lock" or name.startswith("owner."):
                    remove_file(self.layer, self.folder / name)
            uninterrupted(self.layer.rmdir, self.folder)


def _plain(token: str) -> str:
    """A token as a file name: another program may have put anything there."""
    return "".join(c for c in token if c.isascii() and (c.isalnum() or c == "-"))[:80] or "unnamed"
