"""Events as OpenTelemetry spans, and nothing where it is not installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from hindbrain.contracts import Entry, Message, TelemetryEvent, TextPart
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import InProcessHost, Session, _otel, record_span
from hindbrain.memory import Checkout, MemoryConfig, ScopeConfig, SessionIdentity, identify

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
IDENTITY = SessionIdentity(host="pi", key="29e67821bedc391a", lineage="s1", label="s.jsonl", origin="local")


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Where the spans of this test go. The process's own provider can be set only once and is left alone."""
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr("opentelemetry.trace.get_tracer", provider.get_tracer)
    _otel._tracer.cache_clear()
    yield kept
    _otel._tracer.cache_clear()
    provider.shutdown()


async def test_a_turn_leaves_its_spans_with_their_own_times(exporter: InMemorySpanExporter) -> None:
    host = InProcessHost()
    message = Message(role="user", parts=(TextPart("Deploys happen on Fridays."),))
    host.add(Entry(id="a", parent_id=None, kind="message", message=message))
    config = MemoryConfig(project_bank="proj-a")
    session = Session(host=host, backend=InMemoryBackend(), config=config, project=PROJECT, identity=IDENTITY)
    await session.settled()
    await session.context([Message(role="user", parts=(TextPart("when are deploys?"),))])
    await session.close()
    spans = exporter.get_finished_spans()
    assert [span.name for span in spans] == ["hindsight.retain", "hindsight.retrieval", "hindsight.injection"]
    for span, event in zip(spans, host.events, strict=True):
        assert (span.start_time, span.end_time) == (event.started_at * 10**6, event.ended_at * 10**6)
    retrieval = spans[1].attributes
    assert retrieval is not None
    assert (retrieval["hindsight.bankId"], retrieval["hindsight.keptCount"]) == ("proj-a", 1)
    assert "Fridays" not in str([dict(span.attributes or {}) for span in spans])


@pytest.mark.parametrize(("status", "code"), [("timeout", StatusCode.ERROR), ("empty", StatusCode.UNSET)])
def test_a_failure_is_the_status_of_its_span(exporter: InMemorySpanExporter, status: str, code: StatusCode) -> None:
    record_span(TelemetryEvent(phase="retrieval", status=status, reason="timeout"))
    (span,) = exporter.get_finished_spans()
    assert span.status.status_code is code


PROGRAM = """
import sys
sys.modules["opentelemetry"] = None
from hindbrain.contracts import TelemetryEvent
from hindbrain.generic import record_span
record_span(TelemetryEvent(phase="retain", status="success"))
"""


def test_where_it_is_not_installed_nothing_happens() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""


def test_it_is_not_imported_before_the_first_event() -> None:
    code = "import sys, hindbrain.generic; print('opentelemetry' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.strip() == b"False"
