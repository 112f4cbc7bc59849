"""A recorded session while it is lived through once more: its branch, its compactions, and when a turn is over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from attrs import define, field, frozen

from hindbrain.contracts import Entry, JsonValue
from hindbrain.observe._budget import Moment
from hindbrain.observe._clocks import compact_due
from hindbrain.observe._compaction import Compaction, compact
from hindbrain.observe._config import ObserveConfig
from hindbrain.observe._cut import RESERVE, cut_place
from hindbrain.observe._encode import append_of, folded_details
from hindbrain.observe._events import FOLDED, Event
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._tokens import compact_json

Progress = Callable[[int, int], None]
"""Told how many entries are done, of how many."""


@frozen(kw_only=True)
class ReplayedCompaction:
    """One compaction: the newest entry then, the cut, the tokens of sources before it, and what was shown of them."""

    at: str
    first_kept: str
    tokens_before: int
    compaction: Compaction


@define
class Sitting:
    """A session that is lived through: the branch so far, with the ledger that is made of it."""

    config: ObserveConfig
    window: int | None
    keep: int
    index: LedgerIndex = field(factory=LedgerIndex)
    compactions: list[ReplayedCompaction] = field(factory=list)
    appended: int = 0

    def settled(self) -> None:
        """Compact where that is due, as a host does whose agent rests."""
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
        """What a host would tell of itself."""
        return Moment(window=self.window, reserve=RESERVE)

    def append(self, event: Event) -> None:
        """Put an event into the ledger, where it says something."""
        if (made := append_of(event)) is not None:
            self.put("custom", made.custom_type, made.data)

    def put(
        self, kind: str, custom_type: str | None, data: dict[str, JsonValue], made: Compaction | None = None
    ) -> None:
        """Put an entry on the branch."""
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


def turns(sitting: Sitting, told: Sequence[Entry], progress: Progress) -> Iterator[None]:
    """Feed a sitting entry by entry, and stop wherever a turn is over, so that it can be observed.

    The agent rests, and a compaction may come, before the user's next word and at the end.
    """
    for place, entry in enumerate(told):
        sitting.index.feed([entry])
        role = _role(told[place + 1]) if place + 1 < len(told) else None
        if role != "toolResult":
            yield
        if role in {"user", None}:
            sitting.settled()
        progress(place + 1, len(told))


def _role(entry: Entry) -> str:
    return entry.message.role if entry.message is not None else ""
