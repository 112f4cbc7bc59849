"""What a recall shows: a first line that sums up, one row an item, a note for every caveat, and the passages in pages.

Source: 004_d1a6c9e182f889a8.txt, "Commands and agent tool"; spec/observe.md section 6.
"""

from __future__ import annotations

from attrs import field, frozen

from hindbrain.contracts import Entry, cut_to_cells, neutralise
from hindbrain.observe._blocks import source_text
from hindbrain.observe._recall import Found, Recalled
from hindbrain.observe._times import written
from hindbrain.observe._tokens import entry_tokens, units

GOOD, SHORT = "\U000f0134", "\U000f002a"
"""The status glyphs of the hosts: all well, and something to know."""
PAGE = 4_000
"""The most tokens of passages on one page."""
_TYPE, _META = 15, 31
_REASONS = {
    Found.NOT_FOUND: "not found",
    Found.DISABLED: "disabled",
    Found.INVALID_ID: "invalid id",
    Found.NO_SOURCE: "no source",
}
_LISTED, _ROW = 20, 1_000
"""The most rows of a kind, and the most cells of a record on one."""
_LOW = 0xDC
_ROLES = {"user": "user", "assistant": "assistant", "toolResult": "tool", "custom": "custom"}


@frozen(kw_only=True)
class RecallPage:
    """One page: ``text`` as it is shown, and whether all is well (the frame around it draws the same glyph)."""

    text: str = field(repr=False)
    good: bool
    page: int
    pages: int


def recall_page(recalled: Recalled, *, page: int = 1, zone: str = "UTC", room: int = PAGE) -> RecallPage:
    """A page of what was recalled.

    Args:
        recalled: what was found.
        page: counted from 1; one beyond the last is the last.
        zone: the ledger's zone.
        room: the most tokens of passages on a page.
    """
    passages = "\n\n".join(text for entry in recalled.sources if (text := source_text(entry, zone)))
    size = max(1, room) * 4
    pages = max(1, -(-units(passages) // size))
    page = min(max(1, page), pages)
    good = recalled.found in {Found.OK, Found.PARTIAL}
    lines = [_first(recalled), *_rows(recalled, zone), *_notes(recalled)]
    if pages > 1:
        lines.append(_row(SHORT, "note", "", f"page {page} of {pages}; ask for the next page to read on"))
    if part := _page(passages, size, page):
        lines += ["", part]
    return RecallPage(text="\n".join(lines), good=good, page=page, pages=pages)


def _page(text: str, size: int, page: int) -> str:
    """A window of so many units; a pair of surrogates stays with its first half."""
    if text.isascii():
        return text[(page - 1) * size : page * size]
    data = text.encode("utf-16-le", "surrogatepass")
    begin, end = (_whole(data, place * size) for place in (page - 1, page))
    return data[begin * 2 : end * 2].decode("utf-16-le", "replace")


def _whole(data: bytes, place: int) -> int:
    """The place, or the one before it where it lies inside a pair."""
    inside = 0 < place * 2 < len(data) and data[place * 2 + 1] & 0xFC == _LOW
    return place - 1 if inside else place


def _first(recalled: Recalled) -> str:
    if recalled.found in _REASONS:
        return f"{SHORT} {_REASONS[recalled.found]}"
    counted = [
        _counted(len(recalled.reflections), "reflection"),
        _counted(len(recalled.observations), "observation"),
        _counted(len(recalled.sources), "source"),
        f"~{sum(map(entry_tokens, recalled.sources))} tokens",
    ]
    return " · ".join([f"{GOOD} success", *filter(None, counted)])


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}" if count else ""


def _row(glyph: str, kind: str, meta: str, text: str) -> str:
    return f"{glyph} {kind:{_TYPE}}{meta:{_META}}{cut_to_cells(text, _ROW, mark='…')}".rstrip()


def _rows(recalled: Recalled, zone: str) -> list[str]:
    rows = [_row(GOOD, "reflection", each.id, each.line.partition("] ")[2]) for each in recalled.reflections[:_LISTED]]
    rows += [
        _row(GOOD, "observation", f"{each.id} {each.timestamp}", each.line[len(each.id) + len(each.timestamp) + 4 :])
        for each in recalled.observations[:_LISTED]
    ]
    if (more := len(recalled.observations) - _LISTED) > 0:
        rows.append(_row(SHORT, "note", "", f"{more} more observations are not listed"))
    for each in recalled.sources[:_LISTED]:
        weight = f"[{_role(each)}] ~{entry_tokens(each)} tokens"
        rows.append(_row(GOOD, "source", written(_at(each), zone), weight))
    if (more := len(recalled.sources) - _LISTED) > 0:
        rows.append(_row(SHORT, "note", "", f"{more} more sources are not listed, but stand in the pages"))
    return rows


def _notes(recalled: Recalled) -> list[str]:
    told = [f"observation {each} was dropped from active memory" for each in recalled.dropped]
    told += [f"reflection {each} was superseded by another" for each in recalled.superseded]
    told += [f"source {each} is missing on this branch" for each in recalled.missing]
    told += [f"{each} is no source" for each in recalled.no_source]
    told += [f"supporting observation {each} is missing on this branch" for each in recalled.missing_support]
    if recalled.collision:
        told.append("id collision: an observation and a reflection have this id")
    if recalled.gap is not None:
        told.append("no observer has seen these entries when they left the context")
    kept = told[:_LISTED]
    if more := len(told) - len(kept):
        kept.append(f"{more} more notes are left out")
    return [_row(SHORT, "note", "", neutralise(each)) for each in kept]


def _role(entry: Entry) -> str:
    if entry.kind == "branch_summary":
        return "summary"
    role = entry.message.role if entry.message is not None else "custom"
    return _ROLES.get(
        role, "summary" if role.endswith("Summary") else "tool" if role.endswith("Execution") else "custom"
    )


def _at(entry: Entry) -> int | None:
    return entry.message.at if entry.message is not None and entry.message.at is not None else entry.at
