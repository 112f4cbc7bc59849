"""What a backend says it made of a retain, as three numbers."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from hindbrain.contracts import Retained


@frozen(kw_only=True)
class RetainOutcome:
    """Items taken in, asynchronous operations begun, tokens used; each None where nobody told.

    Source: seed 000, paragraph on retain outcomes.
    """

    items: int | None = None
    operations: int | None = None
    tokens: int | None = None


def outcome_of(retained: Retained) -> RetainOutcome | None:
    """The outcome in an acknowledgement, or None where it tells nothing but that the retain was taken.

    Source: S0-receipts-001 and 007; spec/memory.md section 8.
    """
    if retained.items is None and retained.tokens is None and not retained.operation_ids:
        return None
    return RetainOutcome(items=retained.items, operations=len(retained.operation_ids) or 1, tokens=retained.tokens)


def total(outcomes: Iterable[RetainOutcome | None]) -> RetainOutcome | None:
    """The sum of each number over those that tell it; None where none tells anything."""
    told = [outcome for outcome in outcomes if outcome is not None]
    if not told:
        return None
    return RetainOutcome(
        items=_sum(outcome.items for outcome in told),
        operations=_sum(outcome.operations for outcome in told),
        tokens=_sum(outcome.tokens for outcome in told),
    )


def _sum(numbers: Iterable[int | None]) -> int | None:
    told = [number for number in numbers if number is not None]
    return sum(told) if told else None
