"""An observer that needs no model: rules over what was said and done.

It records what a user said, choices and causes in a model's words, what failed, and which files were changed. It never
stands in for a model that was configured.

Source: decisions.md, "Observational memory"; the kinds and the relevance are those of spec/observe.md section 3.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import frozen

from hindbrain.contracts import Entry, Message, ToolCallPart, neutralise, starts_injected
from hindbrain.observe._chunk import Chunk, moment_of
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._records import Kind, Observation, Relevance, make_observation
from hindbrain.observe._tokens import cut_units, tail_units, units

_LONG = 400
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n+")
_LASTS = re.compile(
    r"\b(always|never|must(?:n't)?|do(?: not|n't)|prefer|instead of|from now on|remember|no longer|should(?:n't| not)?|"
    r"i want|we want|stop (?:doing|using))\b",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    r"\b(decid(?:ed|e)|decision|we(?:'ll| will)? (?:use|go with|keep|drop|choose)|let'?s (?:use|go with|keep|drop)|"
    r"chose|switch(?:ed)? to|agreed)\b",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\b(root cause|the (?:problem|cause|reason|bug) (?:is|was)|turns out|because|fixed by|caused by)\b", re.IGNORECASE
)
_DONE = re.compile(
    r"\b(all (?:\d+ )?tests pass|is (?:now )?(?:done|complete|fixed|in place|implemented)|now passes|committed|merged|"
    r"released)\b",
    re.IGNORECASE,
)
_ERROR = re.compile(r"error|exception|traceback|failed|fatal|panic|denied|not found|no such", re.IGNORECASE)
_WRITERS = frozenset(
    {"write", "edit", "multiedit", "multi_edit", "apply_patch", "create", "str_replace", "notebookedit"}
)
_PATHS = ("path", "file_path", "filePath", "file")
_CODE = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
_PROSE = re.compile(r"[\s*>-]*[^\W\d_][^{};=]*[^{};=:\s]\s*\Z")
"""A sentence: it begins with a letter, holds none of the signs of code, and does not end before what it announces."""
_MANY = 12
_SAID = 3
"""The most sentences of one answer that are recorded."""


@frozen(kw_only=True)
class _Rule:
    pattern: re.Pattern[str]
    kind: Kind
    relevance: Relevance


_RULES = (
    _Rule(pattern=_CHOICE, kind=Kind.DECISION, relevance=Relevance.HIGH),
    _Rule(pattern=_CAUSE, kind=Kind.FACT, relevance=Relevance.MEDIUM),
    _Rule(pattern=_DONE, kind=Kind.PROGRESS, relevance=Relevance.HIGH),
)


def extract(index: LedgerIndex, chunk: Chunk, *, now: int = 0, zone: str = "UTC") -> tuple[Observation, ...]:
    """Observe the sources of a chunk by rules, oldest first; none where nothing in it is worth a record.

    Args:
        index: the branch the chunk is of.
        chunk: what to look at.
        now: the moment for a source that has none, in milliseconds since 1970 UTC.
        zone: the zone of times for a ledger that has none yet.
    """
    zone = index.zone or zone
    places = [place for each in chunk.source_ids if (place := index.place(each)) is not None]
    found: dict[str, Observation] = {}
    for content, kind, relevance, sources in _noted([index.entries[place] for place in places]):
        at = moment_of(index, sources, last_at=chunk.last_at, now=now)
        record = make_observation(content, at=at, sources=sources, relevance=relevance, kind=kind, zone=zone)
        found.setdefault(record.id, record)
    return tuple(found.values())


_Note = tuple[str, Kind, Relevance, Sequence[str]]


def _noted(entries: Sequence[Entry]) -> Iterator[_Note]:
    written: dict[str, list[str]] = {}
    for entry in entries:
        message = entry.message
        if message is None:
            continue
        for path in _changed(message):
            written.setdefault(path, []).append(entry.id)
        yield from _from_message(entry.id, message)
    if written:
        yield _files(written)


def _files(written: dict[str, list[str]]) -> _Note:
    paths = list(written)
    named = ", ".join(paths[:_MANY]) + (f" and {len(paths) - _MANY} more" if len(paths) > _MANY else "")
    sources = list(dict.fromkeys(each for ids in written.values() for each in ids))
    return f"Files changed: {named}", Kind.PROGRESS, Relevance.LOW, sources


def _from_message(entry_id: str, message: Message) -> Iterator[_Note]:
    text = message.text
    if starts_injected(text):
        return
    if message.role == "user" and text.strip():
        kind = Kind.DECISION if _CHOICE.search(text) else Kind.USER
        relevance = Relevance.CRITICAL if _LASTS.search(text) or kind is Kind.DECISION else Relevance.HIGH
        yield f"User: {_short(text)}", kind, relevance, [entry_id]
    elif message.role == "assistant":
        for sentence, rule in _said(text):
            yield f"Assistant: {_short(sentence)}", rule.kind, rule.relevance, [entry_id]
    elif message.is_error and text.strip():
        name = message.tool_name or "A tool"
        yield f"{name} failed: {_short(_telling(text))}", Kind.FACT, Relevance.MEDIUM, [entry_id]


def _said(text: str) -> Iterator[tuple[str, _Rule]]:
    count = 0
    for sentence in _SENTENCE.split(_CODE.sub("\n", text)):
        rule = next((each for each in _RULES if each.pattern.search(sentence)), None)
        if rule is not None and _PROSE.match(sentence) and count < _SAID:
            count += 1
            yield sentence, rule


def _telling(text: str) -> str:
    """The line of an output that says what is wrong, or its last."""
    lines = [line for line in text.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if _ERROR.search(line)), lines[-1] if lines else "")


def _short(text: str) -> str:
    line = neutralise(text)
    if units(line) <= _LONG:
        return line
    return f"{cut_units(line, _LONG * 3 // 4)} […] {tail_units(line, _LONG // 4)}"


def _changed(message: Message) -> Iterator[str]:
    for part in message.parts:
        if isinstance(part, ToolCallPart) and part.name.lower() in _WRITERS:
            paths = (part.arguments.get(name) for name in _PATHS)
            path = next((each for each in paths if isinstance(each, str) and each), None)
            if path is not None:
                yield path
