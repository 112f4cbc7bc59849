import math

import pytest

from hindbrain.client import ClientConfig, RetryPolicy, TransportKind, deadline_from_ms
from hindbrain.contracts import InvalidValueError


@pytest.mark.req("S2-errors-001")
def test_the_deadline_is_twelve_seconds_unless_set() -> None:
    config = ClientConfig()

    assert config.deadline == 12.0
    assert config.transport is TransportKind.HTTPX
    assert config.retry.attempts == 1


@pytest.mark.parametrize(("timeout_ms", "seconds"), [(1000, 1.0), (12_000, 12.0), (60_000, 60.0)])
def test_a_user_sets_one_to_sixty_seconds(timeout_ms: int, seconds: float) -> None:
    assert deadline_from_ms(timeout_ms) == seconds


@pytest.mark.parametrize("timeout_ms", [999, 60_001, 0, -1, True, "5000", 5000.0, math.nan, None])
def test_any_other_timeout_is_refused_without_its_value(timeout_ms: object) -> None:
    with pytest.raises(
        InvalidValueError,
        match=r"^hindsightTimeoutMs is refused: expected a whole number of milliseconds from 1000 to 60000\.$",
    ):
        deadline_from_ms(timeout_ms)


@pytest.mark.parametrize("deadline", [0, -1, 60.1, math.nan, math.inf])
def test_a_deadline_out_of_range_is_refused(deadline: float) -> None:
    with pytest.raises(InvalidValueError):
        ClientConfig(deadline=deadline)


@pytest.mark.parametrize("count", [0, 101, True, 1.5])
def test_a_count_of_calls_in_flight_out_of_range_is_refused(count: int) -> None:
    with pytest.raises(InvalidValueError):
        ClientConfig(max_in_flight=count)


@pytest.mark.parametrize(
    "values", [{"attempts": 0}, {"attempts": 11}, {"attempts": True}, {"initial": 0}, {"initial": 9}, {"maximum": 61}]
)
def test_a_retry_policy_out_of_range_is_refused(values: dict[str, float]) -> None:
    with pytest.raises(InvalidValueError):
        RetryPolicy(**values)  # type: ignore[arg-type]  # the point


def test_an_unknown_transport_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="transport is refused"):
        ClientConfig(transport="curl")
