import pytest

from hindbrain.contracts import (
    BackendError,
    BackendRequestError,
    HindbrainError,
    InvalidValueError,
    OperationConflictError,
    Outcome,
)


def test_an_error_says_what_happened_and_then_what_to_do() -> None:
    error = HindbrainError("The disk is full.", next_step="Free some space.")
    assert str(error) == "The disk is full. Free some space."
    assert (error.what, error.next_step) == ("The disk is full.", "Free some space.")


def test_an_error_without_a_next_step_ends_without_a_blank() -> None:
    assert str(HindbrainError("The disk is full.")) == "The disk is full."


def test_a_refused_value_names_its_field_and_the_expected_form() -> None:
    error = InvalidValueError("port", "a whole number", next_step="Set it.")
    assert str(error) == "port is refused: expected a whole number. Set it."
    assert (error.field, error.expected) == ("port", "a whole number")


@pytest.mark.parametrize(
    ("kind", "code", "outcome"),
    [
        (BackendError, "backend", Outcome.REFUSED),
        (BackendRequestError, "config", Outcome.NOT_SENT),
        (OperationConflictError, "conflict", Outcome.REFUSED),
    ],
)
def test_each_error_of_a_backend_has_a_stable_code_and_says_what_is_known(
    kind: type[BackendError], code: str, outcome: Outcome
) -> None:
    error = kind("No.")
    assert isinstance(error, HindbrainError)
    assert (error.code, error.outcome, error.retryable, error.retry_after) == (code, outcome, False, None)
    assert str(error.outcome) == outcome.value
