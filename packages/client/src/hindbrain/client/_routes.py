"""The closed table of routes, and the only request that can be built from it."""

from __future__ import annotations

from enum import Enum
from urllib.parse import quote

from attrs import field, frozen

from hindbrain.client._errors import RefusedError
from hindbrain.contracts import Secret, check_bank, check_document_id, check_operation_id


class Route(Enum):
    """The four routes under ``/v1/default/banks/{bank}``: method, rest of the path, cap on the answer in bytes.

    Source: seed 002, "What this feature does not do"; spec/facts.md section 1.
    """

    RETAIN = ("POST", "/memories", 65_536)
    STATUS = ("GET", "/operations/", 65_536)
    RECALL = ("POST", "/memories/recall", 524_288)
    DELETE = ("DELETE", "/documents/", 65_536)

    def __init__(self, method: str, suffix: str, cap: int) -> None:
        self.method = method
        self.suffix = suffix
        self.cap = cap


def encode(segment: str) -> str:
    """One path segment, percent-encoded whole, so that no id can address another route.

    Everything but ``A-Z a-z 0-9 - _ . ! ~ * ' ( )`` becomes ``%XX`` of its UTF-8 bytes. Dots stay, which is why ids
    that are ``.`` or ``..`` are refused before.

    Source: spec/facts.md section 1 and F1.
    """
    return quote(segment, safe="!~*'()")


@frozen(kw_only=True)
class WireRequest:
    """One request of one route. Its ids are checked whenever one is built, so it can express nothing else.

    ``subject`` is the operation id of a status, the document id of a delete, and empty otherwise. ``body`` is JSON in
    UTF-8 or None. ``token`` goes to the endpoint the transport is bound to and nowhere else.

    Raises:
        BackendRequestError: an id is not one, or the route takes no subject.
    """

    route: Route
    bank: str
    subject: str = ""
    body: bytes | None = field(default=None, repr=False)
    token: Secret | None = None

    def __attrs_post_init__(self) -> None:
        check_bank(self.bank)
        match self.route:
            case Route.STATUS:
                check_operation_id(self.subject)
            case Route.DELETE:
                check_document_id(self.subject)
            case _ if self.subject:
                raise RefusedError("This route names no single record; nothing was sent.")

    @property
    def path(self) -> str:
        """The path below the endpoint, percent-encoded."""
        return f"/v1/default/banks/{encode(self.bank)}{self.route.suffix}{encode(self.subject)}"

    @property
    def headers(self) -> list[tuple[str, str]]:
        """The headers that are set on purpose; a transport adds host and length only."""
        headers = [
            ("accept", "application/json"),
            ("accept-encoding", "identity"),
            ("user-agent", "hindbrain-client"),
        ]
        if self.body is not None:
            headers.append(("content-type", "application/json"))
        if self.token is not None:
            headers.append(("authorization", f"Bearer {self.token.reveal()}"))
        return headers
