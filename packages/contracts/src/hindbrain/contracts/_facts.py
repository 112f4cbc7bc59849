"""Cutting a text into facts, words and observation scopes without a model: pure functions of their arguments."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from attrs import frozen

from hindbrain.contracts._patterns import compiled
from hindbrain.contracts._transcript import JsonValue

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_SENTENCE_END = r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|[\r\n]+"
_WORD = rf"[{_CJK}]+|[^\W{_CJK}]+"
_IS_CJK = rf"[{_CJK}]"
_MOST_COMBINED = 8


@frozen
class Cut:
    """One fact as it was cut: its words, and when its turn was said (ISO 8601), None where the text does not tell."""

    text: str
    at: str | None = None


def cut(content: str) -> tuple[Cut, ...]:
    """Cut a text into its facts: one a sentence or line that holds a letter or digit.

    A JSON array of turns, ``[{"role": …, "content": text or [{"type": "text", "text": …}], "timestamp": ISO}]``, is cut
    turn by turn; whatever else looks like JSON is text.
    """
    turns = _turns(content)
    if turns is None:
        return tuple(Cut(sentence) for sentence in _sentences(content))
    return tuple(Cut(sentence, turn.at) for turn in turns for sentence in _sentences(turn.text))


def terms(text: str) -> frozenset[str]:
    """Words in lower case; a run of CJK gives its overlapping pairs, since nothing separates its words."""
    found: set[str] = set()
    for run in compiled(_WORD).findall(text.lower()):
        if compiled(_IS_CJK).match(run) and len(run) > 1:
            found.update(run[i : i + 2] for i in range(len(run) - 1))
        else:
            found.add(run)
    return frozenset(found)


def observation_tags(
    tags: tuple[str, ...], scopes: str | tuple[tuple[str, ...], ...] | None
) -> tuple[tuple[str, ...], ...]:
    """Give the tags of each observation that a fact leads to.

    Args:
        tags: the fact's own.
        scopes: as :class:`RetainItem` has them. A row takes its plain tags as they are and widens ``name:*`` to the
            fact's tags that begin so; a row that comes to nothing is left out, and where no row is left the scope is
            ``combined``. Beyond eight tags ``all_combinations`` means each tag alone and all of them together.

    Source: observed on server 1.1.0; the requests are as in captures a038 and a089 to a091.
    """
    if scopes == "shared" or not tags:
        rows: Iterator[tuple[str, ...]] = iter([()])
    elif scopes == "per_tag":
        rows = ((tag,) for tag in tags)
    elif scopes == "all_combinations":
        sizes = range(1, len(tags) + 1) if len(tags) <= _MOST_COMBINED else (1, len(tags))
        rows = (row for size in sizes for row in combinations(tags, size))
    elif scopes is None or isinstance(scopes, str):
        rows = iter([tags])
    else:
        rows = (wide for row in scopes if (wide := _widen(row, tags)))
    return tuple(dict.fromkeys(rows)) or (tags,)


def _widen(row: tuple[str, ...], tags: tuple[str, ...]) -> tuple[str, ...]:
    wide: list[str] = []
    for name in row:
        wide.extend([tag for tag in tags if tag.startswith(name[:-1])] if name.endswith("*") else [name])
    return tuple(dict.fromkeys(wide))


def _sentences(text: str) -> Iterator[str]:
    for piece in compiled(_SENTENCE_END).split(text):
        if any(c.isalnum() for c in piece):
            yield " ".join(piece.split())


def _turns(content: str) -> list[Cut] | None:
    if not content.lstrip().startswith("["):
        return None
    import json

    try:
        rows = json.loads(content)
    except (ValueError, RecursionError):
        return None
    turns = [_turn(row) for row in rows]
    return [turn for turn in turns if turn is not None] if turns and None not in turns else None


def _turn(row: JsonValue) -> Cut | None:
    if not isinstance(row, dict) or not isinstance(row.get("role"), str):
        return None
    said, at = row.get("content"), row.get("timestamp")
    parts = [{"type": "text", "text": said}] if isinstance(said, str) else said
    if not isinstance(parts, list):
        return None
    texts = [p.get("text") for p in parts if isinstance(p, dict) and p.get("type") == "text"]
    return Cut("\n".join(t for t in texts if isinstance(t, str)), at if isinstance(at, str) else None)
