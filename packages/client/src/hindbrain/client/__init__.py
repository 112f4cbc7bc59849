"""A strict, small Hindsight client: four routes and no way to build a fifth."""

from hindbrain.client._client import HindsightClient
from hindbrain.client._config import ClientConfig, RetryPolicy, TransportKind, deadline_from_ms
from hindbrain.client._errors import (
    ClientError,
    ClosedError,
    ConflictError,
    DeadlineError,
    HttpError,
    InvalidResponseError,
    MissingExtraError,
    NetworkError,
    NotFoundError,
    RedirectError,
    RefusedError,
    StatusError,
    TokenFault,
    TokenUnavailableError,
    TooLargeError,
    UnauthorizedError,
    UnsendableError,
    WrongEndpointError,
)
from hindbrain.client._retry import no_waiting
from hindbrain.client._routes import Route, WireRequest
from hindbrain.client._tokens import read_token
from hindbrain.client._transport import Transport, WireResponse

__all__ = [
    "ClientConfig",
    "ClientError",
    "ClosedError",
    "ConflictError",
    "DeadlineError",
    "HindsightClient",
    "HttpError",
    "InvalidResponseError",
    "MissingExtraError",
    "NetworkError",
    "NotFoundError",
    "RedirectError",
    "RefusedError",
    "RetryPolicy",
    "Route",
    "StatusError",
    "TokenFault",
    "TokenUnavailableError",
    "TooLargeError",
    "Transport",
    "TransportKind",
    "UnauthorizedError",
    "UnsendableError",
    "WireRequest",
    "WireResponse",
    "WrongEndpointError",
    "deadline_from_ms",
    "no_waiting",
    "read_token",
]
