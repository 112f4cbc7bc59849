"""From a status that is not 2xx to an error class. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from hindbrain.client._answers import is_own_refusal
from hindbrain.client._errors import (
    ConflictError,
    HttpError,
    NotFoundError,
    RedirectError,
    StatusError,
    UnauthorizedError,
    WrongEndpointError,
)

_SECONDS = re.compile(r"[0-9]{1,9}")


def error_for(status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> StatusError:
    """The error a refusal stands for. ``headers`` have lower-case names; nothing of ``body`` reaches the error.

    Source: decisions.md, "Four verbs and the client" (classification).
    """
    match status:
        case 401 | 403:
            return UnauthorizedError(status)
        case 404:
            return NotFoundError(status) if is_own_refusal(body) else WrongEndpointError(status)
        case 409:
            return ConflictError(status)
        case _ if 300 <= status < 400:  # noqa: PLR2004  (the class of a status)
            return RedirectError(status)
        case _:
            return HttpError(status, retry_after=retry_after(headers.get("retry-after"), now))


def retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds to wait, from whole seconds or an HTTP date; None where it says neither. Never negative."""
    if value is None:
        return None
    text = value.strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    from email.utils import parsedate_to_datetime

    try:
        then = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (then.replace(tzinfo=then.tzinfo or UTC) - now).total_seconds())
