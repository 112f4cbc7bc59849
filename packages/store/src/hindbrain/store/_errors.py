"""What can go wrong with files on this machine. Each docstring is what the user reads."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from hindbrain.contracts import BackendError, Outcome


class StoreError(BackendError):
    """The memory on this machine could not be used and nothing was changed."""

    code = "store"
    advice = "Run `hindbrain doctor`, and report this if it comes back."

    def __init__(self, what: str = "", *, next_step: str = "") -> None:
        super().__init__(what or " ".join((type(self).__doc__ or "").split()), next_step=next_step or self.advice)


class StoreBusyError(StoreError):
    """Another process holds the memory's database and did not let go in time; nothing was changed."""

    code = "store-busy"
    retryable = True
    advice = "Try again, and look for a process that is stuck."


class StoreReadOnlyError(StoreError):
    """The memory's database may not be written here; nothing was changed."""

    code = "store-read-only"
    advice = "Give this user the right to write the folder and its files."


class StoreFullError(StoreError):
    """The disk has no room for more memory; nothing of this call was kept, and what was there before is intact."""

    code = "store-full"
    retryable = True
    advice = "Free some space and try again."


class StoreCorruptError(StoreError):
    """The file is not a readable hindbrain database; it was left as it is."""

    code = "store-corrupt"
    advice = "Move the file away to begin anew, or restore a copy; hindbrain never deletes it."


class StoreNewerError(StoreError):
    """A newer version of hindbrain wrote this memory; it was left as it is."""

    code = "store-newer"
    advice = "Upgrade hindbrain on this machine."


class StorePathError(StoreError):
    """The memory's folder or file is a link, or belongs to another user; it was not opened."""

    code = "store-path"
    outcome = Outcome.NOT_SENT
    advice = "Name a folder of your own, by its real path."


class StoreUnavailableError(StoreError):
    """The memory's database could not be opened, read or written; what was there before is intact."""

    code = "store-unavailable"
    retryable = True
    advice = "Check that the disk is there and the folder can be entered."


class StoreClosedError(StoreError):
    """This store has been closed; nothing was done."""

    code = "store-closed"
    outcome = Outcome.NOT_SENT
    advice = "Open a new one."


_BY_CODE: dict[int, type[StoreError]] = {
    3: StoreReadOnlyError,  # SQLITE_PERM
    5: StoreBusyError,  # SQLITE_BUSY
    6: StoreBusyError,  # SQLITE_LOCKED
    7: StoreUnavailableError,  # SQLITE_NOMEM
    8: StoreReadOnlyError,  # SQLITE_READONLY
    10: StoreUnavailableError,  # SQLITE_IOERR
    11: StoreCorruptError,  # SQLITE_CORRUPT
    13: StoreFullError,  # SQLITE_FULL
    14: StoreUnavailableError,  # SQLITE_CANTOPEN
    15: StoreBusyError,  # SQLITE_PROTOCOL
    26: StoreCorruptError,  # SQLITE_NOTADB
}
"""SQLite's primary result codes, by number: a queue needs these errors and must not load SQLite for them."""


FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""The operating system's numbers for a disk without room."""
READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
"""Its numbers for what may not be written."""


@contextmanager
def translated() -> Iterator[None]:
    """Turn SQLite's errors, and the operating system's, into ours.

    Raises:
        StoreError: the class that fits, with the original chained and none of its text.
    """
    try:
        yield
    except OSError as error:
        if error.errno in READ_ONLY:
            raise StoreReadOnlyError from error
        raise (StoreFullError if error.errno in FULL else StoreUnavailableError) from error
    except Exception as error:
        if type(error).__module__ != "sqlite3":
            raise
        primary: int = getattr(error, "sqlite_errorcode", None) or 0
        raise _BY_CODE.get(primary & 0xFF, StoreError) from error
