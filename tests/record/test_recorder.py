"""The parts of the recorder that guard what gets committed, and its model, without a host."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

RECORDER = Path(__file__).parents[2] / "scripts" / "record"
ROOT = "/tmp/record-abc_1234"


@pytest.fixture(autouse=True)
def recorder_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(RECORDER.parent))
    monkeypatch.syspath_prepend(str(RECORDER))


def line_of(entry: dict[str, Any]) -> bytes:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def test_paths_lose_the_temporary_root_and_all_else_stays_as_it_was() -> None:
    from _neutral import neutral

    odd = b'{"type": "custom",  "cwd":"' + ROOT.encode() + b'/home/dev/x","u":"\\u00e9","n":1.0}\n'
    folder = line_of({"type": "session", "parentSession": f"{ROOT}/s/--tmp-record-abc_1234-home-dev-x--/a.jsonl"})
    assert neutral(odd + folder, ROOT) == (
        b'{"type": "custom",  "cwd":"/home/dev/x","u":"\\u00e9","n":1.0}\n'
        + line_of({"type": "session", "parentSession": "/s/--home-dev-x--/a.jsonl"})
    )


def test_prompts_and_tool_texts_of_a_host_are_left_out() -> None:
    from _neutral import neutral

    tool = {"name": "read", "description": "its words", "parameters": {"a": "its words"}}
    system = {"role": "system", "content": "its words", "sections": {"rules": "its words"}, "toolsAdded": [tool]}
    entries: list[dict[str, Any]] = [
        {"type": "message", "id": "a", "message": system},
        {"type": "compaction", "id": "b", "systemMessage": system},
        {"type": "session_init", "id": "c", "systemPrompt": "its words"},
        {"type": "message", "id": "d", "message": {"role": "developer", "content": "its words"}},
    ]
    result = neutral(b"".join(map(line_of, entries)), ROOT)
    assert b"its words" not in result
    assert [json.loads(line)["id"] for line in result.splitlines()] == ["a", "b", "c", "d"]


def test_a_trace_of_this_machine_stops_the_recording() -> None:
    from _neutral import NotNeutralError, neutral

    with pytest.raises(NotNeutralError, match="still names this machine"):
        neutral(line_of({"type": "custom", "text": str(RECORDER)}), ROOT)


def test_a_title_slot_of_another_size_stops_the_recording() -> None:
    from _neutral import NotNeutralError, neutral

    with pytest.raises(NotNeutralError, match="title slot"):
        neutral(b'{"type":"title","pad":"  "}\n', ROOT)


@pytest.fixture
def model() -> Iterator[Any]:
    from _model import ScriptedModel

    with ScriptedModel(lambda call: (call.tool, dict(call.args)), lambda _body: None) as running:
        yield running


def ask(model: Any, text: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(model.url.split("/")[2], timeout=10)
    try:
        connection.request(
            "POST", "/v1/chat/completions", json.dumps({"messages": [{"role": "user", "content": text}]})
        )
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def test_the_model_streams_the_scripted_answers_in_order(model: Any) -> None:
    from _story import Call, Reply

    model.play([Reply("東京 🚀"), Reply("", (Call("bash", {"command": "ls"}, fails=False),))])
    (_, first), (_, second) = ask(model, "one"), ask(model, "two")
    assert "東京 🚀" in first
    assert '"finish_reason": "stop"' in first
    assert first.endswith("data: [DONE]\n\n")
    assert '"name": "bash"' in second
    assert '"finish_reason": "tool_calls"' in second
    assert model.calls["call_0001"].args == {"command": "ls"}


def test_a_request_the_story_does_not_expect_is_refused_and_kept(model: Any) -> None:
    status, _ = ask(model, "surprise")
    assert status == 400
    assert "surprise" in model.unexpected[0]


def test_the_story_names_only_steps_and_words_that_exist() -> None:
    from _story import load_story

    story = load_story()
    assert story.said(story.fork_at)
    for step in story.steps:
        assert not step.rewind or story.said(step.rewind)
    for question in story.questions:
        assert question.words in story.said(question.step)
