"""What can go wrong in the engine."""

from __future__ import annotations

from hindbrain.contracts import HindbrainError


class ObserveError(HindbrainError):
    """Base of what this package raises."""

    code = "observe"


class UnknownEntryError(ObserveError):
    """An entry was named that is not on the branch, so no boundary can be drawn there."""

    code = "observe-unknown-entry"

    def __init__(self) -> None:
        super().__init__(
            "The entry that was named is not on this branch; nothing was projected.",
            next_step="Name an entry of the branch the conversation stands on.",
        )


class BudgetError(ObserveError):
    """A quantity of tokens is impossible: negative, or a window too small for any request."""

    code = "observe-budget"

    def __init__(self, field: str) -> None:
        super().__init__(f"{field} is refused and nothing was computed.", next_step="Use estimated tokens from 0 up.")
        self.field = field


class EmptyRecordError(ObserveError):
    """A record was to be made that says nothing, or that rests on nothing; none was made."""

    code = "observe-empty-record"

    def __init__(self) -> None:
        super().__init__(
            "A record without words or without sources is refused; nothing was recorded.",
            next_step="Give it content with a visible character and the ids it rests on.",
        )


class BranchMovedError(ObserveError):
    """The conversation stands on another branch than the one a ledger entry was made for; nothing was appended."""

    code = "observe-branch-moved"

    def __init__(self) -> None:
        super().__init__(
            "The conversation has moved to another branch; nothing was appended to it.",
            next_step="Start again from where it stands now.",
        )


class ObserveSettingError(ObserveError):
    """A setting of the engine does not have the form it needs; no configuration was made."""

    code = "observe-setting"

    def __init__(self, field: str, expected: str) -> None:
        super().__init__(f"{field} is refused: expected {expected}.", next_step="Correct the setting, or leave it out.")
        self.field = field
        self.expected = expected
