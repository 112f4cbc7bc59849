"""Telemetry: ids and counts, never text."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

CHANNEL = "hindsight:retrieval"
"""The bus channel hosts re-emit these on. Source: seed 000."""


@frozen(kw_only=True)
class TelemetryEvent:
    """One event. ``phase`` is retrieval, injection or retain; ``counts`` and ``ids`` hold no memory text."""

    phase: str
    status: str
    session_id: str | None = None
    bank_ids: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(factory=dict)
    ids: tuple[str, ...] = ()
    reason: str | None = None
    duration_ms: float | None = None
