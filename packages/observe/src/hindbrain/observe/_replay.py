"""A recorded session, lived through once more with this engine: what it would have observed, kept and shown.

Nothing here looks at a clock, a zone, a locale or the order of a set, so the same session gives the same bytes.

Source: spec/observe.md sections 3.1, 4 and 5, and the goals of section 11.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from attrs import define, field, frozen

from hindbrain.contracts import Entry, JsonValue
from hindbrain.observe._budget import Budget, Moment, render_budget
from hindbrain.observe._chunk import Chunk, chunk_cap, next_chunk
from hindbrain.observe._clocks import compact_due, observe_due
from hindbrain.observe._compaction import Compaction, compact
from hindbrain.observe._config import ObserveConfig
from hindbrain.observe._cut import KEEP, RESERVE, cut_place
from hindbrain.observe._encode import append_of, folded_details
from hindbrain.observe._events import FOLDED, Dropped, Event, Observed
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._projection import full
from hindbrain.observe._reclaim import reclaim
from hindbrain.observe._records import Kind, Observation
from hindbrain.observe._render import frame_tokens, render
from hindbrain.observe._select import Selection, select
from hindbrain.observe._tokens import compact_json, is_source, tokens

Observer = Callable[[LedgerIndex, Chunk], tuple[Observation, ...]]
"""What looks at a chunk of the branch and says what was worth a record."""
Progress = Callable[[int, int], None]


@frozen(kw_only=True)
class ReplayedCompaction:
    """One compaction: the newest entry then, the cut, the tokens of sources before it, and what was shown of them."""

    at: str
    first_kept: str
    tokens_before: int
    compaction: Compaction


@frozen(kw_only=True)
class Replayed:
    """What a replay gave. ``summary`` is the memory at the end of the session, everything observed.

    The summary is empty where there is no memory or no room. ``index`` is the branch with the ledger that was made.
    ``decisions`` are the observations of kind decision in force,
    and how many of them the summary shows.
    """

    index: LedgerIndex = field(repr=False)
    summary: str = field(repr=False)
    budget: Budget
    selection: Selection = field(repr=False)
    compactions: tuple[ReplayedCompaction, ...]
    runs: int
    empty_runs: int
    source_tokens: int
    rendered_tokens: int
    decisions: tuple[int, int]


@define
class _Sitting:
    observer: Observer
    config: ObserveConfig
    window: int | None
    keep: int
    index: LedgerIndex = field(factory=LedgerIndex)
    compactions: list[ReplayedCompaction] = field(factory=list)
    runs: int = 0
    empty_runs: int = 0
    appended: int = 0

    def turn_ended(self) -> None:
        if observe_due(self.index, self.config):
            self.observe()

    def observe(self) -> bool:
        """One run of the observer; whether there was anything to look at."""
        chunk = next_chunk(self.index, chunk_cap(self.config, self.window))
        if chunk is None:
            return False
        self.runs += 1
        found = self.observer(self.index, chunk) if chunk.text else ()
        self.empty_runs += not found
        self.append(Observed(observations=found, covers=chunk.covers, zone=self.index.zone or "UTC"))
        if gone := reclaim(self.index, self.config, self.window):
            self.append(Dropped(ids=gone, covers=chunk.covers))
        return True

    def settled(self) -> None:
        if not compact_due(self.index, self.config, self.window):
            return
        cut = cut_place(self.index, self.keep)
        if cut is None:
            return
        first_kept, at = self.index.entries[cut].id, self.index.entries[-1].id
        before = self.index.tokens_before(cut) - self.index.tokens_before(self.index.kept_from)
        made = compact(self.index, first_kept, self.config, self.moment)
        if isinstance(made, Compaction):
            self.compactions.append(
                ReplayedCompaction(at=at, first_kept=first_kept, tokens_before=before, compaction=made)
            )
            self.put("compaction", None, folded_details(made.details), made)

    @property
    def moment(self) -> Moment:
        return Moment(window=self.window, reserve=RESERVE)

    def append(self, event: Event) -> None:
        if (made := append_of(event)) is not None:
            self.put("custom", made.custom_type, made.data)

    def put(
        self, kind: str, custom_type: str | None, data: dict[str, JsonValue], made: Compaction | None = None
    ) -> None:
        self.appended += 1
        entry = Entry(
            id=f"{FOLDED}.{self.appended}",
            parent_id=self.index.entries[-1].id,
            kind=kind,
            at=self.index.entries[-1].at,
            custom_type=custom_type,
            summary=made.summary if made is not None else None,
            first_kept_id=made.first_kept if made is not None else None,
            data=compact_json(data),
        )
        self.index.feed([entry])


def replay(
    entries: Iterable[Entry],
    observer: Observer,
    config: ObserveConfig,
    *,
    window: int | None = None,
    keep: int = KEEP,
    progress: Progress = lambda _done, _all: None,
) -> Replayed:
    """Live through a branch: observe when it is due, compact when the agent rests and it is due, and look at the end.

    Compactions and ledgers that the session has are left out: the replay makes its own. What is left unobserved at the
    end is observed then, chunk by chunk.

    Args:
        entries: a branch, root first.
        observer: what looks at each chunk.
        config: the settings.
        window: the model's window, None where it is unknown.
        keep: the tokens of the tail that the host retains at a compaction.
        progress: told how many entries are done, of how many.
    """
    sitting = _Sitting(observer=observer, config=config, window=window, keep=keep)
    told = [entry for entry in entries if is_source(entry)]
    for place, entry in enumerate(told):
        sitting.index.feed([entry])
        role = _role(told[place + 1]) if place + 1 < len(told) else None
        if role != "toolResult":
            sitting.turn_ended()
        if role in {"user", None}:
            sitting.settled()
        progress(place + 1, len(told))
    while told and sitting.observe():
        pass
    return _report(sitting)


def _role(entry: Entry) -> str:
    return entry.message.role if entry.message is not None else ""


def _report(sitting: _Sitting) -> Replayed:
    index, config = sitting.index, sitting.config
    projection = full(index)
    budget = render_budget(config, sitting.moment)
    room = budget.render - frame_tokens()
    chosen = select(projection, room=room, target=config.pool_target)
    summary = "" if projection.empty or room < 0 else render(chosen.observations, chosen.reflections)
    shown = {each.id for each in chosen.observations}
    decided = [each.id for each in projection.observations if each.kind is Kind.DECISION]
    return Replayed(
        index=index,
        summary=summary,
        budget=budget,
        selection=chosen,
        compactions=tuple(sitting.compactions),
        runs=sitting.runs,
        empty_runs=sitting.empty_runs,
        source_tokens=index.tokens_from(0),
        rendered_tokens=tokens(summary),
        decisions=(len(decided), sum(each in shown for each in decided)),
    )
