"""What the workers of one session cost. Telemetry of this process: in no ledger, and no branch rolls it back."""

from __future__ import annotations

import math

from attrs import define, field

from hindbrain.observe import ConsolidationRun, Stage


@define
class Spend:
    """Dollars as the providers reported them, and model calls of each worker."""

    usd: float = 0.0
    calls: dict[Stage, int] = field(factory=dict)

    def add(self, run: ConsolidationRun) -> None:
        """Count a run, once."""
        if math.isfinite(run.cost_usd) and run.cost_usd > 0:
            self.usd += run.cost_usd
        for stage, count in run.calls.items():
            self.calls[stage] = self.calls.get(stage, 0) + count
