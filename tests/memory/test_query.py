from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import ImagePart, Message, TextPart, ThinkingPart, ToolCallPart, scrub
from hindbrain.memory import Checkout, RecallConfig, ScopeConfig, compose_query, estimate_tokens, identify

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))


def said(role: str, text: str) -> Message:
    return Message(role=role, parts=(TextPart(text),))


@pytest.mark.req("S0-recall-003")
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


PROGRAM = """
from hindbrain.contracts import Message, TextPart
from hindbrain.memory import Checkout, RecallConfig, ScopeConfig, compose_query, identify
said = [("user", "fix the queue lock"), ("assistant", "done"), ("user", "now the cursor")]
messages = [Message(role=role, parts=(TextPart(text),)) for role, text in said]
project = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
print(compose_query(messages, RecallConfig(), kind="project", project=project))
"""


@pytest.mark.req("S0-recall-002")
def test_the_same_words_make_the_same_query_in_every_process() -> None:
    seeds = ("1", "2")
    done = [
        subprocess.run([sys.executable, "-c", PROGRAM], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True)
        for seed in seeds
    ]
    assert done[0].stdout == done[1].stdout
    assert b"now the cursor" in done[0].stdout


@pytest.mark.parametrize(("role", "setting"), [("toolResult", "tool"), ("system", "system")])
def test_the_roles_of_the_settings_are_those_of_the_messages(role: str, setting: str) -> None:
    query = compose_query([said(role, "loud")], RecallConfig(roles=(setting,)), kind="user", project=None)
    assert query == f"{role}: loud"


def test_what_comes_after_the_end_is_not_asked_about() -> None:
    messages = [said("user", "the question"), said("assistant", "later")]
    assert compose_query(messages, RecallConfig(), kind="user", project=None, end=1) == "user: the question"


def test_only_the_last_messages_are_looked_at_however_long_the_conversation() -> None:
    class Looked(list[Message]):
        looks = 0

        def __getitem__(self, index: Any) -> Any:
            self.looks += 1
            return super().__getitem__(index)

    messages = Looked(said("user", f"n{i}") for i in range(1000))
    compose_query(messages, RecallConfig(), kind="user", project=None)
    assert messages.looks == 2


LONG = "words " * 20_000
KEY = "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" + ("QUJDREVGR0hJSktM" * 4 + "\n") * 1_000


@pytest.mark.parametrize(
    "text",
    [
        LONG + "token=ghp_" + "a1B2" * 10 + " why is it refused?",
        "ghp_" + "a1B2" * 10 + " " + "x" * 16_000,
        "AKIA" + "A1B2" * 4 + " " + KEY + "-----END PGP PRIVATE KEY BLOCK-----\nwhy?",
        "words\n" * 3000 + "\n".join(f"PASSWORD_{n}={'a1B2c3D4e5F6g7H8i9J0' * 20}" for n in range(120)),
    ],
    ids=["behind-a-long-text", "at-the-cut", "longer-than-the-cut", "nothing-but-secrets"],
)
def test_of_a_long_text_the_same_end_is_asked_about_as_if_all_of_it_were_scrubbed(text: str) -> None:
    whole = scrub(f"user: {text}")[-800:]
    while estimate_tokens(whole) > 400:
        whole = whole[len(whole) // 8 :]
    assert compose_query([said("user", text)], RecallConfig(), kind="user", project=None) == whole.strip()


def test_a_long_text_is_not_scrubbed_to_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counted(text: str) -> str:
        read.append(len(text))
        return scrub(text)

    monkeypatch.setattr("hindbrain.memory._query.scrub", counted)
    compose_query([said("user", LONG * 10)], RecallConfig(), kind="user", project=None)
    assert len(read) == 1
    assert read[0] < 20_000


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
