"""What one observer run looks at: the oldest of the backlog, as much as fits.

Source: 004_d1a6c9e182f889a8.txt, "Defaults" (observerChunkMaxTokens); spec/observe.md section 2.4; faults I-9 (entries
that render to nothing are covered too) and I-18 (what else stands in the request).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import field, frozen

from hindbrain.contracts import Entry
from hindbrain.observe._blocks import label, source_block
from hindbrain.observe._config import ObserveConfig
from hindbrain.observe._errors import BudgetError
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._tokens import cut_units, is_source, tail_units, tokens, units

SMALLEST = 256
_UNKNOWN = 60_000
_SHARE = 5
_MARK = "\n[… the middle of this source was left out …]\n"


@frozen(kw_only=True)
class Chunk:
    """Sources to observe, oldest first.

    ``covers`` is the last entry that was looked at, with those that say nothing; ``source_ids`` are those in ``text``,
    ``excerpt_ids`` those of which only beginning and end are. An empty text means there is nothing to ask a model.
    """

    text: str = field(repr=False)
    source_ids: tuple[str, ...]
    excerpt_ids: tuple[str, ...]
    covers: str
    tokens: int
    last_at: int | None = None


@frozen(kw_only=True)
class RequestPlan:
    """How a worker's request is divided, in estimated tokens: the memory it is shown, the chunk, and its answer."""

    memory: int
    chunk: int
    output: int


def chunk_cap(config: ObserveConfig, model_window: int | None) -> int:
    """The most tokens of one chunk: the setting, or a fifth of the memory model's window; at least 256."""
    if config.observer_chunk_max_tokens is not None:
        return max(SMALLEST, config.observer_chunk_max_tokens)
    if model_window is None or model_window <= 0:
        return _UNKNOWN
    return max(SMALLEST, model_window // _SHARE)


def halved(cap: int, halvings: int) -> int:
    """The most tokens of a chunk after failures: nobody says whether it was the size, so half of it is tried."""
    return max(SMALLEST, cap >> max(0, halvings))


def plan_request(*, window: int | None, system: int, output: int, memory: int, chunk: int) -> RequestPlan:
    """Divide a worker's request so that instructions, memory, chunk and answer fit the model's window.

    Memory gives way before the chunk does, and the answer last. An unknown window divides nothing.

    Args:
        window: the memory model's window.
        system: the instructions.
        output: the most an answer may take.
        memory: the most memory that would be shown.
        chunk: the most of a chunk.

    Raises:
        BudgetError: a quantity is negative, or not even 256 tokens each of chunk and answer fit.
    """
    if min(system, output, memory, chunk) < 0:
        raise BudgetError("request")
    if window is None or window <= 0:
        return RequestPlan(memory=memory, chunk=chunk, output=output)
    room = window - system
    if room < 2 * SMALLEST:
        raise BudgetError("window")
    output = min(output, max(SMALLEST, room // 2))
    chunk = min(chunk, room - output)
    return RequestPlan(memory=min(memory, room - output - chunk), chunk=chunk, output=output)


def next_chunk(index: LedgerIndex, cap: int, zone: str = "UTC") -> Chunk | None:
    """The next sources that no observer has seen; None where there are none, or where not even an excerpt fits.

    The text is never longer than ``cap`` tokens. A source that alone is longer is excerpted, and the chunk ends there.
    ``zone`` is for a ledger that has none yet.
    """
    backlog = index.entries[index.observed_to + 1 :]
    blocks = ((entry, source_block(entry, index.zone or zone)) for entry in backlog if is_source(entry))
    return _filled(blocks, cap)


def _filled(blocks: Iterator[tuple[Entry, str]], cap: int) -> Chunk | None:
    taken: list[str] = []
    ids: list[str] = []
    used, covers, last_at = 0, "", None
    for entry, block in blocks:
        if block:
            cost = tokens(block if not taken else f"\n\n{block}")
            if used + cost > cap:
                return _excerpt(entry, block, cap) if not taken else _chunk(taken, ids, covers, last_at)
            taken.append(block)
            ids.append(entry.id)
            used += cost
            last_at = entry.at if entry.at is not None else last_at
        covers = entry.id
    return _chunk(taken, ids, covers, last_at) if covers else None


def _chunk(taken: Sequence[str], ids: Sequence[str], covers: str, last_at: int | None) -> Chunk:
    text = "\n\n".join(taken)
    return Chunk(text=text, source_ids=tuple(ids), excerpt_ids=(), covers=covers, tokens=tokens(text), last_at=last_at)


def _excerpt(entry: Entry, block: str, cap: int) -> Chunk | None:
    head = f"{label(entry.id)}\n"
    room = cap * 4 - units(head) - units(_MARK)
    if room <= 0:
        return None
    body = block[len(head) :]
    first = cut_units(body, -(-room // 2))
    text = f"{head}{first}{_MARK}{tail_units(body, room // 2)}"
    return Chunk(
        text=text,
        source_ids=(entry.id,),
        excerpt_ids=(entry.id,),
        covers=entry.id,
        tokens=tokens(text),
        last_at=entry.at,
    )


def moment_of(index: LedgerIndex, sources: Sequence[str], *, last_at: int | None, now: int) -> int:
    """When an observation happened: the earliest of its sources, else the chunk's last known moment, else ``now``.

    Source: spec/observe.md section 1.2.
    """
    known = [at for source in sources if (at := index.moment(source)) is not None]
    return min(known) if known else last_at if last_at is not None else now
