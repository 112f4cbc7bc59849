"""Vectors as bytes, and the facts nearest to a question. NumPy is used where it is installed."""

from __future__ import annotations

import math
import sqlite3
import sys
from array import array
from collections.abc import Collection, Sequence
from importlib.util import find_spec
from operator import mul

_SLOW_SCAN = 4_000
"""Without NumPy only this many of the newest facts are compared, besides those the words found."""


def packed(vector: Sequence[float]) -> bytes:
    """A vector of length 1 in the same direction, as little-endian 32-bit floats."""
    length = math.sqrt(sum(x * x for x in vector)) or 1.0
    numbers = array("f", (x / length for x in vector))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def unpacked(numbers: bytes) -> array[float]:
    """The other way round."""
    vector = array("f", numbers)
    if sys.byteorder == "big":
        vector.byteswap()
    return vector


def _slow(rows: list[tuple[int, bytes]], question: bytes) -> list[tuple[int, float]]:
    asked = unpacked(question)
    return [(fact, sum(map(mul, asked, unpacked(numbers)))) for fact, numbers in rows]


def _fast(rows: list[tuple[int, bytes]], question: bytes) -> list[tuple[int, float]]:
    import numpy as np

    matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4").reshape(len(rows), -1)
    scores = matrix @ np.frombuffer(question, dtype="<f4")
    return [(row[0], float(score)) for row, score in zip(rows, scores, strict=True)]


def nearest(
    connection: sqlite3.Connection,
    model: str,
    question: bytes,
    *,
    where: str,
    values: Sequence[str],
    found: Collection[int],
    depth: int,
) -> list[tuple[int, float]]:
    """The ``depth`` facts whose vectors point most like the question's, with their cosine, best first.

    ``where`` with ``values`` is an SQL condition on ``fact``; ``found`` are facts to compare in any case.
    """
    fast = find_spec("numpy") is not None
    sql = (
        "SELECT v.fact, v.numbers FROM vector v JOIN fact ON fact.id = v.fact "  # noqa: S608  (our own condition)
        f"WHERE v.model = ? AND length(v.numbers) = ? AND {where} ORDER BY v.fact DESC LIMIT ?"
    )
    limit = -1 if fast else _SLOW_SCAN
    rows = connection.execute(sql, (model, len(question), *values, limit)).fetchall()
    if not fast and len(rows) == _SLOW_SCAN:
        seen = {row[0] for row in rows}
        for fact in found:
            row = connection.execute(
                "SELECT fact, numbers FROM vector WHERE model = ? AND fact = ? AND length(numbers) = ?",
                (model, fact, len(question)),
            ).fetchone()
            if fact not in seen and row is not None:
                rows.append(row)
    scored = (_fast if fast else _slow)(rows, question) if rows else []
    return sorted(scored, key=lambda pair: (-pair[1], -pair[0]))[:depth]
