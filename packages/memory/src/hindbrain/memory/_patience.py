"""How long a bank that gave no answer is left alone.

Source: decisions.md, "Recall and injection" (one attempt a message; 1, 2, 4 and so on to 32 turns after an outage).
"""

from __future__ import annotations

from hindbrain.memory._turns import Turn

_MOST_SKIPPED = 32


class Patience:
    """Counts the turns in which one bank is not asked."""

    def __init__(self) -> None:
        self._pause = 0
        self._left = 0
        self._settled: Turn | None = None

    def may_ask(self, turn: Turn) -> bool:
        """Whether to ask now. A turn that failed or was skipped stays so, however often the hook fires for it."""
        if self._settled == turn:
            return False
        if self._left:
            self._left -= 1
            self._settled = turn
            return False
        return True

    def answered(self) -> None:
        """An answer came: no more waiting."""
        self._pause = self._left = 0

    def failed(self, turn: Turn, *, outage: bool) -> None:
        """No answer came in this turn. After an outage the next turns are skipped, too, each time twice as many.

        A refusal is no outage: it costs no time, and what it refuses may be put right before the next turn.
        """
        self._settled = turn
        self._pause = min(_MOST_SKIPPED, self._pause * 2 or 1) if outage else 0
        self._left = self._pause
