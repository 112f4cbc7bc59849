"""An embedding model behind an OpenAI-compatible endpoint, under the usual address and token policy."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from hindbrain.contracts import Endpoint, HindbrainError, NoAuth, TokenPolicy, scrub
from hindbrain.generic._poster import NoAnswerError, Poster

if TYPE_CHECKING:
    import httpx

_BATCH = 64
_OK = 200


class EmbeddingError(HindbrainError):
    """The embedding model gave no vectors. The store goes on with words alone."""

    code = "embedding"

    def __init__(self, why: str) -> None:
        super().__init__(f"The embedding model gave no vectors: {why}.", next_step="Check embedder.* and the server.")


class OpenAIEmbedder:
    """Implements the ``Embedder`` port over ``POST /embeddings``.

    Texts are scrubbed before they leave. The vectors' length is that of the first answer; another length is an error.

    Args:
        endpoint: the address up to and with ``/v1``.
        model: the model's name there; it names the vectors, so those of another model are never compared.
        token: where the key comes from; read at each request.
        deadline: seconds one request may take in all.
        transport: for tests.

    Source: the wire format of the OpenAI embeddings route, checked against the loopback model of scripts/live.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        *,
        token: TokenPolicy = NoAuth(),  # noqa: B008  (a frozen value)
        deadline: float = 12.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._poster = Poster(endpoint, token=token, deadline=deadline, transport=transport)
        self._model = model
        self._dimension = 0

    @property
    def name(self) -> str:
        """Model and address, which together identify the vectors."""
        return f"{self._model}@{self._poster.url}"

    @property
    def dimension(self) -> int:
        """The length of each vector; 0 before the first answer."""
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text, in order.

        Raises:
            EmbeddingError: no answer in time, a refusal, or an answer of another shape. It repeats nothing of either.
        """
        vectors: list[list[float]] = []
        for start in range(0, len(texts), _BATCH):
            vectors += await self._batch([scrub(text) or " " for text in texts[start : start + _BATCH]])
        return vectors

    async def close(self) -> None:
        """Close the connections. Idempotent."""
        await self._poster.close()

    async def _batch(self, texts: list[str]) -> list[list[float]]:
        try:
            body = {"model": self._model, "input": texts, "encoding_format": "float"}
            status, raw = await self._poster.post("embeddings", body)
        except NoAnswerError as error:
            raise EmbeddingError(error.why) from None
        if status != _OK:
            raise EmbeddingError(f"it answered {status}")
        vectors = _read(raw, len(texts))
        lengths = {len(vector) for vector in vectors}
        self._dimension = self._dimension or next(iter(lengths))
        if lengths != {self._dimension}:
            raise EmbeddingError("vectors of different lengths came back")
        return vectors


def _read(raw: bytes, count: int) -> list[list[float]]:
    from pydantic import BaseModel, FiniteFloat, ValidationError

    class Row(BaseModel):
        index: int
        embedding: list[FiniteFloat]

    class Answer(BaseModel):
        data: list[Row]

    with suppress(ValidationError):
        rows = sorted(Answer.model_validate_json(raw).data, key=lambda row: row.index)
        if [row.index for row in rows] == list(range(count)) and all(row.embedding for row in rows):
            return [row.embedding for row in rows]
    raise EmbeddingError("its answer was not a list of vectors")
