"""What a session file that cannot be read raises."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from hindbrain.contracts import HindbrainError


class Unreadable(StrEnum):
    """Why a file is not read at all."""

    MISSING = "missing"
    NOT_A_FILE = "not-a-file"
    NO_ACCESS = "no-access"
    NOT_A_SESSION = "not-a-session"


_WORDS = {
    Unreadable.MISSING: ("there is no such file", "Check the path; hosts write a session with its first message."),
    Unreadable.NOT_A_FILE: ("it is not a regular file", "Name one session file, ending in .jsonl."),
    Unreadable.NO_ACCESS: ("the system does not let this user read it", "Check its permissions and its disk."),
    Unreadable.NOT_A_SESSION: (
        "it does not begin with the session header of pi or omp",
        "Name a .jsonl file from the host's sessions folder.",
    ),
}


class SessionFileError(HindbrainError):
    """A session file cannot be read as one; nothing was taken from it.

    Attributes:
        path: the file as it was named.
        reason: which of the four cases it is.
    """

    code: ClassVar[str] = "session-file"

    def __init__(self, path: str, reason: Unreadable) -> None:
        what, next_step = _WORDS[reason]
        super().__init__(f"The session {path} was not read: {what}.", next_step=next_step)
        self.path = path
        self.reason = reason
