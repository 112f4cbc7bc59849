"""A session's record as a value, what it permits, and the changes a user can make to it."""

from __future__ import annotations

from enum import StrEnum

from attrs import evolve, frozen

from hindbrain.store._records._errors import RecordValueError
from hindbrain.store._records._tags import check_tag

RESERVED_MODE = "tools-only"


class Mode(StrEnum):
    """What a session may do by itself; tools, imports and flush are allowed in every mode."""

    NORMAL = "normal"
    READ_ONLY = "read-only"
    IGNORED = "ignored"


class Switch(StrEnum):
    """One behaviour, as usual or off."""

    NORMAL = "normal"
    OFF = "off"


@frozen(kw_only=True)
class SessionRecord:
    """What the user has decided about one session. Without a record everything is normal.

    ``created_at`` and ``updated_at`` are ISO 8601, None where nothing was written yet. ``trusted`` is False where the
    file there cannot be believed: then everything is off, until the user sets a mode.

    Source: spec/memory.md section 9; seed "Session governance".
    """

    retained: bool = True
    recall_mode: Switch = Switch.NORMAL
    retain_mode: Switch = Switch.NORMAL
    next_retain_mode: Switch = Switch.NORMAL
    mode: Mode = Mode.NORMAL
    tags: tuple[str, ...] = ()
    created_at: str | None = None
    updated_at: str | None = None
    trusted: bool = True

    @property
    def skips_next(self) -> bool:
        """Whether the run that goes on is to be skipped."""
        return self.trusted and self.next_retain_mode is Switch.OFF

    def with_mode(self, mode: str) -> SessionRecord:
        """In another mode. Normal and read-only recall again; normal also retains again where nothing was believed.

        Raises:
            RecordValueError: not one of the three modes; ``tools-only`` is reserved and cannot be chosen.
        """
        chosen = _mode(mode)
        if chosen is Mode.IGNORED:
            return evolve(self, mode=chosen)
        opened = evolve(self, mode=chosen, recall_mode=Switch.NORMAL)
        if chosen is Mode.NORMAL and not self.trusted:
            return evolve(opened, retained=True, retain_mode=Switch.NORMAL, next_retain_mode=Switch.NORMAL)
        return opened

    def with_retain(self, *, on: bool) -> SessionRecord:
        """With automatic retain on or off for the session."""
        return evolve(self, retained=on, retain_mode=Switch.NORMAL if on else Switch.OFF)

    def with_skip(self, *, on: bool) -> SessionRecord:
        """With the next completed run skipped, or no longer."""
        return evolve(self, next_retain_mode=Switch.OFF if on else Switch.NORMAL)

    def with_tag(self, tag: str) -> SessionRecord:
        """With a tag on what is retained automatically from now on, once.

        Raises:
            RecordValueError: the tag is empty, longer than 80 characters, or holds a control character.
        """
        return evolve(self, tags=tuple(dict.fromkeys((*self.tags, check_tag(tag)))))

    def without_tag(self, tag: str) -> SessionRecord:
        """Without that tag.

        Raises:
            RecordValueError: as ``with_tag``.
        """
        gone = check_tag(tag)
        return evolve(self, tags=tuple(each for each in self.tags if each != gone))


CLOSED = SessionRecord(
    retained=False,
    recall_mode=Switch.OFF,
    retain_mode=Switch.OFF,
    next_retain_mode=Switch.OFF,
    mode=Mode.IGNORED,
    trusted=False,
)
"""What counts where a record is there and cannot be believed."""


@frozen
class Permissions:
    """What a session may do by itself."""

    recalls: bool
    retains: bool


def permissions(record: SessionRecord) -> Permissions:
    """What the record permits in this run. A run to be skipped recalls as usual and does not retain.

    Source: spec/memory.md section 9 ("Effective"); seed "Session governance".
    """
    recalls = record.mode is not Mode.IGNORED and record.recall_mode is not Switch.OFF
    retains = record.mode is Mode.NORMAL and record.retained and record.retain_mode is not Switch.OFF
    return Permissions(recalls, retains and record.next_retain_mode is not Switch.OFF)


def _mode(mode: str) -> Mode:
    choices = "normal, read-only or ignored"
    if mode == RESERVED_MODE:
        raise RecordValueError(
            "The mode tools-only", choices, next_step="It is reserved for later; the session's record was not changed."
        )
    try:
        return Mode(mode)
    except ValueError:
        raise RecordValueError("The mode", choices, next_step="The session's record was not changed.") from None
