"""What a user is told of a run of the workers. Source: spec/observe.md section 3.1; seed 004, "Defaults"."""

from __future__ import annotations

from collections.abc import Iterator

from hindbrain.observe import ConsolidationRun, Stage


class RunNotices:
    """Turns runs into lines. A failure that repeats is told once, until its worker succeeds.

    Args:
        routine: whether routine work is told, too. Warnings, and what changed memory without a model, always are.
    """

    def __init__(self, *, routine: bool) -> None:
        self._routine = routine
        self._failing: dict[Stage, str] = {}

    def of(self, run: ConsolidationRun) -> Iterator[tuple[str, str]]:
        """The lines of a run, each with its level."""
        failed = {failure.stage for failure in run.failures}
        for failure in run.failures:
            if self._failing.get(failure.stage) != failure.code:
                yield failure.text, "warning"
            self._failing[failure.stage] = failure.code
        for stage in set(self._failing) - failed:
            if run.calls.get(stage):
                del self._failing[stage]
        if run.reclaimed:
            lines = "1 observation" if run.reclaimed == 1 else f"{run.reclaimed} observations"
            yield f"Memory had outgrown its bound: {lines} left it and can still be recalled by id.", "info"
        if not self._routine:
            return
        if run.empty:
            yield "The observer found nothing to record in what was new.", "info"
        if told := _counts(run):
            yield f"Memory: {told}{_price(run)}.", "info"


def _counts(run: ConsolidationRun) -> str:
    counts = (
        (run.observed, "observed"),
        (run.reflected, "reflected"),
        (run.superseded, "superseded"),
        (run.dropped, "dropped"),
    )
    return ", ".join(f"{count} {what}" for count, what in counts if count)


def _price(run: ConsolidationRun) -> str:
    return f" (${run.cost_usd:.4f})" if run.cost_usd > 0 else ""
