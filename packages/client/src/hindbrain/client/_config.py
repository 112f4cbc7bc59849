"""The client's settings as one frozen value."""

from __future__ import annotations

from enum import StrEnum

from attrs import Factory, field, frozen

from hindbrain.contracts import InvalidValueError

DEFAULT_DEADLINE = 12.0
MAX_DEADLINE = 60.0


class TransportKind(StrEnum):
    """What carries the requests."""

    HTTPX = "httpx"
    """httpx's own transport; always there."""
    AIOHTTP = "aiohttp"
    """httpx-aiohttp, of the extra ``fast``: less time per call, more so with many calls at once."""


def _kind(value: str) -> TransportKind:
    if value not in list(TransportKind):
        raise InvalidValueError("transport", "'httpx' or 'aiohttp'")
    return TransportKind(value)


@frozen(kw_only=True)
class RetryPolicy:
    """When ``status`` and ``recall`` are tried again; ``retain`` and ``delete`` never are.

    ``attempts`` counts the first one, so 1 (the default) means no retry. The wait grows at random below a bound that
    doubles from ``initial`` up to ``maximum`` seconds; a ``retry-after`` of the server is kept, and one longer than
    ``maximum`` ends the retries. Each attempt has the whole deadline.

    Raises:
        InvalidValueError: a number is out of range.
    """

    attempts: int = 1
    initial: float = 0.2
    maximum: float = 5.0

    def __attrs_post_init__(self) -> None:
        if not _whole(self.attempts, 1, 10):
            raise InvalidValueError("attempts", "a whole number from 1 to 10")
        if not 0 < self.initial <= self.maximum <= MAX_DEADLINE:
            raise InvalidValueError("initial and maximum", "seconds with 0 < initial <= maximum <= 60")


@frozen(kw_only=True)
class ClientConfig:
    """How calls are made.

    ``deadline`` is the seconds one attempt may take in all: waiting for a free slot, connecting, headers and body.
    A user may set 1 to 60 (:func:`deadline_from_ms`); code may set less. ``max_in_flight`` bounds the requests under
    way at once. ``scrub`` takes secrets out of every text that is sent; switch it off only for texts that were scrubbed
    before.

    Raises:
        InvalidValueError: a number is out of range.
    """

    deadline: float = DEFAULT_DEADLINE
    max_in_flight: int = 8
    transport: TransportKind = field(default=TransportKind.HTTPX, converter=_kind)
    retry: RetryPolicy = Factory(RetryPolicy)
    scrub: bool = True

    def __attrs_post_init__(self) -> None:
        if not 0 < self.deadline <= MAX_DEADLINE:
            raise InvalidValueError("deadline", "seconds above 0 and up to 60")
        if not _whole(self.max_in_flight, 1, 100):
            raise InvalidValueError("max_in_flight", "a whole number from 1 to 100")


def deadline_from_ms(timeout_ms: object) -> float:
    """Seconds from the user's ``hindsightTimeoutMs``.

    Raises:
        InvalidValueError: it is not a whole number from 1000 to 60000. A bool is not a number.

    Source: seed 002, "Configuration".
    """
    if isinstance(timeout_ms, int) and _whole(timeout_ms, 1_000, 60_000):
        return timeout_ms / 1_000
    raise InvalidValueError("hindsightTimeoutMs", "a whole number of milliseconds from 1000 to 60000")


def _whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
