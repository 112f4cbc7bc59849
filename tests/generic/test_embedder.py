from __future__ import annotations

import json
from collections.abc import Callable

import httpx
import pytest

from hindbrain.contracts import Endpoint, EnvToken
from hindbrain.generic import EmbeddingError, OpenAIEmbedder

Answer = Callable[[httpx.Request], httpx.Response]


def embedder(answer: Answer, **kw: object) -> OpenAIEmbedder:
    return OpenAIEmbedder(
        Endpoint.parse("http://127.0.0.1:1/v1"),
        "m",
        transport=httpx.MockTransport(answer),
        **kw,  # type: ignore[arg-type]  # the tests name real arguments
    )


def rows(*vectors: list[float], order: list[int] | None = None) -> dict[str, object]:
    data = [{"index": i, "embedding": v} for i, v in enumerate(vectors)]
    return {"data": [data[i] for i in order] if order else data}


async def test_vectors_come_back_in_the_order_of_the_texts() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=rows([1.0, 0.0], [0.0, 1.0], order=[1, 0]))

    model = embedder(answer)
    assert await model.embed(["a", "b"]) == [[1.0, 0.0], [0.0, 1.0]]
    assert (model.dimension, model.name) == (2, "m@http://127.0.0.1:1/v1")
    assert seen[0].url == "http://127.0.0.1:1/v1/embeddings"
    assert "authorization" not in seen[0].headers
    await model.close()
    await model.close()


async def test_many_texts_go_in_batches() -> None:
    sizes: list[int] = []

    def answer(request: httpx.Request) -> httpx.Response:
        texts = json.loads(request.content)["input"]
        sizes.append(len(texts))
        return httpx.Response(200, json=rows(*[[1.0]] * len(texts)))

    assert len(await embedder(answer).embed(["x"] * 150)) == 150
    assert sizes == [64, 64, 22]


async def test_a_secret_does_not_leave_and_the_key_goes_in_the_header(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", "k-1secret")
    secret = "ghp_" + "a1B2" * 10
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=rows([1.0]))

    await embedder(answer, token=EnvToken("MY_KEY")).embed([f"use {secret}"])
    assert secret.encode() not in seen[0].content
    assert seen[0].headers["authorization"] == "Bearer k-1secret"


@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(500, text="private words"),
        httpx.Response(302, headers={"location": "http://other.example/"}),
        httpx.Response(200, text="private words"),
        httpx.Response(200, json={"data": []}),
        httpx.Response(200, json=rows([])),
        httpx.Response(200, json={"data": [{"index": 7, "embedding": [1.0]}]}),
        httpx.Response(200, text='{"data": [{"index": 0, "embedding": [NaN]}]}'),
    ],
    ids=["500", "redirect", "not json", "none", "empty vector", "wrong index", "nan"],
)
async def test_an_answer_of_another_shape_is_one_error_that_repeats_nothing(response: httpx.Response) -> None:
    with pytest.raises(EmbeddingError) as caught:
        await embedder(lambda _request: response).embed(["x"])
    assert "private words" not in str(caught.value)


async def test_vectors_of_another_length_than_before_are_refused() -> None:
    answers = iter([rows([1.0]), rows([1.0, 2.0])])
    model = embedder(lambda _request: httpx.Response(200, json=next(answers)))
    await model.embed(["x"])
    with pytest.raises(EmbeddingError, match="different lengths"):
        await model.embed(["x"])


async def test_a_server_that_cannot_be_reached_is_an_embedding_error() -> None:
    def answer(_request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("private words")

    with pytest.raises(EmbeddingError, match="could not be reached"):
        await embedder(answer).embed(["x"])


async def test_a_server_that_hangs_is_given_up_at_the_deadline() -> None:
    class Hanging(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            import asyncio

            await asyncio.get_running_loop().create_future()
            return httpx.Response(200, request=request)

    model = OpenAIEmbedder(Endpoint.parse("http://127.0.0.1:1/v1"), "m", transport=Hanging(), deadline=0.01)
    with pytest.raises(EmbeddingError, match="no answer within"):
        await model.embed(["x"])


async def test_an_answer_that_never_ends_is_cut_off() -> None:
    endless = httpx.Response(200, content=b"x" * (65 * 1024 * 1024))
    with pytest.raises(EmbeddingError, match="too large"):
        await embedder(lambda _request: endless).embed(["x"])
