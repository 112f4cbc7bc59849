from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import Entry, ImagePart, Message, Part, TextPart, ThinkingPart, ToolCallPart
from hindbrain.memory import RetainConfig, iso, project, project_message

DEFAULTS = RetainConfig()


def entry(role: str, *parts: Part, **kw: Any) -> Entry:
    custom_type = kw.pop("custom_type", None)
    at = kw.pop("entry_at", None)
    message = Message(role=role, parts=parts, **kw)
    return Entry(id="e1", parent_id="e0", kind="message", at=at, message=message, custom_type=custom_type)


def shown(e: Entry, config: RetainConfig = DEFAULTS) -> dict[str, Any] | None:
    return project_message(e, config)


@pytest.mark.req("S0-retain-002")
def test_a_turn_becomes_a_json_array_of_its_messages() -> None:
    content = project([entry("user", TextPart("a")), entry("assistant", TextPart("b"))], DEFAULTS)
    assert content is not None
    assert [turn["role"] for turn in json.loads(content)] == ["user", "assistant"]
    assert content.startswith("[\n  {")


@pytest.mark.req("S0-retain-004")
def test_text_is_kept_whole_and_is_no_summary() -> None:
    text = "word " * 600
    got = shown(entry("user", TextPart(text)))
    assert got is not None
    assert got["content"] == [{"type": "text", "text": text}]


@pytest.mark.req("S0-projection-004", "S0-projection-005")
def test_what_users_and_assistants_say_is_kept() -> None:
    for role, text in (("user", "keep me"), ("assistant", "done")):
        got = shown(entry(role, TextPart(text)))
        assert got is not None
        assert (got["role"], got["content"]) == (role, [{"type": "text", "text": text}])


@pytest.mark.req("S0-projection-009")
def test_each_message_keeps_its_own_time() -> None:
    got = shown(entry("user", TextPart("a"), at=1700000000000))
    assert got is not None
    assert got["timestamp"] == "2023-11-14T22:13:20.000Z"


@pytest.mark.req("S0-projection-009")
def test_a_missing_time_is_the_entrys_and_never_the_clocks() -> None:
    got, none = shown(entry("user", TextPart("a"), entry_at=1)), shown(entry("user", TextPart("a")))
    assert got is not None
    assert none is not None
    assert got["timestamp"] == "1970-01-01T00:00:00.001Z"
    assert "timestamp" not in none


@pytest.mark.parametrize("at", [10**18, -(10**18), 253402300799999 + 1, -62135596800000])
def test_a_time_no_memory_takes_counts_as_missing(at: int) -> None:
    got = shown(entry("user", TextPart("a"), at=at, entry_at=1))
    assert got is not None
    assert got["timestamp"] == "1970-01-01T00:00:00.001Z"
    none = shown(entry("user", TextPart("a"), at=at, entry_at=at))
    assert none is not None
    assert "timestamp" not in none


@pytest.mark.req("S0-projection-006")
def test_tool_calls_are_kept_compact() -> None:
    call = ToolCallPart("1", "edit", {"path": "a.py\nb", "old": "x" * 999})
    got = shown(entry("assistant", call, model="m", stop_reason="toolUse"))
    assert got is not None
    assert got["content"] == [{"type": "toolCall", "name": "edit", "arguments": {"target": "a.py"}}]
    assert (got["model"], got["stopReason"]) == ("m", "toolUse")


def test_whole_tool_calls_are_kept_on_request_with_secrets_taken_out() -> None:
    secret = "ghp_" + "a1B2" * 10
    call = ToolCallPart("1", "bash", {"env": {"T": [secret]}, "n": 3})
    got = shown(entry("assistant", call), RetainConfig(compact_tool_calls=False))
    assert got is not None
    assert got["content"][0]["arguments"]["n"] == 3
    assert secret not in json.dumps(got)


@pytest.mark.parametrize("name", ["password", "api_key"])
def test_a_secret_that_only_its_name_tells_is_taken_out_of_whole_calls_too(name: str) -> None:
    call = ToolCallPart("1", "http", {"form": [{name: "correct-h0rse-battery", "user": "ann"}], "retries": 3})
    got = shown(entry("assistant", call), RetainConfig(compact_tool_calls=False))
    assert got is not None
    assert "correct-h0rse" not in json.dumps(got)
    assert got["content"][0]["arguments"]["retries"] == 3
    assert got["content"][0]["arguments"]["form"][0]["user"] == "ann"


