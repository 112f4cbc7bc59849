"""Times as hosts write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_LAST = 8_640_000_000_000_000
"""The last millisecond a JavaScript date can hold."""


def milliseconds(written: float | str | None) -> int | None:
    """ISO 8601 text or a number of milliseconds as whole milliseconds since 1970 UTC.

    Text without a zone is UTC. None where nothing was written or where it is no time.
    """
    if written is None:
        return None
    if not isinstance(written, str):
        return int(written) if 0 <= written <= _LAST else None
    try:
        moment = datetime.fromisoformat(written)
        return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // _MILLISECOND
    except (ValueError, OverflowError):
        return None
