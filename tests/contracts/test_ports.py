import pytest

from hindbrain.contracts import (
    CHANNEL,
    Backend,
    Completion,
    ContextUsage,
    Coverage,
    Message,
    RetainItem,
    RetainJob,
    TaskState,
    TelemetryEvent,
    Tool,
)
from hindbrain.contracts.in_memory import InMemoryBackend


def test_a_host_that_knows_nothing_says_none() -> None:
    assert ContextUsage() == ContextUsage(tokens=None, window=None)


def test_an_unavailable_task_list_is_not_an_empty_one() -> None:
    assert TaskState(available=False) != TaskState(available=True)
    assert TaskState(available=True).open_tasks == ()


def test_a_completion_need_not_know_its_cost() -> None:
    answer = Completion(message=Message(role="assistant"))
    assert (answer.input_tokens, answer.output_tokens) == (None, None)


def test_a_tool_shows_its_name_and_not_its_schema() -> None:
    assert "secret" not in repr(Tool(name="ls", description="lists", parameters={"secret": 1}))


def test_a_job_keeps_its_operation_id_and_the_range_it_stands_for() -> None:
    covers = Coverage(lineage="l", bank="b", first_id="1", last_id="9", chain="c")
    item = RetainItem(content="hunter2", document_id="d")
    job = RetainJob(id="j", bank="b", item=item, operation_id="o", created_at="2026-03-01T10:00:00Z", covers=covers)
    assert (job.operation_id, job.covers) == ("o", covers)
    assert "hunter2" not in repr(job)


def test_a_telemetry_event_holds_counts_and_ids_on_the_channel_of_the_seed() -> None:
    ids: dict[str, tuple[str, ...]] = {"raw": ("a", "b")}
    event = TelemetryEvent(
        phase="retrieval",
        status="success",
        started_at=1_000,
        ended_at=1_250,
        bank_ids=("proj",),
        ids=ids,
        counts={"raw": 2},
        details={"retrievalId": "r1"},
    )
    ids["raw"] = ("changed",)
    assert CHANNEL == "hindsight:retrieval"
    assert event.payload() == {
        "version": 1,
        "phase": "retrieval",
        "mode": "automatic",
        "status": "success",
        "cache": "none",
        "startedAt": 1_000,
        "endedAt": 1_250,
        "durationMs": 250,
        "bankIds": ["proj"],
        "rawIds": ["a", "b"],
        "rawCount": 2,
        "retrievalId": "r1",
    }


def test_a_clock_that_went_back_makes_no_event_end_before_it_began() -> None:
    assert TelemetryEvent(phase="retain", status="success", started_at=5, ended_at=3).duration_ms == 0


@pytest.mark.parametrize(("value", "fits"), [(InMemoryBackend(), True), (object(), False)])
def test_whether_something_is_a_backend_can_be_asked_at_run_time(value: object, fits: bool) -> None:
    assert isinstance(value, Backend) is fits