@pytest.mark.req("S0-projection-001")
def test_only_the_parts_that_the_settings_name_are_kept() -> None:
    e = entry("assistant", TextPart("ok"), ToolCallPart("1", "bash", {"command": "make"}))
    got = shown(e, RetainConfig(assistant=("text",)))
    assert got is not None
    assert got["content"] == [{"type": "text", "text": "ok"}]
    assert shown(entry("user", TextPart("hello")), RetainConfig(user=())) is None


@pytest.mark.req("S0-projection-002")
def test_tools_are_chosen_by_name_for_calls_and_for_results() -> None:
    calls = entry("assistant", *(ToolCallPart("1", name, {"path": "a.py"}) for name in ("bash", "edit", "web")))
    results = {n: entry("toolResult", TextPart("boom"), tool_name=n, is_error=True) for n in ("bash", "edit", "web")}

    def names(config: RetainConfig) -> tuple[list[str], list[str]]:
        got = shown(calls, config)
        kept = [part["name"] for part in got["content"]] if got else []
        return kept, [name for name, result in results.items() if shown(result, config)]

    assert names(RetainConfig(tool_call_exclude=("bash",))) == (["edit", "web"], ["bash", "edit", "web"])
    assert names(RetainConfig(tool_result_exclude=("bash",))) == (["bash", "edit", "web"], ["edit", "web"])
    both = RetainConfig(tool_call_include=("bash", "edit"), tool_call_exclude=("bash",))
    assert names(both) == (["edit"], ["bash", "edit", "web"])
    assert names(RetainConfig(tool_result_include=())) == (["bash", "edit", "web"], [])


@pytest.mark.req("S0-projection-003")
@pytest.mark.parametrize("kind", ["strip_message", "strip_top_level"])
def test_named_fields_are_left_out_of_each_message(kind: str) -> None:
    e = entry("assistant", TextPart("ok"), model="m", stop_reason="stop")
    plain = RetainConfig(strip_message=(), strip_top_level=())
    strip: dict[str, Any] = {kind: ("model", "usage")}
    got, without = shown(e, plain), shown(e, evolve(plain, **strip))
    assert got is not None
    assert without is not None
    assert {"model", "usage"} & set(without) == set()
    assert without == {key: value for key, value in got.items() if key != "model"}


@pytest.mark.req("S0-projection-007")
def test_thinking_is_kept_only_on_request() -> None:
    e = entry("assistant", ThinkingPart("secret plan"), TextPart("ok"))
    assert "secret plan" not in json.dumps(shown(e))
    assert "secret plan" in json.dumps(shown(e, RetainConfig(assistant=("text", "thinking"))))


@pytest.mark.req("S0-projection-008")
def test_tool_results_are_kept_only_where_they_failed() -> None:
    ok = entry("toolResult", TextPart("ok done"), tool_name="bash")
    bad = entry("toolResult", TextPart("exit 2"), tool_name="bash", is_error=True)
    assert shown(ok) is None
    got = shown(bad)
    assert got is not None
    assert (got["toolName"], got["isError"], got["content"][0]["text"]) == ("bash", True, "exit 2")


def test_results_can_be_kept_whole_or_in_short() -> None:
    long = entry("toolResult", TextPart("x" * 600), tool_name="bash")
    whole, short = (
        shown(long, RetainConfig(tool_result=("content",))),
        shown(long, RetainConfig(tool_result=("summary",))),
    )
    assert whole is not None
    assert short is not None
    assert len(whole["content"][0]["text"]) == 600
    assert short["content"][0]["text"] == "x" * 500 + "…"
    assert long.message is not None
    assert (
        shown(evolve(long, message=evolve(long.message, is_error=True)), RetainConfig(tool_result=("summary",))) is None
    )


@pytest.mark.req("S0-projection-010", "S0-projection-011")
@pytest.mark.parametrize("tool", ["hindsight_recall", "hindsight_retain_user", "read", "grep", "find", "ls"])
def test_memorys_own_and_noisy_results_never_come_back(tool: str) -> None:
    assert shown(entry("toolResult", TextPart("boom"), tool_name=tool, is_error=True)) is None


@pytest.mark.req("S0-projection-011")
def test_a_failed_command_is_kept_where_a_failed_search_is_not() -> None:
    assert shown(entry("toolResult", TextPart("boom"), tool_name="bash", is_error=True)) is not None


@pytest.mark.req("S0-projection-010")
def test_calls_of_memorys_own_tools_are_left_out() -> None:
    assert shown(entry("assistant", ToolCallPart("1", "hindsight_recall", {"query": "x"}))) is None


