"""How the workers go on after runs that failed."""

from __future__ import annotations

from attrs import define

from hindbrain.observe._run import ConsolidationRun, Stage

_RESTS = (0, 1, 2, 4)
_MOST_HALVINGS = 8
_MOST_PATIENCE = 16


@define
class Pace:
    """Turns that the workers sit out, and how much smaller the chunk is that the observer is given.

    After 1, 2, 3 and more failed runs in a row they rest for 1, 2 and then 4 turns. A run that found nothing needs no
    rest: its verdict moved the clock.

    A model that refuses a chunk again may find it too long, whatever is known of its window, or find something in it
    that it will not read: a smaller one gets by. So it is halved with each failure of the observer after the first in a
    row, and doubled again with each success. Where the doubled one failed, twice as many successes come before the next
    try, 16 at most: a model that was down is soon asked as before, and one that can take no more is not asked in vain.

    Attributes:
        failed: runs that failed in a row.
        halvings: how often the observer's chunk is halved in the next run.
    """

    failed: int = 0
    halvings: int = 0
    _rest: int = 0
    _well: int = 0
    _patience: int = 1
    _grew: bool = False

    def after(self, run: ConsolidationRun) -> None:
        """Take in how a run went."""
        if all(failure.stage is not Stage.OBSERVER for failure in run.failures):
            self._grow()
        elif self.failed:
            self._shrink()
        self.failed = self.failed + 1 if run.failures else 0
        self._rest = _RESTS[min(self.failed, len(_RESTS) - 1)]

    def _grow(self) -> None:
        if self._grew:
            self._grew, self._patience = False, 1
        self._well += 1
        if self.halvings and self._well >= self._patience:
            self.halvings -= 1
            self._well, self._grew = 0, True

    def _shrink(self) -> None:
        if self._grew:
            self._patience = min(_MOST_PATIENCE, self._patience * 2)
        self.halvings = min(_MOST_HALVINGS, self.halvings + 1)
        self._well, self._grew = 0, False

    def has_rested(self) -> bool:
        """Whether the workers may work at this turn; to be asked once a turn."""
        self._rest -= 1
        return self._rest < 0
