"""The client: four verbs, each building the one request its route allows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self, TypeVar

from attrs import frozen

from hindbrain.client._answers import read_deleted, read_operation, read_recall, read_retained
from hindbrain.client._bodies import recall_body, retain_body
from hindbrain.client._classify import error_for
from hindbrain.client._config import ClientConfig
from hindbrain.client._errors import ClosedError, DeadlineError, InvalidResponseError, NotFoundError
from hindbrain.client._retry import with_retries
from hindbrain.client._routes import Route, WireRequest
from hindbrain.client._tokens import read_token
from hindbrain.client._transport import HttpxTransport, Transport, WireResponse
from hindbrain.contracts import (
    Deleted,
    Endpoint,
    NoAuth,
    Operation,
    OperationStatus,
    Recall,
    RecallQuery,
    Retained,
    RetainItem,
    TokenPolicy,
    check_bank,
    check_document_id,
    check_operation_id,
    scrub,
)

if TYPE_CHECKING:
    import ssl

T = TypeVar("T")


@frozen
class _Answer:
    """A 2xx answer, read whole."""

    status: int
    body: bytes


class HindsightClient:
    """A memory on a Hindsight server, through four fixed routes and no other.

    It implements :class:`hindbrain.contracts.Backend`. One client serves one endpoint and one event loop; connections
    open with the first call and are shared by all. Use it as an async context manager, or call :meth:`close`.

    Args:
        endpoint: where every request goes; nothing is ever sent elsewhere, so the token is bound to its origin.
        token: where the key comes from; it is read anew for each request.
        config: deadline, calls in flight, transport, retries.
        tls: certificates to trust instead of the public ones, for a server with a certificate of its own.
        transport: the seam for tests; it must carry requests to ``endpoint`` only.

    All verbs raise only :class:`~hindbrain.contracts.BackendError`: ``BackendRequestError`` before anything is sent,
    :class:`ClientError` after. Cancelling the caller cancels the request, and the cancellation comes through as itself.

    Source: seed 002; decisions.md, "Four verbs and the client".
    """

    def __init__(
        self,
        endpoint: Endpoint,
        token: TokenPolicy = NoAuth(),  # noqa: B008  (a frozen value)
        config: ClientConfig = ClientConfig(),  # noqa: B008  (a frozen value)
        *,
        tls: ssl.SSLContext | None = None,
        transport: Transport | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._token = token
        self._config = config
        self._transport = transport or HttpxTransport(
            endpoint, kind=config.transport, connections=config.max_in_flight, tls=tls
        )
        self._slots = asyncio.Semaphore(config.max_in_flight)
        self._clean: Callable[[str], str] = scrub if config.scrub else str
        self._closed = False

    def __repr__(self) -> str:
        return f"HindsightClient({self._endpoint.origin!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection. Idempotent; the four verbs are refused afterwards."""
        self._closed = True
        await self._transport.close()

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        """Have one text accepted. It becomes searchable later: :meth:`status` tells when.

        The answer's ``operation_id`` is the server's, which may differ from the one sent. Never retried here: the same
        call may be made again with the same id, and does nothing new.

        Raises:
            ConflictError: the id is in use; only :meth:`status` in this bank tells whether by this text.
            ClientError: anything else; its ``outcome`` tells whether the text may have been taken.

        Source: S2-retain-006; captures a048 to a055.
        """
        body = retain_body(item, check_operation_id(operation_id), clean=self._clean)
        answer = await self._send(Route.RETAIN, bank, body=body)
        return _read(answer, lambda: read_retained(answer.body))

    async def status(self, bank: str, operation_id: str) -> Operation:
        """Say where a retain stands. An id the bank does not know is ``not_found``, and so is one of another bank.

        Source: captures a112 and a115; spec/facts.md section 1.
        """
        known = check_operation_id(operation_id)
        try:
            answer = await self._send_again(Route.STATUS, bank, subject=known)
        except NotFoundError:
            return Operation(operation_id=known, status=OperationStatus.NOT_FOUND)
        return _read(answer, lambda: read_operation(answer.body, known))

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        """Find facts, best first. A bank that does not exist finds nothing; a query without a word is not sent.

        Facts outside the query's tag filter are dropped here too, whatever the server sent.

        Source: captures a016, a134 to a160.
        """
        check_bank(bank)
        if not query.askable:
            return Recall()
        try:
            answer = await self._send_again(Route.RECALL, bank, body=recall_body(query, clean=self._clean))
        except NotFoundError:
            return Recall()
        return _read(answer, lambda: read_recall(answer.body, query))

    async def delete(self, bank: str, document_id: str) -> Deleted:
        """Delete one document and its facts. Not there (any more) is ``found=False``, as is a bank that is unknown.

        Source: captures a018, a179, a180.
        """
        try:
            answer = await self._send(Route.DELETE, bank, subject=check_document_id(document_id))
        except NotFoundError:
            return Deleted(found=False)
        return _read(answer, lambda: read_deleted(answer.body))

    async def _send_again(self, route: Route, bank: str, *, subject: str = "", body: bytes | None = None) -> _Answer:
        return await with_retries(self._config.retry, lambda: self._send(route, bank, subject=subject, body=body))

    async def _send(self, route: Route, bank: str, *, subject: str = "", body: bytes | None = None) -> _Answer:
        """One attempt of one route, under one deadline for everything from the token to the last byte."""
        check_bank(bank)
        if self._closed:
            raise ClosedError
        with suppress(TimeoutError):
            async with asyncio.timeout(self._config.deadline):
                token = await read_token(self._token)
                request = WireRequest(route=route, bank=bank, subject=subject, body=body, token=token)
                async with self._slots:
                    return await self._exchange(request)
        raise DeadlineError(round(self._config.deadline * 1_000))

    async def _exchange(self, request: WireRequest) -> _Answer:
        response = await self._transport.send(request)
        try:
            body = await _capped(response, request.route.cap)
        finally:
            await response.close()
        if not 200 <= response.status < 300:  # noqa: PLR2004  (the class of a status)
            raise error_for(response.status, response.headers, body, datetime.now(UTC))
        return _Answer(response.status, body)


async def _capped(response: WireResponse, cap: int) -> bytes:
    """The body, read no further than the cap, and never decoded: what comes compressed will not parse.

    Source: S2-errors-014; spec/facts.md section 1.
    """
    declared = response.headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > 18 or int(declared) > cap):  # noqa: PLR2004  (no int is that long)
        raise InvalidResponseError(response.status, cap=cap)
    body = bytearray()
    async for chunk in response.chunks():
        body += chunk
        if len(body) > cap:
            raise InvalidResponseError(response.status, cap=cap)
    return bytes(body)


def _read(answer: _Answer, read: Callable[[], T]) -> T:
    with suppress(ValueError):  # its text quotes the answer
        return read()
    raise InvalidResponseError(answer.status)
