"""Events as OpenTelemetry spans, where ``hindbrain-generic[otel]`` is installed; without it nothing happens.

Only the API is used: the process decides, by the SDK it sets up or does not, whether spans go anywhere.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from hindbrain.contracts import TelemetryEvent

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

_NANOSECONDS = 1_000_000
_FAILED = frozenset({"error", "timeout"})


@cache
def _tracer() -> Tracer | None:
    """The tracer, looked up once: the API costs a moment to import."""
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace.get_tracer("hindbrain")


def record_span(event: TelemetryEvent) -> None:
    """Record an event as a span of its own times, named ``hindsight.<phase>``; its fields become attributes.

    A span belongs to the trace that is current where the session was called.
    """
    tracer = _tracer()
    if tracer is None:
        return
    from opentelemetry.trace import Status, StatusCode

    fields = {f"hindsight.{name}": value for name, value in event.payload().items()}
    start, end = event.started_at * _NANOSECONDS, (event.started_at + event.duration_ms) * _NANOSECONDS
    span = tracer.start_span(f"hindsight.{event.phase}", start_time=start, attributes=fields)
    if event.status in _FAILED:
        span.set_status(Status(StatusCode.ERROR, event.reason))
    span.end(end_time=end)
