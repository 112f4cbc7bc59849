"""Plain BM25 over lower-case words: the peer every ranking is measured beside."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

_WORD = re.compile(r"[a-z0-9']+")
_SMALL = """
a an the of to in is are was were do does did what when where who how which and or for on at with by from it this that
as be has have had not i you he she they we his her their my your me him them
"""
_STOP = frozenset(_SMALL.split())
_K1, _B = 1.2, 0.75


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _STOP]


class PlainBm25:
    """An index of texts in memory."""

    def __init__(self, texts: Sequence[str]) -> None:
        docs = [_words(text) for text in texts]
        self._size = [len(doc) for doc in docs]
        self._mean = sum(self._size) / max(1, len(docs))
        self._found: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, doc in enumerate(docs):
            for word, count in Counter(doc).items():
                self._found[word].append((number, count))

    def best(self, question: str, most: int) -> list[int]:
        """The numbers of the best texts."""
        score: defaultdict[int, float] = defaultdict(float)
        for word in _words(question):
            found = self._found.get(word, [])
            rare = math.log(1 + (len(self._size) - len(found) + 0.5) / (len(found) + 0.5))
            for number, count in found:
                length = 1 - _B + _B * self._size[number] / self._mean
                score[number] += rare * count * (1 + _K1) / (count + _K1 * length)
        return sorted(score, key=lambda number: -score[number])[:most]
