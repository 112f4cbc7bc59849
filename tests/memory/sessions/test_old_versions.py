"""pi's version 1 (linear, without ids) and 2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hindbrain.contracts import TextPart
from hindbrain.memory.sessions import read_session

OLD = {"type": "session", "id": "old", "timestamp": "2025-12-09T00:53:29.825Z", "cwd": "/p", "branchedFrom": "/a.jsonl"}


def linear(text: str) -> dict[str, object]:
    return {"type": "message", "timestamp": "2025-12-08T22:41:05.306Z", "message": {"role": "user", "content": text}}


def test_a_linear_file_becomes_a_chain_named_by_its_lines(write: Callable[..., Path]) -> None:
    change = {"type": "thinking_level_change", "timestamp": "2025-12-08T22:41:06.000Z", "thinkingLevel": "off"}

    read = read_session(write(linear("one"), change, b"\n", linear("two"), header=OLD))

    assert read.header is not None
    assert (read.header.version, read.header.parent_session, read.header.host) == (1, "/a.jsonl", "pi")
    assert [(e.id, e.parent_id) for e in read.entries] == [
        ("line-2", None),
        ("line-3", "line-2"),
        ("line-5", "line-3"),
    ]
    assert [e.message.parts for e in read.branch().path() if e.message] == [(TextPart("one"),), (TextPart("two"),)]


def test_a_message_without_a_time_of_its_own_has_its_entrys(write: Callable[..., Path]) -> None:
    (entry,) = read_session(write(linear("one"), header=OLD)).entries

    assert entry.message is not None
    assert entry.message.at == entry.at == 1_765_233_665_306


def test_an_old_compaction_names_the_first_kept_entry_by_its_place_in_the_file(write: Callable[..., Path]) -> None:
    def compaction(index: int) -> dict[str, object]:
        return {"type": "compaction", "summary": "so far", "firstKeptEntryIndex": index, "tokensBefore": 9}

    lines = [OLD, linear("one"), b"{broken\n", linear("two"), compaction(2), compaction(0), compaction(99)]
    *_, inside, header, beyond = read_session(write(*lines, header=None)).entries

    assert (inside.summary, inside.first_kept_id) == ("so far", "line-4")
    assert (header.first_kept_id, beyond.first_kept_id) == (None, None)


def test_the_hook_message_of_version_2_is_the_custom_message_of_version_3(write: Callable[..., Path]) -> None:
    hook = {"role": "hookMessage", "customType": "hindsight-recall", "content": "remembered", "display": False}
    lines = [{**OLD, "version": 2}, {"type": "message", "id": "a", "parentId": None, "message": hook}]

    (entry,) = read_session(write(*lines, header=None)).entries

    assert entry.message is not None
    assert (entry.message.role, entry.custom_type, entry.message.text) == ("custom", "hindsight-recall", "remembered")
