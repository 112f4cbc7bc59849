"""Recall ends before the host would end it."""

from __future__ import annotations

from attrs import evolve

from hindbrain.memory import RecallConfig

_HOSTS_WAIT_MS = {"omp": 30_000}
"""How long a host waits for one of our answers before it goes on without. Source: spec/omp-host.md section 5."""
_MARGIN_MS = 2_000


def within_host(config: RecallConfig, host: str) -> RecallConfig:
    """The settings with a deadline that leaves the host's own time to pass on what was found."""
    waits = _HOSTS_WAIT_MS.get(host)
    if waits is None or config.deadline_ms <= waits - _MARGIN_MS:
        return config
    return evolve(config, deadline_ms=waits - _MARGIN_MS)
