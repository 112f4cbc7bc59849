"""Posting JSON to one OpenAI-compatible endpoint, under the usual address and token policy."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hindbrain.contracts import Endpoint, NoAuth, TokenPolicy

if TYPE_CHECKING:
    import httpx

_MOST_BYTES = 64 * 1024 * 1024


class NoAnswerError(Exception):
    """No answer came that can be read. ``why`` says it in words; ``passing`` whether one may come in a moment."""

    def __init__(self, why: str, *, passing: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.passing = passing


class Poster:
    """One endpoint, whose connections are kept.

    Redirects are not followed, and proxies of the environment not used: the token goes to this address or nowhere.

    Args:
        endpoint: the address up to and with ``/v1``.
        token: where the key comes from; read at each request.
        deadline: seconds one request may take in all.
        transport: for tests.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        token: TokenPolicy = NoAuth(),  # noqa: B008  (a frozen value)
        deadline: float,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._token = token
        self._deadline = deadline
        self._transport = transport
        self._client: httpx.AsyncClient | None = None

    @property
    def url(self) -> str:
        """The address."""
        return self._endpoint.url

    async def post(self, route: str, body: object) -> tuple[int, bytes]:
        """The status and the body of the answer.

        Raises:
            NoAnswerError: none came in time, or it was too large. It repeats nothing of it.
            TokenUnavailableError: the key that is named is not there; nothing was sent.
        """
        import httpx

        from hindbrain.client import read_token

        secret = await read_token(self._token)
        headers = {"accept-encoding": "identity"}
        if secret is not None:
            headers["authorization"] = f"Bearer {secret.reveal()}"
        if self._client is None:
            self._client = httpx.AsyncClient(trust_env=False, transport=self._transport, timeout=None)  # noqa: S113  (one total deadline stands around every request)
        try:
            async with asyncio.timeout(self._deadline):
                url = f"{self._endpoint.url}/{route}"
                async with self._client.stream("POST", url, json=body, headers=headers) as answer:
                    return answer.status_code, await _capped(answer)
        except TimeoutError:
            raise NoAnswerError(f"no answer within {self._deadline:g} seconds") from None
        except httpx.HTTPError:
            raise NoAnswerError("it could not be reached", passing=True) from None

    async def close(self) -> None:
        """Close the connections. Idempotent."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


async def _capped(answer: httpx.Response) -> bytes:
    body = bytearray()
    async for chunk in answer.aiter_bytes():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise NoAnswerError("its answer was too large")
    return bytes(body)