@pytest.mark.parametrize(
    "opening", ["<hindsight-memory>", "<hindsight_memories>", "<memories>", "<mental_models>", "  <hindsight_memory>"]
)
@pytest.mark.req("S0-recall-009")
def test_injected_memory_is_never_retained(opening: str) -> None:
    content = project([entry("user", TextPart(f"{opening}\nold fact")), entry("user", TextPart("ship it"))], DEFAULTS)
    assert content is not None
    assert "ship it" in content
    assert "old fact" not in content


def test_injected_messages_are_known_by_their_custom_type_too() -> None:
    assert shown(entry("custom", TextPart("x"), custom_type="hindsight-recall")) is None


@pytest.mark.parametrize("role", ["system", "developer"])
def test_the_hosts_own_prompt_is_not_conversation(role: str) -> None:
    assert shown(entry(role, TextPart("You are a coding assistant"))) is None


def test_the_users_own_commands_are_kept() -> None:
    got = shown(entry("bashExecution", TextPart("$ make\nfailed"), tool_name="bash"))
    assert got is not None
    assert got["role"] == "bashExecution"


def test_images_are_kept_by_reference() -> None:
    got = shown(entry("user", TextPart("look"), ImagePart("image/png", 12, "ab" * 32)))
    assert got is not None
    assert got["content"][1] == {"type": "image", "mediaType": "image/png", "size": 12, "sha256": "ab" * 32}


def test_ids_are_stripped_unless_asked_for() -> None:
    got, kept = (
        shown(entry("user", TextPart("a"))),
        shown(entry("user", TextPart("a")), RetainConfig(strip_top_level=())),
    )
    assert got is not None
    assert kept is not None
    assert "id" not in got
    assert (kept["id"], kept["parentId"]) == ("e1", "e0")


def test_a_secret_in_any_part_is_taken_out_before_json_can_hide_it() -> None:
    secret = "ghp_" + "a1B2" * 10
    env = "line\nDB_PASSWORD=correct-horse-battery\nNEXT=1"
    content = project(
        [
            entry("user", TextPart(f"use {secret}")),
            entry("user", TextPart(env)),
            entry("assistant", ToolCallPart("1", "bash", {"command": f"curl -H 'Authorization: Bearer {secret}'"})),
            entry("toolResult", TextPart(f"bad token {secret}"), tool_name="bash", is_error=True),
        ],
        DEFAULTS,
    )
    assert content is not None
    assert secret not in content
    assert "correct-horse-battery" not in content
    assert "NEXT=1" in content


def test_a_secret_that_runs_over_two_text_parts_is_taken_out() -> None:
    head, tail = "gh" + "p_a1B2c3D4e5F6", "g7H8i9J0k1L2m3N4o5P6q7R8"
    halves = (TextPart(f"use {head}"), ImagePart("image/png", 1, "ab" * 32), TextPart(f"{tail} now"))
    result = entry("toolResult", TextPart(f"bad {head}"), TextPart(tail), tool_name="bash", is_error=True)
    content = project([entry("user", *halves), result], DEFAULTS)
    assert content is not None
    assert head not in content
    assert tail not in content
    texts = [part["text"] for turn in json.loads(content) for part in turn["content"] if part["type"] == "text"]
    assert texts == ["use [REDACTED:github-token]", " now", "bad [REDACTED:github-token]"]


def test_a_text_part_that_was_nothing_but_the_rest_of_a_secret_is_left_out() -> None:
    got = shown(entry("user", TextPart("gh" + "p_a1B2c3D4e5F6"), TextPart("g7H8i9J0k1L2m3N4o5P6q7R8")))
    assert got is not None
    assert got["content"] == [{"type": "text", "text": "[REDACTED:github-token]"}]


def test_a_secret_that_a_cut_would_halve_is_taken_out_first() -> None:
    jwt = "eyJ" + "a1B2" * 10 + "." + "c3D4" * 10 + "." + "e5F6" * 10
    call = ToolCallPart("1", "bash", {"command": f"{'x' * 40} {jwt}"})
    result = entry("toolResult", TextPart(f"{'x' * 430} {jwt}"), tool_name="bash")
    for e in (entry("assistant", call), result):
        content = project([e], RetainConfig(tool_result=("summary",)))
        assert content is not None
        assert "c3D4" not in content


def test_entries_without_anything_to_keep_make_no_content() -> None:
    silent = Entry(id="c", parent_id=None, kind="compaction", summary="s")
    assert project([silent, entry("assistant"), entry("user", TextPart("  "))], DEFAULTS) is None


@given(st.integers(min_value=0, max_value=253402300799999))
def test_times_are_rendered_to_the_millisecond(at: int) -> None:
    from datetime import UTC, datetime, timedelta

    assert datetime.fromisoformat(iso(at)) == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)
