"""What can go wrong with state files, and the disk's own errors in our words."""

from __future__ import annotations

import errno
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ParamSpec, TypeVar

from hindbrain.contracts import Outcome
from hindbrain.store._errors import (
    FULL,
    READ_ONLY,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnavailableError,
)

P = ParamSpec("P")
T = TypeVar("T")


class StateFileError(StoreError):
    """A state file is a link, a folder or another thing that is no plain file of this user; it was not used."""

    code = "state-file"
    outcome = Outcome.NOT_SENT
    advice = "Look at what lies there, and move it away."


class StateFileTooLargeError(StoreError):
    """A state file is larger than any hindbrain writes; it was not read and was left as it is."""

    code = "state-file-too-large"
    outcome = Outcome.NOT_SENT
    advice = "Look at what lies there, and move it away."


class StateDirError(StoreError):
    """The folder for state files is a link, no folder, or belongs to another user; it was not used."""

    code = "state-dir"
    outcome = Outcome.NOT_SENT
    advice = "Name a folder of your own, by its real path."


def disk_errors(path: Path) -> AbstractContextManager[None]:
    """Turn the operating system's errors into ours, naming the file and the error's symbol and nothing else.

    Raises:
        StoreFullError: no room: ``ENOSPC``, ``EDQUOT``, ``EFBIG``.
        StoreReadOnlyError: may not be written: ``EROFS``, ``EACCES``, ``EPERM``.
        StoreUnavailableError: any other.
    """
    return _DiskErrors(path)


class _DiskErrors:
    """A class and no generator, since every append passes through it."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise _in_our_words(self._path, error) from error


def _in_our_words(path: Path, error: OSError) -> StoreError:
    symbol = errno.errorcode.get(error.errno or 0, "an unnamed error")
    if error.errno in FULL:
        return StoreFullError(f"The disk has no room for {path} ({symbol}); what was there is intact.")
    if error.errno in READ_ONLY:
        return StoreReadOnlyError(f"{path} may not be written ({symbol}); nothing was changed.")
    return StoreUnavailableError(f"{path} could not be read or written ({symbol}); what was there is intact.")


def uninterrupted(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call it again for as long as a signal cuts it short (``EINTR``).

    Not for ``close``: there the descriptor is gone, whatever was raised.
    """
    while True:
        try:
            return call(*args, **kwargs)
        except InterruptedError:
            continue
