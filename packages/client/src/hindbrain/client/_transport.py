"""The seam to the network, and its one implementation: the only module that knows httpx (and aiohttp)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from hindbrain.client._config import TransportKind
from hindbrain.client._errors import MissingExtraError, NetworkError
from hindbrain.client._routes import WireRequest
from hindbrain.contracts import Endpoint

if TYPE_CHECKING:
    import ssl

    import httpx


_KEPT = 4
"""Idle connections that httpx keeps: it looks at each of them twice a call, at 20 microseconds each."""


class WireResponse(Protocol):
    """The head of an answer, and its body still on the way."""

    @property
    def status(self) -> int:
        """The status code."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers by lower-case name."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes, not decoded.

        Raises:
            NetworkError: the connection broke.
        """
        ...

    async def close(self) -> None:
        """Let go of the connection; a body that was not read to its end closes it. Never raises."""
        ...


class Transport(Protocol):
    """What carries a request to the one endpoint it is bound to. It takes no method, no path and no other host."""

    async def send(self, request: WireRequest) -> WireResponse:
        """Send it and wait for the head of the answer. Redirects are answers, never followed.

        Raises:
            NetworkError: no answer came. Nothing of what the network library said is kept.
        """
        ...

    async def close(self) -> None:
        """Close every connection. Idempotent."""
        ...


class HttpxTransport:
    """One shared httpx transport, built with the first request; no proxy, cookie, redirect or environment.

    httpx's client is left out on purpose: its transport alone does all that four routes need, in less time.

    Args:
        endpoint: where every request goes.
        kind: httpx's own connections, or aiohttp's through ``httpx-aiohttp``.
        connections: the most connections open at once.
        tls: the certificates to trust; None means the usual public ones.
    """

    def __init__(
        self, endpoint: Endpoint, *, kind: TransportKind, connections: int, tls: ssl.SSLContext | None = None
    ) -> None:
        self._endpoint = endpoint
        self._kind = kind
        self._connections = connections
        self._tls = tls
        self._inner: httpx.AsyncBaseTransport | None = None

    async def send(self, request: WireRequest) -> WireResponse:
        """See :meth:`Transport.send`."""
        import httpx

        if self._inner is None:
            self._inner = self._build()
        with suppress(Exception):  # whatever it says may echo the URL or a header
            wire = httpx.Request(
                request.route.method,
                _url(self._endpoint.url + request.path),
                headers=request.headers,
                content=request.body,
            )
            return _HttpxResponse(await self._inner.handle_async_request(wire))
        raise NetworkError

    async def close(self) -> None:
        """See :meth:`Transport.close`."""
        inner, self._inner = self._inner, None
        if inner is not None:
            with suppress(Exception):  # a connection that is broken already is closed
                await inner.aclose()

    def _build(self) -> httpx.AsyncBaseTransport:
        import httpx

        tls = self._tls or _trust(self._endpoint)
        if self._kind is TransportKind.AIOHTTP:
            return _aiohttp(tls, self._connections)
        limits = httpx.Limits(
            max_connections=self._connections, max_keepalive_connections=min(self._connections, _KEPT)
        )
        return httpx.AsyncHTTPTransport(verify=tls, trust_env=False, limits=limits)


@lru_cache(maxsize=64)
def _url(text: str) -> httpx.URL:
    """The URL, parsed. Retain and recall have one URL a bank, and parsing it again is a tenth of a fast call."""
    import httpx

    return httpx.URL(text)


def _trust(endpoint: Endpoint) -> ssl.SSLContext:
    """The certificates to trust. Reading the public ones takes 20 ms, so plain http to loopback gets none."""
    if endpoint.origin.startswith("https:"):
        import httpx

        return httpx.create_ssl_context(trust_env=False)
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _aiohttp(tls: ssl.SSLContext, connections: int) -> httpx.AsyncBaseTransport:
    try:
        import aiohttp
        import httpx_aiohttp
    except ImportError:
        missing = True
    else:
        missing = False
    if missing:
        raise MissingExtraError("fast")
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=tls, limit=connections),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        timeout=aiohttp.ClientTimeout(total=None),
    )
    return httpx_aiohttp.AiohttpTransport(verify=tls, trust_env=False, client=session)


class _HttpxResponse:
    """An httpx response read without its decoders."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers

    async def chunks(self) -> AsyncIterator[bytes]:
        """See :meth:`WireResponse.chunks`."""
        with suppress(Exception):
            async for chunk in self._response.stream:  # type: ignore[union-attr]  # always the async kind here
                yield chunk
            return
        raise NetworkError

    async def close(self) -> None:
        """See :meth:`WireResponse.close`."""
        with suppress(Exception):
            await self._response.stream.aclose()  # type: ignore[union-attr]  # always the async kind here
