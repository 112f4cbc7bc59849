"""The embedded backend through its public verbs: how much it finds, and how long it takes."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path

from _plain_bm25 import PlainBm25
from _recordings import DATA, LOCOMO, PI_SESSIONS, Conversation, Turn, locomo, pi, pi_turns
from _row import Row, median, p95

from hindbrain.contracts import Budget, RecallQuery, RetainItem
from hindbrain.store import EmbeddedBackend
from hindbrain.store._cut import cut

_TOP = 10
_MANY_TOKENS = 100_000
_FACTS = (10_000, 100_000)
_LIMIT_MS = {10_000: 30, 100_000: 60}
_AUTOMATIC = 800
_QUESTIONS = 200
_WARM_UP = 10
_RETAINS = 3
_DOCUMENT = 500
_COMMON = """
the to of and a in is that for it you with on this be are as have not or we can but was at if from so do an will
"""


def run() -> Iterable[Row]:
    """All rows; those that need recordings are left out where there are none."""
    if LOCOMO.exists():
        yield _found("embedded.locomo.recall10", locomo(), "value >= 0.73 and x bm25 > 1")
    if all((DATA / name).exists() for name in PI_SESSIONS):
        yield _found("embedded.pi.recall10", pi(), "x bm25 > 1")
        yield _retained()
    for facts in _FACTS:
        yield from _speed(facts)


def _item(document: str, turns: list[Turn]) -> RetainItem:
    return RetainItem(content=json.dumps(turns, ensure_ascii=False, indent=2), document_id=document)


async def _with_backend(work: Callable[[EmbeddedBackend], Awaitable[None]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        backend = EmbeddedBackend(Path(folder) / "banks")
        try:
            await work(backend)
        finally:
            await backend.close()


def _share(evidence: frozenset[str], found: Iterable[str]) -> float:
    return len(evidence & set(found)) / len(evidence)


def _found(name: str, conversations: Iterable[Conversation], bar: str) -> Row:
    """Recall@10 of evidence turns, beside plain BM25 over the same facts."""
    ours: list[float] = []
    plain: list[float] = []

    async def ask(backend: EmbeddedBackend) -> None:
        for talk in conversations:
            for document, turns in talk.documents.items():
                await backend.retain(talk.name, _item(document, turns), operation_id=str(uuid.uuid4()))
            pieces = [
                piece for turns in talk.documents.values() for piece in cut(json.dumps(turns), None, lambda text: text)
            ]
            peer = PlainBm25([f"{piece.role}: {piece.text}" for piece in pieces])
            for question in talk.questions:
                query = RecallQuery(text=question.text, max_tokens=_MANY_TOKENS)
                recall = await backend.recall(talk.name, query)
                ours.append(_share(question.evidence, (f.metadata["entry"] for f in recall.facts[:_TOP])))
                plain.append(_share(question.evidence, (pieces[n].entry or "" for n in peer.best(question.text, _TOP))))

    asyncio.run(_with_backend(ask))
    value, peer = (round(sum(shares) / len(shares), 4) for shares in (ours, plain))
    return Row(name=name, value=value, unit="share", runs=1, peers={"bm25": peer}, bar=bar)


def _retained() -> Row:
    """The larger session, retained whole."""
    samples: list[float] = []
    item = _item("session", pi_turns(DATA / PI_SESSIONS[0]))

    async def retain(backend: EmbeddedBackend) -> None:
        started = time.perf_counter()
        await backend.retain("bank", item, operation_id=str(uuid.uuid4()))
        samples.append(time.perf_counter() - started)

    for _ in range(_RETAINS):
        asyncio.run(_with_backend(retain))
    name = "embedded.retain.session"
    return Row(name=name, value=median(samples), unit="s", runs=_RETAINS, bar="value <= 3")


class _Talk:
    """Made-up speech with the word frequencies of real speech (Zipf), from a fixed seed."""

    def __init__(self) -> None:
        self._random = random.Random(7)  # noqa: S311  (repeatable, not secret)
        self._words = [self._word(n) for n in range(30_000)]
        self._weights = list(itertools.accumulate(1 / (n + 2.7) for n in range(len(self._words))))

    def _word(self, n: int) -> str:
        parts = ["ka", "mo", "ri", "te", "su", "lan", "ver", "dop", "fi", "gru"]
        return "".join(parts[int(digit)] for digit in str(n)) if n >= 30 else self._common(n)

    def _common(self, n: int) -> str:
        return _COMMON.split()[n]

    def text(self, low: int, high: int) -> str:
        """Between ``low`` and ``high`` words."""
        count = self._random.randint(low, high)
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=count))

    def turns(self, facts: int) -> Iterator[list[Turn]]:
        """Documents that hold ``facts`` facts in all."""
        for start in range(0, facts, _DOCUMENT):
            yield [
                {"role": ("user", "assistant")[n % 2], "timestamp": "2026-01-01T00:00:00Z", "content": self.text(8, 60)}
                for n in range(start, min(facts, start + _DOCUMENT))
            ]

    def automatic(self) -> str:
        """A query as a host builds it by itself: the newest words of a conversation."""
        return self.text(200, 200)[:_AUTOMATIC]


def _speed(facts: int) -> Iterator[Row]:
    """p95 of questions and of long automatic queries on a bank of this many facts."""
    talk = _Talk()
    samples: dict[str, list[float]] = {"questions": [], "automatic": []}

    async def ask(backend: EmbeddedBackend) -> None:
        for number, turns in enumerate(talk.turns(facts)):
            await backend.retain("bank", _item(f"document-{number}", turns), operation_id=str(uuid.uuid4()))
        for number in range(_QUESTIONS + _WARM_UP):
            for kind, text in (("questions", talk.text(5, 14)), ("automatic", talk.automatic())):
                query = RecallQuery(text=text, budget=Budget.MID)
                started = time.perf_counter()
                await backend.recall("bank", query)
                if number >= _WARM_UP:
                    samples[kind].append((time.perf_counter() - started) * 1000)

    asyncio.run(_with_backend(ask))
    for kind, taken in samples.items():
        name = f"embedded.recall.{facts // 1000}k.{kind}"
        yield Row(name=name, value=p95(taken), unit="ms", runs=len(taken), bar=f"value <= {_LIMIT_MS[facts]}")
