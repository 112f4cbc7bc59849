"""Times as hosts write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_FIRST, _LAST = -62_104_060_800_000, 253_370_764_799_999
"""The years 2 to 9998: a server takes 1 and 9999 for placeholders, and no text of ours can hold what lies beyond."""


def milliseconds(written: float | str | None) -> int | None:
    """ISO 8601 text or a number of milliseconds as whole milliseconds since 1970 UTC.

    Text without a zone is UTC. None where nothing was written, where it is no time, or outside the years 2 to 9998.

    Source: captures a082 and a083 (the placeholders).
    """
    if written is None:
        return None
    if not isinstance(written, str):
        return int(written) if 0 <= written <= _LAST else None
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return None
    at = ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // _MILLISECOND
    return at if _FIRST <= at <= _LAST else None
