"""The three older formats: taken over without a burst, believed by content alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hindbrain.contracts import Branch, Entry, JsonValue, Message, TextPart
from hindbrain.store._cursors import Cursor, OldSession, adopted, fold, legacy_fingerprint, new_entries, old_sessions

Make = Callable[..., Branch]
Ids = Callable[..., list[str]]
SID = "29e67821bedc391a"


def words(numbers: range) -> list[dict[str, Any]]:
    return [{"role": "user", "timestamp": 1_700_000_000_000 + n, "content": f"say {n}"} for n in numbers]


def entries(messages: list[dict[str, Any]]) -> list[Entry]:
    return [
        Entry(
            id=f"e{n}",
            parent_id=f"e{n - 1}" if n else None,
            kind="message",
            message=Message(role="user", parts=(TextPart(message["content"]),), at=message["timestamp"]),
        )
        for n, message in enumerate(messages)
    ]


def prints(messages: list[dict[str, Any]]) -> list[str]:
    return [legacy_fingerprint(message) for message in messages]


def version_3(messages: list[dict[str, Any]], **changed: JsonValue) -> JsonValue:
    known = prints(messages)
    tail = known[-200:]
    session = {
        "index": len(known) - 1,
        "chainHash": fold(known),
        "idChainHash": fold(["" for _ in known]),
        "tailStart": len(known) - len(tail),
        "messageIds": [None for _ in tail],
        "fingerprints": tail,
    }
    return {"version": 3, "sessions": {SID: {**session, **changed}}}


def version_2(messages: list[dict[str, Any]]) -> JsonValue:
    known = prints(messages)
    session = {"index": len(known) - 1, "chainHash": fold(known), "fingerprints": known}
    return {"version": 2, "sessions": {SID: session}}


def version_1(messages: list[dict[str, Any]]) -> JsonValue:
    return {SID: prints(messages)}


def carried(messages: list[dict[str, Any]]) -> JsonValue:
    return {"version": 3, "sessions": {SID: {"legacyFingerprints": prints(messages)}}}


FORMATS = pytest.mark.parametrize("older", [version_1, version_2, version_3, carried])
Older = Callable[[list[dict[str, Any]]], JsonValue]


def left(body: JsonValue, messages: list[dict[str, Any]], branch: Make) -> list[str]:
    """Which messages are new after the old file was taken over."""
    seen = branch(entries(messages))
    known = dict(zip((entry.id for entry in entries(messages)), prints(messages), strict=True))
    return [entry.id for entry in new_entries(seen, adopted(old_sessions(body)[SID], seen, known))]


@FORMATS
@pytest.mark.req("S0-cursor-008")
def test_an_old_cursor_leaves_what_came_after_it(older: Older, branch: Make) -> None:
    assert left(older(words(range(2))), words(range(3)), branch) == ["e2"]


@FORMATS
@pytest.mark.req("S0-cursor-009")
@pytest.mark.parametrize("length", [300, 2_500])
def test_taking_over_sends_nothing_again(older: Older, length: int, branch: Make) -> None:
    assert left(older(words(range(length))), words(range(length + 2)), branch) == [f"e{length}", f"e{length + 1}"]


def test_old_runs_delivered_one_at_a_time_send_nothing_again(branch: Make) -> None:
    """The old cursor counted the last run only; what came before it is not its business any more."""
    body = version_3(words(range(290, 300)))
    assert left(body, words(range(302)), branch) == ["e300", "e301"]


def test_an_old_session_with_an_edit_offers_the_edit_alone(branch: Make) -> None:
    again = words(range(300))
    again[250]["content"] = "other"
    assert left(version_3(words(range(300))), again, branch) == ["e250"]


@FORMATS
def test_nothing_is_believed_by_position(older: Older, branch: Make) -> None:
    """A cursor that a cloned repository brought hides no message that it does not know."""
    strange = words(range(1_000, 1_300))
    assert len(left(older(strange), words(range(5)), branch)) == 5


def test_a_message_without_an_older_fingerprint_is_not_recognised(branch: Make) -> None:
    seen = branch(entries(words(range(3))))
    old = old_sessions(version_1(words(range(3))))[SID]
    assert adopted(old, seen, {}) == Cursor()
    known = {"e0": prints(words(range(1)))[0]}
    assert [entry.id for entry in new_entries(seen, adopted(old, seen, known))] == ["e1", "e2"]


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "text",
        {"version": 4, "sessions": {SID: ["a"]}},
        {"version": "3", "sessions": {SID: ["a"]}},
        {"version": 3},
        {"version": 3, "sessions": []},
        {"version": [], "sessions": {}},
    ],
)
def test_another_form_has_no_sessions(body: JsonValue) -> None:
    assert old_sessions(body) == {}


@pytest.mark.parametrize(
    "value",
    [
        None,
        7,
        [],
        [1],
        {},
        {"legacyFingerprints": "a"},
        {"index": True, "chainHash": "c", "fingerprints": []},
        {"index": -1, "chainHash": "c", "fingerprints": []},
        {"index": 1, "fingerprints": []},
        {"index": 1, "chainHash": "c"},
        {"index": 1, "chainHash": "c", "fingerprints": [1]},
    ],
)
def test_a_bad_session_is_left_out_and_the_others_stay(value: JsonValue) -> None:
    good = {"index": 0, "chainHash": "c", "fingerprints": ["f"]}
    assert old_sessions({"version": 3, "sessions": {"bad": value, "good": good}}) == {
        "good": OldSession(("f",), "c", 1)
    }
