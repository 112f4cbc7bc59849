"""Files that the real hosts wrote."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from hindbrain.contracts import TextPart, ToolCallPart
from hindbrain.memory.sessions import SessionReader, iter_session, read_session
from hindbrain.memory.sessions._record import read_records

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests" / "data" / "sessions"
FILES = sorted([*DATA.glob("*.jsonl"), *(ROOT / "examples" / "sessions").rglob("*.jsonl")])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_line_of_a_recorded_session_is_an_entry_without_a_problem(path: Path) -> None:
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    entries = [line for line in lines if line["type"] not in {"title", "session"}]

    read = read_session(path)

    assert read.problems == ()
    assert read.offset == path.stat().st_size
    assert [(e.id, e.parent_id, e.kind) for e in read.entries] == [(e["id"], e["parentId"], e["type"]) for e in entries]
    assert [e.line for e in read.entries] == [
        n for n, e in enumerate(lines, 1) if e["type"] not in {"title", "session"}
    ]
    assert Counter(e.message.role for e in read.entries if e.message and e.kind == "message") == Counter(
        e["message"]["role"] for e in entries if e["type"] == "message"
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_three_doors_agree(path: Path) -> None:
    read = read_session(path)

    steps = list(iter_session(path))

    assert tuple(item for item, _ in steps) == (read.header, *read.entries)
    assert [done for _, done in steps] == sorted(done for _, done in steps)
    assert steps[-1][1] == path.stat().st_size
    assert SessionReader(path).read_new() == read


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_recorded_session_is_read_at_once_and_not_line_by_line(path: Path) -> None:
    data = path.read_bytes()

    at_once = read_records(data)

    assert at_once is not None
    assert [data[start:].split(b"\n", 1)[0] for start in at_once[1]] == data.splitlines()
    assert [record.type for record in at_once[0]] == [json.loads(line)["type"] for line in data.splitlines()]


def test_pi_headers_name_session_directory_and_time() -> None:
    header = read_session(DATA / "pi-1.6.0-all-entry-types.jsonl").header

    assert header is not None
    assert (header.host, header.version, header.cwd) == ("pi", 3, "/home/user/proj")
    assert header.id == "01a22e54-3efa-72f0-85a7-ac00473d5119"
    assert (header.at, header.title, header.parent_session) == (1_796_073_602_811, None, None)


def test_a_fork_names_the_session_it_came_from_and_keeps_its_entry_ids() -> None:
    origin = read_session(DATA / "pi-1.6.0-all-entry-types.jsonl")
    fork = read_session(DATA / "pi-1.6.0-fork.jsonl")

    assert fork.header is not None
    assert origin.header is not None
    assert (fork.header.parent_session or "").endswith(f"_{origin.header.id}.jsonl")
    copied = [e.id for e in fork.entries if e.kind == "message"][:3]
    assert copied == [e.id for e in origin.entries if e.kind == "message"][:3]


def test_the_branch_of_a_tree_ends_at_the_last_entry_and_leaves_the_other_branch_out() -> None:
    read = read_session(DATA / "pi-1.6.0-all-entry-types.jsonl")

    path = read.branch().path()

    assert path[0].parent_id is None
    assert path[-1] == read.entries[-1]
    assert len(path) == 13
    assert "on fake-2" not in [e.message.text for e in path if e.message]
    assert "on fake-2" in [e.message.text for e in read.branch("535c6592").path() if e.message]


def test_summaries_custom_entries_and_injected_messages_keep_what_tells_them_apart() -> None:
    entries = {e.id: e for e in read_session(DATA / "pi-1.6.0-all-entry-types.jsonl").entries}

    compaction, branch, state, note = (entries[key] for key in ("14306364", "c1da15f4", "c9a05a33", "696c2483"))
    assert (compaction.summary, compaction.first_kept_id, compaction.data) == ("[probe summary]", "d6d3baa7", '{"v":1}')
    assert (branch.summary, branch.message) == ("[ext branch summary]", None)
    assert (state.custom_type, state.data, state.message) == ("probe-state", '{"n":1}', None)
    assert note.custom_type == "probe-note"
    assert note.message is not None
    assert (note.message.role, note.message.text, note.message.at) == ("custom", "note for the model", note.at)


def test_a_call_and_its_result_keep_names_ids_and_arguments() -> None:
    entries = {e.id: e for e in read_session(DATA / "omp-18.3.4-tool-error.jsonl").entries}

    call, result = entries["7aee51db"].message, entries["01ac134e"].message
    assert call is not None
    assert result is not None
    assert call.parts == (ToolCallPart("call_7", "memory_echo", {"text": "crash"}),)
    assert (call.model, call.stop_reason) == ("fake-1", "toolUse")
    assert result.parts == (TextPart("memory_echo: memory sidecar unavailable"),)
    assert (result.tool_call_id, result.tool_name, result.is_error) == ("call_7", "memory_echo", True)


def test_omp_is_told_by_its_title_slot_and_a_subagent_by_its_parent() -> None:
    header = read_session(DATA / "omp-18.3.4-subagent.jsonl").header

    assert header is not None
    assert (header.host, header.title) == ("omp", None)
    assert (header.parent_session or "").endswith("_01a22e57-42c1-7046-90c5-0c6ed39b0b2f.jsonl")


def test_the_title_comes_from_the_slot() -> None:
    header = read_session(ROOT / "examples" / "sessions" / "omp-18.2.3.jsonl").header

    assert header is not None
    assert header.title == "csvpush: first version"
