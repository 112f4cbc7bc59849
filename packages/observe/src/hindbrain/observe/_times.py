"""Moments as the ledger writes them: to the minute, in the one zone of the ledger."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache

UNKNOWN = "????-??-?? ??:??"
"""What stands where a host wrote no time."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_OFFSET = re.compile(r"([+-])([01][0-9]|2[0-3]):([0-5][0-9])")


@lru_cache(maxsize=64)
def zone_of(name: str) -> tzinfo:
    """The zone that a ledger names: ``UTC``, an offset such as ``+02:00``, or a name of the zone database.

    A name this machine does not know is read as UTC: a ledger must open everywhere.
    """
    if name == "UTC":
        return UTC
    if found := _OFFSET.fullmatch(name):
        away = timedelta(hours=int(found[2]), minutes=int(found[3]))
        return timezone(away if found[1] == "+" else -away)
    try:
        from zoneinfo import ZoneInfo

        return ZoneInfo(name)
    except (KeyError, OSError, ValueError, ImportError):
        return UTC


def written(at: int | None, zone: str = "UTC") -> str:
    """A moment (milliseconds since 1970 UTC) as ``YYYY-MM-DD HH:MM`` of a zone; question marks for None."""
    if at is None:
        return UNKNOWN
    try:
        moment = (_EPOCH + at * _MILLISECOND).astimezone(zone_of(zone))
    except OverflowError:
        return UNKNOWN
    return f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d} {moment.hour:02d}:{moment.minute:02d}"


def instant(text: str) -> int | None:
    """The moment a ledger's time means, in milliseconds since 1970 UTC; None where it is no time.

    A time without a zone counts as UTC: only records of other writers lack a moment of their own.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // _MILLISECOND
    except (ValueError, OverflowError):
        return None
