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
