import inspect
import typing

import pytest

import hindbrain.client as door
from hindbrain.client import ClientError, RefusedError, StatusError, TokenFault, _errors
from hindbrain.contracts import BackendError, BackendRequestError, Outcome

CLASSES = [value for value in vars(door).values() if inspect.isclass(value) and issubclass(value, ClientError)]
MAKERS: dict[str, tuple[object, ...]] = {
    "DeadlineError": (50,),
    "InvalidResponseError": (200,),
    "MissingExtraError": ("fast",),
    "TokenUnavailableError": ("file", TokenFault.EXPOSED),
    "TooLargeError": (8,),
}
LEAVES = [c for c in CLASSES if c not in {ClientError, RefusedError, StatusError}]


def made(kind: type[ClientError]) -> ClientError:
    build: typing.Any = kind
    error: ClientError = build(*MAKERS.get(kind.__name__, (404,) if issubclass(kind, StatusError) else ()))
    return error


@pytest.mark.req("S2-auth-010", "S2-tests-009")
@pytest.mark.parametrize("kind", LEAVES)
def test_no_constructor_takes_free_text(kind: type[ClientError]) -> None:
    hints = typing.get_type_hints(kind.__init__, vars(_errors))
    closed = {int, int | None, float | None, TokenFault, type(None)}

    for name, hint in hints.items():
        if name != "return":
            assert hint in closed or typing.get_origin(hint) is typing.Literal


@pytest.mark.parametrize("kind", LEAVES)
def test_each_error_says_what_happened_and_what_to_do(kind: type[ClientError]) -> None:
    error = made(kind)

    assert isinstance(error, BackendError)
    assert error.what.endswith(".")
    assert error.next_step.endswith(".")
    assert inspect.getdoc(kind)


@pytest.mark.parametrize("kind", [c for c in LEAVES if issubclass(c, RefusedError)])
def test_a_local_refusal_is_the_one_every_backend_raises_and_sent_nothing(kind: type[ClientError]) -> None:
    error = made(kind)

    assert isinstance(error, BackendRequestError)
    assert (error.code, error.outcome, error.retryable) == ("config", Outcome.NOT_SENT, False)


def test_each_token_fault_has_a_next_step() -> None:
    assert all(fault.next_step for fault in TokenFault)
