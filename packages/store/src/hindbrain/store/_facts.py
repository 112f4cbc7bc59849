"""From an item to rows: scrubbed, cut, and turned into index words before any lock is taken."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from datetime import datetime

from attrs import field, frozen

from hindbrain.contracts import FactType, RetainItem, observation_tags, scrub
from hindbrain.store._cut import Piece, cut, read_time
from hindbrain.store._words import words

_AGENT_ROLES = frozenset({"assistant", "toolCall", "toolResult", "bashExecution"})


@frozen
class Row:
    """One fact as it is written. ``key`` identifies its text, ``origin`` is JSON of what is known about its source."""

    text: str = field(repr=False)
    turn: int
    type: str
    role: str | None
    key: bytes
    context: str | None
    origin: str
    at: str | None
    moment: int
    size: int
    words: str = field(repr=False)
    about: str = field(repr=False)


@frozen
class Prepared:
    """An item ready to be written. ``tags`` and each of ``scopes`` is a :func:`tag_key`."""

    item: RetainItem = field(repr=False)
    digest: bytes
    rows: tuple[Row, ...]
    counts: Counter[str] = field(repr=False)
    tags: str
    scopes: tuple[str, ...]
    metadata: str = field(repr=False)


def clean(text: str) -> str:
    """Text that SQLite and UTF-8 can hold, without secrets: scrubbed, NUL and lone surrogates replaced."""
    return scrub(text).encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")


def tag_key(tags: tuple[str, ...]) -> str:
    """A set of tags as one string, whatever their order."""
    return json.dumps(sorted(set(tags)))


def _about(piece: Piece, context: str | None, moment: datetime | None) -> str:
    day = f"{moment:%A %d %B %Y}" if moment is not None else ""
    known = words(" ".join([piece.role or "", piece.tool or "", context or "", day]))
    return " ".join(dict.fromkeys(known))


def _row(piece: Piece, context: str | None) -> Row:
    moment = read_time(piece.at)
    known = {"role": piece.role, "tool": piece.tool, "entry": piece.entry, "error": "true" if piece.is_error else None}
    said = words(piece.text)
    return Row(
        text=piece.text,
        turn=piece.turn,
        type=FactType.EXPERIENCE if piece.role in _AGENT_ROLES else FactType.WORLD,
        role=piece.role,
        key=hashlib.sha256(piece.text.encode()).digest()[:16],
        context=context,
        origin=json.dumps({name: value for name, value in known.items() if value is not None}),
        at=piece.at,
        moment=int(moment.timestamp() * 1000) if moment is not None else 0,
        size=len(said),
        words=" ".join(said),
        about=_about(piece, context, moment),
    )


def _metadata(metadata: Mapping[str, str]) -> str:
    return json.dumps({name: clean(value) for name, value in metadata.items()})


def prepare(item: RetainItem, now: datetime) -> Prepared:
    """Make the rows of an item. Pure: same item and time, same rows. ``now`` is the time of an item that names none."""
    at = item.timestamp or now.isoformat()
    context = clean(item.context) if item.context is not None else None
    rows = tuple(_row(piece, context) for piece in cut(item.content, at, clean))
    counts = Counter(word for row in rows for word in {*row.words.split(), *row.about.split()})
    digest = hashlib.sha256(item.content.encode("utf-8", "surrogatepass")).digest()
    scopes = tuple(dict.fromkeys(map(tag_key, observation_tags(item.tags, item.observation_scopes))))
    return Prepared(item, digest, rows, counts, tag_key(item.tags), scopes, _metadata(item.metadata))
