"""The recorded sessions hold what they are there for. Read as plain JSON, on purpose without our own reader."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

SESSIONS = Path(__file__).parents[2] / "examples" / "sessions"
MAIN = ["pi-1.6.0", "omp-18.2.3"]
ALL = sorted(str(path.relative_to(SESSIONS)) for path in SESSIONS.rglob("*.jsonl"))
ABANDONED = "Let's try the sender with asyncio"
CHOSEN = "Let's go another way from here: no asyncio"

Line = dict[str, Any]


def lines_of(name: str) -> list[Line]:
    return [json.loads(line) for line in (SESSIONS / name).read_text("utf-8").splitlines()]


def entries_of(name: str) -> list[Line]:
    return [line for line in lines_of(name) if line["type"] not in {"title", "session"}]


def messages_of(session: str, role: str) -> list[Line]:
    messages = [entry["message"] for entry in entries_of(f"{session}.jsonl") if entry["type"] == "message"]
    return [message for message in messages if message["role"] == role]


def text_of(message: Line) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def said(session: str) -> str:
    return "\n".join(text_of(message) for message in messages_of(session, "user"))


def tool_calls(session: str) -> list[Line]:
    parts = [part for message in messages_of(session, "assistant") for part in message["content"]]
    return [part for part in parts if part["type"] == "toolCall"]


def test_each_host_and_each_side_file_is_there() -> None:
    assert ALL == ["omp-18.2.3.jsonl", "omp-18.2.3/Reviewer.jsonl", "pi-1.6.0-fork.jsonl", "pi-1.6.0.jsonl"]


@pytest.mark.parametrize("session", MAIN)
def test_a_session_has_many_turns_of_the_user(session: str) -> None:
    assert len(messages_of(session, "user")) >= 15


@pytest.mark.parametrize("session", MAIN)
def test_the_host_has_run_its_tools_and_answered_every_call(session: str) -> None:
    calls = tool_calls(session)
    assert {"bash", "read", "write", "edit"} <= {call["name"] for call in calls}
    results = messages_of(session, "toolResult")
    assert sorted(call["id"] for call in calls) == sorted(result["toolCallId"] for result in results)


@pytest.mark.parametrize("session", MAIN)
@pytest.mark.parametrize("trouble", ["UnicodeDecodeError", "InvalidOperation|ValueError", "AssertionError", "--url"])
def test_a_command_failed_for_real(session: str, trouble: str) -> None:
    failed = [text_of(result) for result in messages_of(session, "toolResult") if result["isError"]]
    assert any(re.search(trouble, text) for text in failed)


@pytest.mark.parametrize("session", MAIN)
def test_a_failing_test_was_mended_and_passed(session: str) -> None:
    runs = [text_of(result) for result in messages_of(session, "toolResult") if "Ran 3 tests" in text_of(result)]
    assert ["FAILED" in run for run in runs][-2:] == [True, False]


@pytest.mark.parametrize("session", MAIN)
@pytest.mark.parametrize(
    "words", ["No, don't use float", "that is a wrong assumption", "write the decision down", "I want unittest"]
)
def test_corrections_decisions_and_habits_are_the_users_words(session: str, words: str) -> None:
    assert words in said(session)


@pytest.mark.parametrize("session", MAIN)
def test_one_entry_has_two_children_of_which_one_was_left(session: str) -> None:
    entries = entries_of(f"{session}.jsonl")
    parents = Counter(entry["parentId"] for entry in entries if entry["parentId"])
    (fork,) = [parent for parent, count in parents.items() if count > 1]
    prompts = [text_of(entry["message"]) for entry in entries if entry["parentId"] == fork]
    assert [prompt.startswith(start) for prompt, start in zip(prompts, (ABANDONED, CHOSEN), strict=True)] == [True] * 2


@pytest.mark.parametrize("session", MAIN)
def test_the_leaf_lies_on_the_chosen_branch(session: str) -> None:
    entries = {entry["id"]: entry for entry in entries_of(f"{session}.jsonl")}
    branch, at = [], next(reversed(entries))
    while at:
        branch.append(json.dumps(entries[at], ensure_ascii=False))
        at = entries[at]["parentId"]
    assert any(CHOSEN in line for line in branch)
    assert not any(ABANDONED in line for line in branch)


@pytest.mark.parametrize("name", ALL)
def test_entries_have_distinct_ids_and_known_parents(name: str) -> None:
    known: set[str] = set()
    for entry in entries_of(name):
        assert entry["id"] not in known
        assert entry["parentId"] is None or entry["parentId"] in known
        known.add(entry["id"])


@pytest.mark.parametrize("session", MAIN)
def test_there_is_one_compaction_which_keeps_a_known_entry(session: str) -> None:
    entries = entries_of(f"{session}.jsonl")
    (compaction,) = [entry for entry in entries if entry["type"] == "compaction"]
    assert compaction["summary"].startswith("## Goal")
    assert compaction["firstKeptEntryId"] in {entry["id"] for entry in entries}
    assert entries.index(compaction) < len(entries) - 5


@pytest.mark.parametrize("session", MAIN)
def test_the_user_ran_a_command_of_their_own(session: str) -> None:
    (run,) = messages_of(session, "bashExecution")
    assert (run["exitCode"], "--batch-size" in run["output"]) == (0, True)


@pytest.mark.parametrize("session", MAIN)
def test_emoji_and_japanese_came_through(session: str) -> None:
    raw = (SESSIONS / f"{session}.jsonl").read_text("utf-8")
    for text in ("田中さくら;東京都港区六本木", "Zoë 🚀"):
        assert text in said(session)
        assert raw.count(text) > 1


def test_the_title_slot_of_omp_has_256_bytes() -> None:
    for name in ("omp-18.2.3.jsonl", "omp-18.2.3/Reviewer.jsonl"):
        slot, header = (SESSIONS / name).read_bytes().splitlines(keepends=True)[:2]
        assert len(slot) == 256
        assert json.loads(slot)["type"] == "title"
        assert json.loads(header)["type"] == "session"
    assert lines_of("omp-18.2.3.jsonl")[0]["title"] == "csvpush: first version"


def test_the_fork_shares_its_ids_and_goes_its_own_way() -> None:
    main = {entry["id"] for entry in entries_of("pi-1.6.0.jsonl")}
    fork = entries_of("pi-1.6.0-fork.jsonl")
    own = [entry for entry in fork if entry["id"] not in main]
    assert len(fork) - len(own) > 10
    assert text_of(own[0]["message"]).startswith("In this copy")
    assert lines_of("pi-1.6.0.jsonl")[0]["id"] in lines_of("pi-1.6.0-fork.jsonl")[0]["parentSession"]


def test_the_subagent_names_its_parent_and_hands_in_a_verdict() -> None:
    child = lines_of("omp-18.2.3/Reviewer.jsonl")
    assert lines_of("omp-18.2.3.jsonl")[1]["id"] in child[1]["parentSession"]
    assert "Both functions keep the policy" in json.dumps(child)


@pytest.mark.parametrize("name", ALL)
def test_a_file_names_only_the_neutral_machine(name: str) -> None:
    text = (SESSIONS / name).read_text("utf-8")
    header = next(line for line in lines_of(name) if line["type"] == "session")
    assert header["cwd"] == "/home/dev/csvpush"
    # Escapes first, so that the n of a line break does not pass for the beginning of a path.
    paths = re.findall(
        r"""(?<![\w.<:/~-])/(?:home|root|tmp|var|opt|work|Users|usr)\b[^\s"'\\,)]*""", text.replace("\\n", " ")
    )
    assert [path for path in paths if not path.startswith(("/home/dev/", "/usr/lib/python"))] == []
    assert not re.search(r"record-\w{8}|node_modules|registry|127\.0\.0\.1|localhost", text)


