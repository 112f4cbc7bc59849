"""A branch and its ledger, kept entry by entry: what a turn asks of it costs the same in a long session as in a short.

Source: spec/observe.md sections 1.4, 2.2 and 10 (I-9); the bars are those of ``scripts/bench observe``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from hindbrain.contracts import Branch, Entry, Message
from hindbrain.observe import _events as events
from hindbrain.observe._codec import read_event, read_folded
from hindbrain.observe._errors import UnknownEntryError
from hindbrain.observe._fold import Fold, Gone, Op, Replaced, Seen, Thought
from hindbrain.observe._records import Observation, Reflection
from hindbrain.observe._tokens import SOURCES, entry_tokens


class LedgerIndex:
    """One branch, root first. Feed it entry by entry, or let it follow a session's tree.

    A marker that names an entry the branch does not have before it is dangling and moves nothing. Not for several
    threads at once.

    Attributes:
        entries: the branch, root first.
        fold: what is remembered at the tip; it changes with the next entry.
        gate_on: whether memory runs in this session.
        zone: the zone of the ledger's times, None before its first record.
        observed_to: where the newest observation marker stands, -1 for none; ``reflected_to`` likewise.
        compacted_at: where the newest compaction stands, -1 for none.
        visible: what that compaction put before the model; None where it was made in another way.
        cuts: where each compaction began to keep.
        gaps: what each compaction cut away unobserved.
        measured: where the answers stand whose provider counted the context; ``measures`` is what it counted.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._begin()
        self.feed(entries)

    def _begin(self) -> None:
        self.entries: list[Entry] = []
        self.fold = Fold()
        self.ops: list[Op] = []
        self.gate_on = True
        self.zone: str | None = None
        self.observed_to = self.reflected_to = -1
        self.compacted_at = -1
        self.visible: events.Folded | None = None
        self.cuts: list[int] = []
        self.gaps: list[events.Unobserved] = []
        self.full_fold_at = -1
        self.measured: list[int] = []
        self.measures: list[int] = []
        self._at: dict[str, int] = {}
        self._records: dict[str, list[Observation | Reflection]] = {}
        self._sums: list[int] = [0]

    def feed(self, entries: Iterable[Entry]) -> None:
        """Take in the entries that come next on the branch."""
        for entry in entries:
            self._take(entry)

    def follow(self, branch: Branch, leaf_id: str | None = None) -> bool:
        """Stand where a session stands: at ``leaf_id``, or the branch's own leaf.

        Where the session only grew, the new entries alone are read. Where it moved, the memory of the branch that was
        left is forgotten and that of the new one is read. A branch with a gap is not followed: what is missing would
        count as observed later.

        Returns:
            Whether the branch is another one now.
        """
        new: list[Entry] = []
        seen: set[str] = set()
        if self.entries and self.entries[0].parent_id in branch.entries:
            self._begin()  # what came before the first entry was missing then
        tip = self.entries[-1].id if self.entries else None
        at = leaf_id if leaf_id is not None else branch.leaf_id
        while at is not None and at != tip and at not in seen and (entry := branch.entries.get(at)) is not None:
            seen.add(at)
            new.append(entry)
            at = entry.parent_id
        if tip is not None and at is not None and at not in branch.entries:
            return False  # an entry between is not there yet: the branch is followed when it is whole
        moved = tip is not None and at != tip
        if moved:
            self._begin()
        self.feed(reversed(new))
        return moved

    def place(self, entry_id: str) -> int | None:
        """Where an entry stands on the branch, counted from 0; None where it does not."""
        return self._at.get(entry_id)

    def place_of(self, entry_id: str) -> int:
        """Where an entry stands on the branch.

        Raises:
            UnknownEntryError: it is not there.
        """
        if (place := self._at.get(entry_id)) is None:
            raise UnknownEntryError
        return place

    def tokens_from(self, place: int) -> int:
        """The estimated tokens of the sources from a place to the tip, that place included."""
        return self._sums[-1] - self._sums[max(0, place)]

    def tokens_before(self, place: int) -> int:
        """The estimated tokens of the sources before a place."""
        return self._sums[max(0, place)]

    def place_at(self, tokens: int) -> int:
        """The last place from which on the sources hold at least so many tokens; 0 where the whole branch does not."""
        return max(0, bisect_right(self._sums, self._sums[-1] - tokens) - 1)

    @property
    def kept_from(self) -> int:
        """Where the part of the branch begins that the last compaction left as it was; 0 where there was none."""
        if self.compacted_at < 0:
            return 0
        kept = self.entries[self.compacted_at].first_kept_id
        place = self._at.get(kept) if kept is not None else None
        return self.compacted_at + 1 if place is None else place

    def moment(self, entry_id: str) -> int | None:
        """When an entry was written, in milliseconds since 1970 UTC."""
        place = self._at.get(entry_id)
        return None if place is None else self.entries[place].at

    def _take(self, entry: Entry) -> None:
        place = len(self.entries)
        self.entries.append(entry)
        self._at[entry.id] = place
        self._sums.append(self._sums[-1] + (entry_tokens(entry) if entry.kind in SOURCES else 0))
        if entry.message is not None and entry.message.context_tokens is not None:
            self._measure(entry.message, entry.message.context_tokens, place)
        if entry.kind == "custom":
            self._event(read_event(entry, self.moment), place)
        elif entry.kind == "compaction":
            self._compaction(entry, place)

    def _measure(self, message: Message, context: int, place: int) -> None:
        """An answer that failed or was broken off may have been counted by halves."""
        if message.role == "assistant" and message.stop_reason not in {"error", "aborted"}:
            self.measured.append(place)
            self.measures.append(context)

    def _compaction(self, entry: Entry, place: int) -> None:
        self.compacted_at = place
        kept = self._at.get(entry.first_kept_id) if entry.first_kept_id is not None else None
        if kept is not None:
            self.cuts.append(kept)
        self.visible = read_folded(entry, self.moment)
        if self.visible is None:
            return
        if self.visible.full_fold and kept is not None:
            self.full_fold_at = place
        if self.visible.unobserved is not None:
            self.gaps.append(self.visible.unobserved)

    def _event(self, event: events.Event | None, place: int) -> None:
        match event:
            case events.Observed():
                marker = self._at.get(event.covers)
                self.observed_to = max(self.observed_to, -1 if marker is None else marker)
                self.zone = self.zone or event.zone or ("UTC" if event.observations else None)
                self._add(Seen(each, self._newest(each.source_ids, marker)) for each in event.observations)
            case events.Reflected():
                marker = self._at.get(event.covers)
                self.reflected_to = max(self.reflected_to, -1 if marker is None else marker)
                self._add(Thought(each, marker) for each in event.reflections)
            case events.Dropped():
                self._add([Gone(event.ids, self._at.get(event.covers), place)])
            case events.Superseded():
                marker = self._at.get(event.covers)
                self.reflected_to = max(self.reflected_to, -1 if marker is None else marker)
                self._add([Replaced(event.ids, marker, place)])
            case events.Gate():
                self.gate_on = event.enabled
            case None:
                pass

    def _newest(self, sources: Sequence[str], marker: int | None) -> int | None:
        places = [place for source in sources if (place := self._at.get(source)) is not None]
        return max(places) if places else marker

    def _add(self, ops: Iterable[Op]) -> None:
        for op in ops:
            self.ops.append(op)
            if isinstance(op, Seen | Thought):
                self._records.setdefault(op.record.id, []).append(op.record)
            if op.place is not None:
                self.fold.apply(op)

    def records(self, record_id: str) -> tuple[Observation | Reflection, ...]:
        """Every record of the branch with this id, in ledger order, whether in force or not."""
        return tuple(self._records.get(record_id, ()))
