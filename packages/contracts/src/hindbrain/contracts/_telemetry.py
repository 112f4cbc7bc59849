"""Telemetry: ids, counts and times, never text."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from attrs import field, frozen

CHANNEL = "hindsight:retrieval"
"""The name under which hosts hand events on. Source: seed 000."""

_VERSION = 1
Detail = str | int | bool


def _ids(values: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    """A copy that nobody can change, here and below: each listener sees what was emitted."""
    return MappingProxyType(dict(values))


def _counts(values: Mapping[str, int]) -> Mapping[str, int]:
    return MappingProxyType(dict(values))


def _details(values: Mapping[str, Detail]) -> Mapping[str, Detail]:
    return MappingProxyType(dict(values))


@frozen(kw_only=True)
class TelemetryEvent:
    """One event of recall or retain. Times are milliseconds since 1970 UTC.

    Attributes:
        phase: retrieval (one bank was asked), injection (what the model is shown) or retain.
        status: success, empty, error, timeout or skipped.
        mode: automatic or explicit.
        cache: hit, miss or none.
        context_id: the same for all events of one call of the context hook.
        ids: ids by what they name: ``raw``, ``kept``, ``injected``, ``retrieval``, ``document``, ``operation``.
        counts: numbers by what they count.
        details: further ids and numbers of the phase, by their names in :meth:`payload`.
        reason: why something was skipped or failed, as a code.

    Source: spec/memory.md section 13.
    """

    phase: str
    status: str
    mode: str = "automatic"
    cache: str = "none"
    started_at: int = 0
    ended_at: int = 0
    session_id: str | None = None
    context_id: str | None = None
    bank_ids: tuple[str, ...] = ()
    ids: Mapping[str, tuple[str, ...]] = field(factory=dict, converter=_ids)
    counts: Mapping[str, int] = field(factory=dict, converter=_counts)
    details: Mapping[str, Detail] = field(factory=dict, converter=_details)
    reason: str | None = None

    @property
    def duration_ms(self) -> int:
        """How long it took, in milliseconds; never below 0, whatever became of the clock."""
        return max(0, self.ended_at - self.started_at)

    def payload(self) -> dict[str, Any]:
        """The event as hosts hand it on: a JSON object, without the fields that say nothing."""
        fields = {
            "version": _VERSION,
            "phase": self.phase,
            "mode": self.mode,
            "status": self.status,
            "cache": self.cache,
            "startedAt": self.started_at,
            "endedAt": self.ended_at,
            "durationMs": self.duration_ms,
            "sessionId": self.session_id,
            "contextId": self.context_id,
            "bankIds": list(self.bank_ids),
            **{f"{name}Ids": list(ids) for name, ids in self.ids.items()},
            **{f"{name}Count": count for name, count in self.counts.items()},
            **self.details,
            "reason": self.reason,
        }
        return {name: value for name, value in fields.items() if value is not None}
