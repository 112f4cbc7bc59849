"""What reading a session file gives."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, TypeAlias

from attrs import frozen

from hindbrain.contracts import Branch, Entry

HostName: TypeAlias = Literal["pi", "omp"]


@frozen(kw_only=True)
class SessionHeader:
    """The line a session file opens with.

    ``version`` is the file format's (1: linear, no entry ids; 2: tree; 3: current). ``at`` is in milliseconds since
    1970 UTC. ``parent_session`` is what the host wrote: a path or an id. ``title`` is omp's, None where it is empty.
    ``host`` is a guess: only omp writes a title slot or a title.

    Source: spec/pi-host.md section 4, spec/omp-host.md section 4.
    """

    id: str
    version: int = 1
    cwd: str | None = None
    at: int | None = None
    parent_session: str | None = None
    title: str | None = None
    host: HostName = "pi"


class Reason(StrEnum):
    """What is wrong with a line. The first group was skipped, the second was read all the same."""

    NOT_JSON = "not-json"
    NOT_AN_ENTRY = "not-an-entry"
    """JSON, but no object with a ``type``."""
    TOO_LONG = "too-long"
    TORN = "torn"
    """The file ends inside this line."""
    BAD_HEADER = "bad-header"
    """A header without an id."""
    SECOND_HEADER = "second-header"

    INVALID_UTF8 = "invalid-utf8"
    """Bad bytes were read as U+FFFD."""
    LONE_SURROGATE = "lone-surrogate"
    """Half a character, as hosts write when they cut text, was read as U+FFFD."""
    NUL_BYTES = "nul-bytes"
    """Zero bytes around the line, as a crash leaves them, were dropped."""
    WRONG_TYPE = "wrong-type"
    """A field had another type than the format gives it; it counts as absent."""
    DUPLICATE_ID = "duplicate-id"
    """An earlier entry has this id; the later one stands for it in the branch."""
    LOST_PARENT = "lost-parent"
    """The parent was in a skipped line; the entry before that line took its place."""


@frozen
class LineProblem:
    """One line that is not as it should be. It never holds the line's content.

    ``line`` counts from 1; ``offset`` is where the line begins, in bytes. ``kept`` says whether it was read anyway.
    """

    line: int
    offset: int
    reason: Reason
    kept: bool = False


Item: TypeAlias = SessionHeader | Entry | LineProblem


class Restart(StrEnum):
    """Why an incremental reader began at the first byte again."""

    SHRANK = "shrank"
    REWRITTEN = "rewritten"


@frozen(kw_only=True)
class SessionFile:
    """A session file, or what was new in it, as values.

    ``entries`` are in file order and ``offset`` is the number of bytes read, whole lines only.
    :class:`SessionReader` sets ``restarted`` when the file is not the one it read before: these are then all its
    entries, not the new ones.
    """

    header: SessionHeader | None = None
    entries: tuple[Entry, ...] = ()
    problems: tuple[LineProblem, ...] = ()
    offset: int = 0
    restarted: Restart | None = None

    def branch(self, leaf_id: str | None = None) -> Branch:
        """The entries as a tree. Without ``leaf_id`` the leaf is the last entry, as in both hosts."""
        return Branch.of(self.entries, leaf_id)

    def extended(self, new: SessionFile) -> SessionFile:
        """This and what a :class:`SessionReader` read after it, as if read at once."""
        if new.restarted:
            return new
        return SessionFile(
            header=new.header,
            entries=self.entries + new.entries,
            problems=self.problems + new.problems,
            offset=new.offset,
            restarted=self.restarted,
        )
