from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import ToolCallPart
from hindbrain.observe import Kind, Observation, Relevance, extract, next_chunk
from hindbrain.observe.testing import BranchScript


def found(script: BranchScript) -> tuple[Observation, ...]:
    index = script.index()
    chunk = next_chunk(index, 60_000)
    assert chunk is not None
    return extract(index, chunk)


def kinds(script: BranchScript) -> list[tuple[str, str]]:
    return [(each.kind.value, each.relevance.value) for each in found(script)]


@pytest.mark.req("S4-observer-008")
def test_what_a_user_says_is_recorded_with_its_source_and_time() -> None:
    script = BranchScript()
    script.assistant("Hello.")
    script.user("I prefer tabs.\nPlease use them.")
    (record,) = found(script)
    assert record.content == "User: I prefer tabs. Please use them."
    assert (record.kind, record.relevance, record.source_ids) == (Kind.USER, Relevance.CRITICAL, ("raw-2",))
    assert record.timestamp == "2026-01-02 09:01"


def test_a_decision_is_told_from_a_question() -> None:
    script = BranchScript()
    script.user("Let's go with SQLite.")
    script.user("What is in the file?")
    script.user("東京のファイルはUTF-8です")
    assert kinds(script) == [("decision", "critical"), ("user", "high"), ("user", "high")]


def test_causes_choices_and_completions_in_a_models_words_are_recorded_and_code_is_not() -> None:
    script = BranchScript()
    script.assistant(
        "The root cause is a stale lock. I looked around.\n"
        "```ts\n/** Switch to another, because it is done */\nwe use it because of that\n```\n"
        "We use a retry now. All 12 tests pass. This is done because of you. Another thing is fixed."
    )
    assert [each.content for each in found(script)] == [
        "Assistant: The root cause is a stale lock.",
        "Assistant: We use a retry now.",
        "Assistant: All 12 tests pass.",
    ]
    assert kinds(script) == [("fact", "medium"), ("decision", "high"), ("progress", "high")]


def test_a_failure_is_recorded_by_the_line_that_says_it() -> None:
    script = BranchScript()
    script.say("toolResult", "step 1\nValueError: no such port\n\nat line 7\n", tool_name="bash", is_error=True)
    script.say("toolResult", "fine", tool_name="bash")
    script.say("bashExecution", "$ make\nnothing to do", tool_name="bash", is_error=True)
    assert [each.content for each in found(script)] == [
        "bash failed: ValueError: no such port",
        "bash failed: nothing to do",
    ]


def test_the_files_that_were_changed_are_one_record() -> None:
    script = BranchScript()
    for n, name in enumerate(["write", "edit", "read"]):
        script.say("assistant", ToolCallPart("1", name, {"path": f"src/{n}.py"}))
    script.say("assistant", ToolCallPart("1", "edit", {"path": "src/0.py"}))
    (record,) = found(script)
    assert record.content == "Files changed: src/0.py, src/1.py"
    assert record.source_ids == ("raw-1", "raw-4", "raw-2")
    assert (record.kind, record.relevance) == (Kind.PROGRESS, Relevance.LOW)


def test_memory_that_was_injected_is_not_observed_again() -> None:
    script = BranchScript()
    script.user("<hindsight-memory>\n- We use unittest.\n</hindsight-memory>")
    assert found(script) == ()


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant", "toolResult"]), st.text(max_size=600)), min_size=1),
)
def test_whatever_was_said_a_record_is_one_short_line_of_the_chunk(said: list[tuple[str, str]]) -> None:
    script = BranchScript()
    for role, text in said:
        script.say(role, text, is_error=role == "toolResult")
    for record in found(script):
        assert len(record.content.splitlines()) == 1
        assert len(record.content) < 500
        assert set(record.source_ids) <= {f"raw-{n + 1}" for n in range(len(said))}
    assert found(script) == found(script)
