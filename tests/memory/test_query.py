from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import ImagePart, Message, TextPart, ThinkingPart, ToolCallPart
from hindbrain.memory import Checkout, RecallConfig, ScopeConfig, compose_query, estimate_tokens, identify

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))


def said(role: str, text: str) -> Message:
    return Message(role=role, parts=(TextPart(text),))


def test_only_the_last_messages_are_asked_about() -> None:
    messages = [
        said("user", "ALPHA"),
        *[said("assistant", f"n{i}") for i in range(38)],
        said("user", "rotate the segment"),
    ]
    query = compose_query(messages, RecallConfig(), kind="project", project=PROJECT)
    assert "rotate the segment" in query
    assert "n37" in query
    assert "ALPHA" not in query
    assert "n36" not in query


def test_a_long_log_before_the_question_loses_its_head_not_the_question() -> None:
    query = compose_query(
        [said("user", "log line\n" * 400 + "why does the flush hang?")], RecallConfig(), kind="user", project=None
    )
    assert query.endswith("why does the flush hang?")
    assert len(query) <= 800


@given(st.text(min_size=1, max_size=3000), st.integers(min_value=1, max_value=2000))
def test_a_query_keeps_both_bounds(text: str, chars: int) -> None:
    query = compose_query([said("user", text)], RecallConfig(max_query_chars=chars), kind="user", project=None)
    assert len(query) <= chars
    assert estimate_tokens(query) <= 400


def test_dense_scripts_are_bounded_in_tokens_too() -> None:
    query = compose_query([said("user", "記憶" * 400)], RecallConfig(), kind="user", project=None)
    assert 300 < estimate_tokens(query) <= 400


def test_injected_memory_is_never_part_of_the_question() -> None:
    messages = [said("user", "<hindsight_memories>\nold\n</hindsight_memories>"), said("user", "new question")]
    query = compose_query(messages, RecallConfig(), kind="user", project=None)
    assert "old" not in query
    assert "new question" in query


def test_thinking_and_images_say_nothing_tool_calls_say_what_they_do() -> None:
    message = Message(
        role="assistant",
        parts=(ThinkingPart("secret plan"), ToolCallPart("1", "bash", {"command": "ls é"}), ImagePart("image/png")),
    )
    query = compose_query([message], RecallConfig(), kind="user", project=None)
    assert "secret plan" not in query
    assert 'bash {"command":"ls é"}' in query
    assert "[image]" in query


def test_a_secret_in_the_last_message_does_not_leave() -> None:
    secret = "ghp_" + "a1B2" * 10
    query = compose_query([said("user", f"why is {secret} refused?")], RecallConfig(), kind="user", project=None)
    assert secret not in query


def test_preamble_date_and_hints_come_first_when_asked_for() -> None:
    config = RecallConfig(query_preamble="Look up:", include_date_in_query=True)
    query = compose_query([said("user", "x y z")], config, kind="project", project=PROJECT, date="2026-01-02")
    assert query.split("\n\n") == ["Look up:", "date: 2026-01-02", "project: acme", "user: x y z"]


def test_roles_outside_the_list_are_left_out_and_nothing_said_still_asks() -> None:
    query = compose_query([said("toolResult", "noise")], RecallConfig(), kind="user", project=None)
    assert "noise" not in query
    assert any(c.isalpha() for c in query)


def test_a_preamble_that_fills_the_bound_gives_way_to_the_words() -> None:
    config = RecallConfig(query_preamble="p" * 90, max_query_chars=100)
    assert compose_query([said("user", "the question")], config, kind="user", project=None) == "user: the question"