@pytest.mark.parametrize("name", ALL)
def test_a_file_holds_none_of_the_hosts_prompts(name: str) -> None:
    for line in lines_of(name):
        system = line.get("systemMessage") or line.get("message", {})
        if system.get("role") == "system":
            assert set(system["sections"].values()) == {"<omitted>"}
            assert {tool["description"] for tool in system.get("toolsAdded", [])} <= {"<omitted>"}
        assert line.get("systemPrompt", "<omitted>") == "<omitted>"
        assert system.get("role") != "developer" or text_of(system) == "<omitted>"


def test_every_question_is_answered_by_the_users_own_words() -> None:
    questions = json.loads((SESSIONS / "questions.json").read_text("utf-8"))
    assert len(questions) >= 6
    for session in MAIN:
        prompts = {e["id"]: e["message"] for e in entries_of(f"{session}.jsonl") if e["type"] == "message"}
        for question in questions:
            answer = prompts[question["entries"][session]]
            assert answer["role"] == "user"
            assert question["words"] in text_of(answer)


def test_the_readme_shows_the_same_questions() -> None:
    readme = (SESSIONS / "README.md").read_text("utf-8")
    for question in json.loads((SESSIONS / "questions.json").read_text("utf-8")):
        cells = [question["ask"], question["words"], *(f"`{question['entries'][name]}`" for name in sorted(MAIN))]
        assert f"| {' | '.join(cells)} |" in readme
