"""What of a session was retained while it ran, and how an import moves the session's cursor.

So an import repeats nothing that is in memory, and a session that is taken up again retains nothing that was imported.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from hindbrain.contracts import Branch, RetainJob
from hindbrain.generic._import._chains import Chain
from hindbrain.generic._import._record import Imported
from hindbrain.generic._import._source import Source
from hindbrain.generic._import._target import Target
from hindbrain.memory import session_key
from hindbrain.memory.sessions import raw_messages
from hindbrain.store import Cursor, HostState, move, new_entries


class Past:
    """The cursors of one state folder for one bank, as they stand after what this import has made so far.

    Args:
        target: where sessions go.
        state: the opened state folder; None where there is none yet.
    """

    def __init__(self, target: Target, state: HostState | None) -> None:
        self._bank = target.bank
        self._state = state
        self._cursors: dict[str, Cursor] = {}

    async def retained_live(
        self, source: Source, branch: Branch, chains: Sequence[Chain], imported: Sequence[Imported]
    ) -> frozenset[str]:
        """The ids of the entries that the cursor knows and no import has brought.

        Args:
            source: the session's file.
            branch: its entries.
            chains: those of its chains that are to be imported.
            imported: the documents that were imported of it.
        """
        cursor = await self._cursor(source, branch)
        if cursor is None or cursor == Cursor():
            return frozenset()
        known: set[str] = set()
        for chain in chains:
            path = Branch(branch.entries, chain.entries[-1].id)
            new = {entry.id for entry in new_entries(path, cursor)}
            ids = [entry.id for entry in path.path()]
            known.update(ids)
            known -= new
            for each in imported:
                if each.first in ids:
                    known.difference_update(_up_to(each.last, ids[ids.index(each.first) :]))
        return frozenset(known)

    async def covered(self, source: Source, branch: Branch, jobs: Sequence[tuple[str, RetainJob]]) -> list[RetainJob]:
        """The jobs, the last of each chain with the cursor's move over all up to the chain's end.

        They go into the queue together, so that the last one stands for those before it.

        Args:
            source: the session's file.
            branch: its entries.
            jobs: each with the last entry of the chain that it is of, in order.
        """
        cursor = await self._cursor(source, branch)
        covered = [job for _, job in jobs]
        if cursor is None or source.lineage is None:
            return covered
        for end, place in {end: place for place, (end, _) in enumerate(jobs)}.items():
            path = Branch(branch.entries, end)
            moved = move(cursor, path, path.path())
            if moved is not None:
                covers = moved.coverage(source.lineage, self._bank)
                covered[place] = evolve(covered[place], covers=covers)
                cursor = moved.cursor
        self._cursors[source.lineage] = cursor
        return covered

    async def _cursor(self, source: Source, branch: Branch) -> Cursor | None:
        """Where the session's lineage stands, by what an older program wrote too; None where nothing can be known."""
        lineage, state = source.lineage, self._state
        if lineage is None or state is None:
            return None
        if lineage not in self._cursors:
            file = str(source.path)
            await state.take_over(session_key(file), lineage, self._bank, lambda: (branch, raw_messages(file)))
            self._cursors[lineage] = await state.cursor(lineage, self._bank)
        return self._cursors[lineage]


def _up_to(last: str, ids: list[str]) -> list[str]:
    """The ids up to this one; all of them where the session has it no more."""
    return ids[: ids.index(last) + 1] if last in ids else ids
