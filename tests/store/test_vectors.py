"""An embedder adds nearness in meaning, and never stands in the way."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from hindbrain.contracts import RecallQuery, RetainItem
from hindbrain.store import EmbeddedBackend, _vectors
from hindbrain.store._vectors import packed, unpacked

MEANINGS = {"dog": 0, "puppy": 0, "hound": 0, "car": 1, "truck": 1, "bread": 2, "loaf": 2}


class Toy:
    """Counts words by meaning."""

    dimension = 4

    def __init__(self, name: str = "toy-1") -> None:
        self.name = name
        self.broken = False
        self.seen: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if self.broken:
            raise ConnectionError
        self.seen += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0, 0.0, 0.0, 0.01]
        for word in text.lower().replace(".", "").split():
            if word in MEANINGS:
                vector[MEANINGS[word]] += 1
        return vector


@pytest.fixture
def toy() -> Toy:
    return Toy()


@pytest.fixture
async def backend(root: Path, toy: Toy) -> AsyncIterator[EmbeddedBackend]:
    made = EmbeddedBackend(root, embedder=toy)
    yield made
    await made.close()


@pytest.fixture(params=["plain", "numpy"])
def arithmetic(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "plain":
        monkeypatch.setattr(_vectors, "find_spec", lambda _name: None)
    else:
        pytest.importorskip("numpy")


ids = iter(range(10**6))


async def keep(backend: EmbeddedBackend, text: str, **fields: Any) -> None:
    number = next(ids)
    item = RetainItem(content=text, document_id=f"d{number}", **fields)
    await backend.retain("bank", item, operation_id=f"93e33487-6c92-5880-9b29-{number:012d}")


async def texts(backend: EmbeddedBackend, text: str, **fields: Any) -> list[str]:
    return [fact.text for fact in (await backend.recall("bank", RecallQuery(text=text, **fields))).facts]


@pytest.mark.usefixtures("arithmetic")
async def test_what_means_the_same_is_found_without_a_common_word(backend: EmbeddedBackend) -> None:
    await keep(backend, "My hound sleeps.")
    await keep(backend, "The truck is red.")
    recall = await backend.recall("bank", RecallQuery(text="puppy"))
    assert recall.facts[0].text == "My hound sleeps."
    assert recall.facts[0].scores.semantic == pytest.approx(1.0, abs=0.01)
    assert recall.facts[0].scores.keyword is None


@pytest.mark.usefixtures("arithmetic")
async def test_words_and_meaning_together_come_first(backend: EmbeddedBackend) -> None:
    for text in ("The hound barks.", "The dog park is green.", "The park closes."):
        await keep(backend, text)
    assert (await texts(backend, "dog park"))[0] == "The dog park is green."


@pytest.mark.usefixtures("arithmetic")
async def test_meaning_keeps_to_the_tag_filter(backend: EmbeddedBackend) -> None:
    await keep(backend, "My hound sleeps.", tags=("a",))
    await keep(backend, "My dog eats.", tags=("b",))
    assert await texts(backend, "puppy", tags=("b",)) == ["My dog eats."]


async def test_a_broken_embedder_loses_no_fact_and_later_retains_make_up_for_it(
    backend: EmbeddedBackend, toy: Toy
) -> None:
    toy.broken = True
    await keep(backend, "My hound sleeps.")
    assert await texts(backend, "hound") == ["My hound sleeps."]
    toy.broken = False
    await keep(backend, "The truck is red.")
    assert "My hound sleeps." in toy.seen
    assert (await texts(backend, "puppy"))[0] == "My hound sleeps."


async def test_vectors_of_another_model_are_never_compared(root: Path, backend: EmbeddedBackend) -> None:
    await keep(backend, "My hound sleeps.")
    other = EmbeddedBackend(root, embedder=Toy("toy-2"))
    assert await texts(other, "puppy") == []
    await keep(other, "The truck is red.")
    assert (await texts(other, "puppy"))[0] == "My hound sleeps."
    await other.close()


async def test_vectors_go_with_their_document(backend: EmbeddedBackend) -> None:
    await keep(backend, "My hound sleeps.")
    number = next(ids) - 1
    assert (await backend.delete("bank", f"d{number}")).found
    assert await texts(backend, "puppy") == []


async def test_the_slow_way_looks_at_the_newest_and_at_what_words_found(
    backend: EmbeddedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_vectors, "find_spec", lambda _name: None)
    monkeypatch.setattr(_vectors, "_SLOW_SCAN", 1)
    await keep(backend, "My hound sleeps soundly.")
    await keep(backend, "The truck is red.")
    recall = await backend.recall("bank", RecallQuery(text="soundly puppy"))
    assert recall.facts[0].scores.semantic == pytest.approx(1.0, abs=0.01)


def test_a_vector_is_stored_at_length_one() -> None:
    assert math.dist(unpacked(packed([3.0, 4.0])), [0.6, 0.8]) < 1e-6
    assert list(unpacked(packed([0.0, 0.0]))) == [0.0, 0.0]
