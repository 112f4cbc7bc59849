from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.client import (
    ConflictError,
    HttpError,
    NotFoundError,
    RedirectError,
    StatusError,
    UnauthorizedError,
    WrongEndpointError,
)
from hindbrain.client._classify import error_for, retry_after
from hindbrain.contracts import OperationConflictError, Outcome

NOW = datetime(2026, 11, 30, 21, 0, tzinfo=UTC)
OWN = b'{"detail": "Document not found"}'


@pytest.mark.parametrize(
    ("status", "body", "kind", "code", "known"),
    [
        (301, b"", RedirectError, "http", (Outcome.REFUSED, False)),
        (302, b"", RedirectError, "http", (Outcome.REFUSED, False)),
        (307, b"", RedirectError, "http", (Outcome.REFUSED, False)),
        (400, OWN, HttpError, "http", (Outcome.REFUSED, False)),
        (401, OWN, UnauthorizedError, "unauthorized", (Outcome.REFUSED, False)),
        (402, OWN, HttpError, "http", (Outcome.REFUSED, False)),
        (403, OWN, UnauthorizedError, "unauthorized", (Outcome.REFUSED, False)),
        (404, OWN, NotFoundError, "not-found", (Outcome.REFUSED, False)),
        (404, b"<html>", WrongEndpointError, "wrong-endpoint", (Outcome.REFUSED, False)),
        (404, b'{"detail": "Not Found"}', WrongEndpointError, "wrong-endpoint", (Outcome.REFUSED, False)),
        (408, b"", HttpError, "http", (Outcome.REFUSED, True)),
        (409, OWN, ConflictError, "conflict", (Outcome.UNKNOWN, False)),
        (410, OWN, HttpError, "http", (Outcome.REFUSED, False)),
        (422, OWN, HttpError, "http", (Outcome.REFUSED, False)),
        (429, OWN, HttpError, "http", (Outcome.REFUSED, True)),
        (500, OWN, HttpError, "http", (Outcome.REFUSED, True)),
        (502, b"", HttpError, "http", (Outcome.UNKNOWN, True)),
        (503, OWN, HttpError, "http", (Outcome.REFUSED, True)),
        (504, b"", HttpError, "http", (Outcome.UNKNOWN, True)),
    ],
)
def test_a_status_has_its_class(
    status: int, body: bytes, kind: type[StatusError], code: str, known: tuple[Outcome, bool]
) -> None:
    error = error_for(status, {}, body, NOW)

    assert type(error) is kind
    assert (error.code, (error.outcome, error.retryable), error.status) == (code, known, status)
    assert str(status) in str(error)
    assert error.next_step


@pytest.mark.req("S2-tests-005")
def test_a_conflict_is_the_one_every_backend_raises_and_not_final() -> None:
    error = error_for(409, {}, b"", NOW)

    assert isinstance(error, OperationConflictError)
    assert error.outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        (" 2 ", 2.0),
        ("30", 30.0),
        ("Mon, 30 Nov 2026 21:00:30 GMT", 30.0),
        ("Mon, 30 Nov 2026 20:59:00 GMT", 0.0),
        ("Mon, 30 Nov 2026 21:00:10 -0000", 10.0),
        ("-1", None),
        ("1.5", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        ("9" * 40, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


@given(st.text(max_size=40))
def test_any_retry_after_gives_a_wait_or_none(value: str) -> None:
    found = retry_after(value, NOW)

    assert found is None or found >= 0


def test_a_busy_server_is_waited_for() -> None:
    error = error_for(503, {"retry-after": "2"}, b"", NOW + timedelta(hours=1))

    assert error.retry_after == 2.0
