"""A stored recall read back, and the memory in it that a person means."""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import field, frozen

from hindbrain.contracts import JsonValue
from hindbrain.memory._quality import fold

_NUMBER = re.compile(r"\s*(\d{1,6})\.?\s*")
_NUMBERED = re.compile(r"\s*(?:\d{1,6}\.|- evidence:)\s+")
_LEAST = 4
"""Fewer characters of a line than this say nothing."""


@frozen(kw_only=True)
class Recalled:
    """One candidate of a stored recall. ``line`` is its number in the injected block, None where it was not shown.

    ``scores`` holds those that were told. A source fact has no line, no scores and no reasons.
    """

    id: str
    text: str = field(repr=False)
    bank: str
    type: str | None = None
    document_id: str | None = None
    source_ids: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(factory=dict)
    reasons: tuple[str, ...] = ()
    line: int | None = None


@frozen(kw_only=True)
class StoredRecall:
    """A stored recall: the moment (ISO 8601), the query, the candidates, the source facts by id, and what failed.

    ``failures`` holds bank and code; ``failed`` counts the banks that gave no answer, named or not.
    """

    at: str
    session: str | None = None
    query: str = field(default="", repr=False)
    candidates: tuple[Recalled, ...] = ()
    sources: Mapping[str, Recalled] = field(factory=dict)
    failures: tuple[tuple[str, str], ...] = ()
    failed: int = 0

    def find(self, wanted: str) -> tuple[Recalled, ...]:
        """The memories that are meant: by id, by number of the line, by the line's text, or by a part of it.

        The first of these that fits anything decides; a line that was shown goes before one that was not. Several fit
        only where a text does not tell them apart.
        """
        everything = (*self.candidates, *self.sources.values())
        number = _NUMBER.fullmatch(wanted)
        words = fold(_NUMBERED.sub("", wanted, count=1))
        ways = (
            [each for each in everything if each.id == wanted.strip()],
            [each for each in self.candidates if number and each.line == int(number[1])],
            [each for each in everything if words and fold(each.text) == words],
            [each for each in everything if len(words) >= _LEAST and words in fold(each.text)],
        )
        found = next(filter(None, ways), [])
        shown = [each for each in found if each.line is not None]
        return tuple({each.id: each for each in reversed(shown or found)}.values())[::-1]


def read_recall(body: Mapping[str, JsonValue]) -> StoredRecall:
    """The values in a stored recall; whatever in it has not the form it should is left out.

    Source: spec/memory.md section 5.5; ``recall_snapshot`` writes it.
    """
    blocks = _objects(body.get("blocks"))
    failures = _objects(body.get("failures"))
    failed = body.get("failed")
    sources = [found for each in _objects(body.get("sources")) if (found := _recalled(each, "")) is not None]
    return StoredRecall(
        at=_text(body.get("createdAt")) or "",
        session=_text(body.get("sessionId")),
        query=_text(body.get("query")) or "",
        candidates=tuple(
            found
            for block in blocks
            for each in _objects(block.get("results"))
            if (found := _recalled(each, _text(block.get("bankId")) or "")) is not None
        ),
        sources={each.id: each for each in sources},
        failures=tuple((_text(each.get("bankId")) or "", _text(each.get("error")) or "") for each in failures),
        failed=failed if isinstance(failed, int) else len(failures),
    )


def _recalled(value: Mapping[str, JsonValue], bank: str) -> Recalled | None:
    id_, text, line = _text(value.get("id")), _text(value.get("text")), value.get("line")
    if not id_ or text is None:
        return None
    scores = value.get("scores")
    return Recalled(
        id=id_,
        text=text,
        bank=bank,
        type=_text(value.get("type")),
        document_id=_text(value.get("documentId")),
        source_ids=_texts(value.get("sourceFactIds")),
        scores={k: v for k, v in scores.items() if isinstance(v, int | float)} if isinstance(scores, dict) else {},
        reasons=_texts(value.get("reasons")),
        line=line if isinstance(line, int) else None,
    )


def _objects(value: JsonValue) -> list[dict[str, JsonValue]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _texts(value: JsonValue) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
