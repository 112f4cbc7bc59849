"""What the client raises. Every text is a fixed template that only a status, a cap or a deadline can enter."""

from __future__ import annotations

from enum import Enum
from typing import ClassVar, Literal

from hindbrain.contracts import BackendError, BackendRequestError, OperationConflictError, Outcome

_GATEWAY = frozenset({502, 504})
_TRY_LATER = frozenset({408, 429})


class ClientError(BackendError):
    """Base of everything a call of the client raises, cancellation apart.

    No constructor takes text, so no message can hold a key, a payload, a URL or another library's words. ``__cause__``
    and ``__context__`` are always None for the same reason.

    Source: spec/facts.md section 1 (secret leakage rules); decisions.md, "Four verbs and the client".
    """

    code = "client"


class RefusedError(ClientError, BackendRequestError):
    """The call was refused in this process; nothing was sent."""

    code = "config"
    outcome = Outcome.NOT_SENT


class TokenFault(Enum):
    """Why a token cannot be used."""

    MISSING = "is not set or not there"
    EXPOSED = "can be read by other users of this machine"
    MALFORMED = "does not hold a token: 1 to 8192 printable ASCII characters on one line"
    UNREADABLE = "cannot be read, or is not a plain file"

    @property
    def next_step(self) -> str:
        """What to do about it."""
        return {
            TokenFault.MISSING: "Set it, or use no token at all (NoAuth) if the server asks for none.",
            TokenFault.EXPOSED: "Take away the rights of group and others: chmod 600.",
            TokenFault.MALFORMED: "Copy the token again, whole and on one line.",
            TokenFault.UNREADABLE: "Let the token policy name a plain file that this user may read.",
        }[self]


class ClosedError(RefusedError):
    """The client is closed."""

    def __init__(self) -> None:
        super().__init__("The client is closed; nothing was sent.", next_step="Open a new one.")


class MissingExtraError(RefusedError):
    """A part that is installed on request only was asked for and is not there. The extra's name is ours."""

    def __init__(self, extra: Literal["fast", "keyring"]) -> None:
        super().__init__(
            f"The extra '{extra}' is not installed; nothing was sent.",
            next_step=f"Install hindbrain-client[{extra}], or change the setting that needs it.",
        )


class TokenUnavailableError(RefusedError):
    """The token policy names a place where there is no usable token. Neither name nor value is repeated."""

    def __init__(self, where: Literal["variable", "file", "keyring"], fault: TokenFault) -> None:
        super().__init__(f"The token's {where} {fault.value}; nothing was sent.", next_step=fault.next_step)
        self.fault = fault


class UnsendableError(RefusedError):
    """The request cannot be written as JSON: half a surrogate pair, or a number that is not finite."""

    def __init__(self) -> None:
        super().__init__(
            "The request holds half a surrogate pair or a number that is not finite; nothing was sent.",
            next_step="Pass well-formed text and finite numbers.",
        )


class TooLargeError(RefusedError):
    """The request is larger than this client sends. A server sets no bound of its own."""

    def __init__(self, cap: int) -> None:
        super().__init__(
            f"The request is larger than {cap} bytes; nothing was sent.", next_step="Retain it in several documents."
        )


class DeadlineError(ClientError):
    """The deadline of one attempt passed."""

    code = "timeout"
    outcome = Outcome.UNKNOWN
    retryable = True

    def __init__(self, deadline_ms: int) -> None:
        super().__init__(
            f"The server gave no complete answer within {deadline_ms} ms; what became of the request is unknown.",
            next_step="Try again; a retain keeps its operation id, so nothing is done twice.",
        )


class NetworkError(ClientError):
    """The server could not be reached, or the connection broke."""

    code = "network"
    outcome = Outcome.UNKNOWN
    retryable = True

    def __init__(self) -> None:
        super().__init__(
            "The server could not be reached or the connection broke; what became of the request is unknown.",
            next_step="Check that the server runs at the configured URL and that its certificate is trusted.",
        )


class InvalidResponseError(ClientError):
    """The answer is not one of the API: wrong JSON, wrong shape, encoded, or over the cap.

    The server may have done the work all the same, so the outcome is unknown.
    """

    code = "invalid-response"
    outcome = Outcome.UNKNOWN

    def __init__(self, status: int, *, cap: int | None = None) -> None:
        why = "is not an answer of the API" if cap is None else f"is longer than {cap} bytes"
        super().__init__(
            f"The server answered {status} with a body that {why}; what became of the request is unknown.",
            next_step="Check that the configured URL is a Hindsight server and no proxy rewrites its answers.",
        )
        self.status = status


class StatusError(ClientError):
    """Base of the answers that are definite: the server said no with a status."""

    code = "http"
    _what: ClassVar[str] = "The server refused the request"
    _next: ClassVar[str] = "Look at the server's own log for the reason."

    def __init__(self, status: int, *, retry_after: float | None = None) -> None:
        super().__init__(f"{self._what} (status {status}).", next_step=self._next)
        self.status = status
        self.retry_after = retry_after


class UnauthorizedError(StatusError):
    """401 or 403: no key, a wrong key, or a key without the right."""

    code = "unauthorized"
    _what = "The server refused the key, or the lack of one"
    _next = "Check the token policy: the variable or file it names, and whether this server knows that key."


class NotFoundError(StatusError):
    """404 in the API's own words. ``status``, ``recall`` and ``delete`` turn it into a value; ``retain`` raises it."""

    code = "not-found"
    _what = "The server does not know what the request names"
    _next = "Check the bank and the id."


class WrongEndpointError(StatusError):
    """404 that is not the API's own: no Hindsight answers under this URL. It says nothing about any record."""

    code = "wrong-endpoint"
    _what = "No Hindsight API answers at the configured URL"
    _next = "Check host, port and path of the URL; a path such as /api belongs in it only behind a proxy."


class ConflictError(StatusError, OperationConflictError):
    """409: the operation id is in use, in this bank or another. Only a status call in this bank decides.

    Source: spec/hindsight-server.md section 4.1 (a052, a054); spec/facts.md, F7.
    """

    code = "conflict"
    outcome = Outcome.UNKNOWN
    _what = "The operation id is in use already, perhaps by another bank"
    _next = "Ask for its status in this bank; if that is not_found, retain again under a new id."


class RedirectError(StatusError):
    """3xx: never followed, so that neither key nor text reaches a host that was not configured."""

    _what = "The server answered with a redirect, which is never followed"
    _next = "Configure the URL it should lead to, if you trust it."


class HttpError(StatusError):
    """Any other status that is not 2xx.

    5xx, 408 and 429 may be tried again. 502 and 504 come from a gateway that may have passed the request on, so their
    outcome is unknown; everything else is definite.

    Source: spec/facts.md section 1 and F8; spec/hindsight-server.md section 3 (outages are 500).
    """

    def __init__(self, status: int, *, retry_after: float | None = None) -> None:
        super().__init__(status, retry_after=retry_after)
        self.retryable = status >= 500 or status in _TRY_LATER  # noqa: PLR2004  (the class of a status)
        self.outcome = Outcome.UNKNOWN if status in _GATEWAY else Outcome.REFUSED
