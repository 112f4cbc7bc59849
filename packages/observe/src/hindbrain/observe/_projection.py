"""What of a ledger counts where: at the tip, before the model now, or in the summary of a compaction.

Source: spec/observe.md section 1.4, with the changes of decisions.md, "Observational memory":

- an observation is before a cut when its own newest source is, wherever its batch ends;
- reflections count as soon as they exist, and what replaces them too;
- a full fold takes in every drop of the branch; between full folds, only those that the last one took in, so that what
  a model has seen does not change with each compaction;
- a compaction that was not made from memory leaves nothing of it visible.
"""

from __future__ import annotations

from attrs import frozen

from hindbrain.observe._fold import Fold, Gone, Op, Seen
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._records import Observation, Reflection


@frozen(kw_only=True)
class Projection:
    """Records in force, in ledger order."""

    observations: tuple[Observation, ...] = ()
    reflections: tuple[Reflection, ...] = ()
    full_fold: bool = False

    @property
    def empty(self) -> bool:
        """Whether there is nothing to show."""
        return not self.observations and not self.reflections

    @property
    def tokens(self) -> int:
        """The estimated tokens of all lines."""
        return sum(each.cost for each in self.observations) + sum(each.cost for each in self.reflections)


@frozen(kw_only=True)
class Drift:
    """How what the model sees differs from what is in force, by id: what it lacks, and what it still has."""

    observations_new: frozenset[str]
    observations_gone: frozenset[str]
    reflections_new: frozenset[str]
    reflections_gone: frozenset[str]


def full(index: LedgerIndex, up_to: str | None = None) -> Projection:
    """All that is in force on the branch, or was when it ended at ``up_to``.

    Raises:
        UnknownEntryError: ``up_to`` is not on the branch.
    """
    if up_to is None:
        return _projection(index.fold, full_fold=True)
    place = index.place_of(up_to)
    return _projection(Fold.of(op for op in index.ops if op.place is not None and op.place <= place), full_fold=True)


def visible(index: LedgerIndex) -> Projection:
    """What the newest compaction put before the model."""
    shown = index.visible
    if shown is None:
        return Projection()
    return Projection(observations=shown.observations, reflections=shown.reflections, full_fold=shown.full_fold)


def compaction_projection(index: LedgerIndex, first_kept: str | None, pool_max: int) -> Projection:
    """What a compaction that keeps the branch from ``first_kept`` on may show.

    Args:
        index: the branch.
        first_kept: the first entry of the retained tail; None where nothing is retained.
        pool_max: from so many stored tokens of observations before the cut on, the fold is a full one.

    Raises:
        UnknownEntryError: ``first_kept`` is not on the branch.
    """
    cut = len(index.entries) if first_kept is None else index.place_of(first_kept)
    inside = [op for op in index.ops if op.place is not None and not (isinstance(op, Seen) and op.place >= cut)]
    shown = [op for op in inside if not _is_later_drop(op, index.full_fold_at)]
    normal = Fold.of(shown)
    pressure = sum(each.token_count for each in normal.active_observations.values())
    if pressure < pool_max:
        return _projection(normal, full_fold=False)
    return _projection(normal if len(shown) == len(inside) else Fold.of(inside), full_fold=True)


def drift(index: LedgerIndex) -> Drift:
    """How the visible memory differs from the full one."""
    seen = visible(index)
    shown, learnt = {each.id for each in seen.observations}, {each.id for each in seen.reflections}
    now, known = index.fold.active_observations.keys(), index.fold.active_reflections.keys()
    return Drift(
        observations_new=frozenset(now - shown),
        observations_gone=frozenset(shown - now),
        reflections_new=frozenset(known - learnt),
        reflections_gone=frozenset(learnt - known),
    )


def _is_later_drop(op: Op, full_fold_at: int) -> bool:
    return isinstance(op, Gone) and op.entry > full_fold_at


def _projection(fold: Fold, *, full_fold: bool) -> Projection:
    return Projection(
        observations=tuple(fold.active_observations.values()),
        reflections=tuple(fold.active_reflections.values()),
        full_fold=full_fold,
    )
