"""By what a message is known again."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import Entry, ImagePart, Message, Part, TextPart, ThinkingPart, ToolCallPart
from hindbrain.store._cursors import fingerprint, fold, legacy_fingerprint

HELLO = {"role": "user", "timestamp": 1700000000000, "content": "héllo"}
PRINT = "72e711c64015e664275a07143d45d973a74e6b7a765b3f6b7a81ca360d2dd4df"


def entry(*parts: Part, entry_id: str = "e", **fields: Any) -> Entry:
    return Entry(id=entry_id, parent_id=None, kind="message", message=Message(role="user", parts=parts, **fields))


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"inner": value}
    return value


@pytest.mark.req("S0-cursor-008")
def test_the_older_fingerprint_and_chain_are_exact_to_the_bit() -> None:
    assert legacy_fingerprint(HELLO) == PRINT
    assert fold([PRINT]) == "9463dd9b04725b9ba309f8a9e13e0f75f0d0a0539081e76f9facd11c767842d3"


def test_the_older_fingerprint_knows_no_order_of_keys_and_no_other_keys() -> None:
    assert legacy_fingerprint({"content": "héllo", "usage": {"in": 3}, "timestamp": 1.7e12, "role": "user"}) == PRINT


def test_null_is_not_absent_in_the_older_fingerprint() -> None:
    assert legacy_fingerprint({**HELLO, "model": None}) != PRINT


def test_what_cannot_be_written_has_an_older_fingerprint_that_matches_nothing() -> None:
    assert legacy_fingerprint({"content": nested(100_000)}) == ""


def test_a_fingerprint_is_of_the_content_and_not_of_the_place() -> None:
    moved = evolve(entry(TextPart("a")), id="other", parent_id="p", at=5, line=7)
    assert fingerprint(moved) == fingerprint(entry(TextPart("a")))
    assert fingerprint(moved) == "da7e2a8d4c1f6a27" or len(fingerprint(moved)) == 16


@pytest.mark.parametrize(
    "other",
    [
        entry(TextPart("b")),
        entry(ThinkingPart("a")),
        entry(TextPart("a"), TextPart("")),
        entry(TextPart("a"), at=1),
        entry(TextPart("a"), is_error=True),
        entry(TextPart("a"), tool_name="bash"),
        entry(TextPart("a"), tool_call_id="c"),
        entry(ToolCallPart("c", "bash", {"command": "a"})),
        entry(ToolCallPart("c", "bash", {"command": "b"})),
        entry(ImagePart("image/png", 3)),
        entry(ImagePart("image/png", 4)),
        entry(ImagePart("image/png", 3, "ff")),
        Entry(id="e", parent_id=None, kind="label"),
    ],
)
def test_another_content_has_another_fingerprint(other: Entry) -> None:
    assert fingerprint(other) != fingerprint(entry(TextPart("a")))


def test_an_image_is_known_by_its_digest_whether_or_not_its_size_is() -> None:
    assert fingerprint(entry(ImagePart("image/png", 3, "ff"))) == fingerprint(entry(ImagePart("image/png", None, "ff")))


def test_the_order_of_a_calls_arguments_does_not_count() -> None:
    one, other = ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert fingerprint(entry(ToolCallPart("c", "t", one))) == fingerprint(entry(ToolCallPart("c", "t", other)))


@pytest.mark.parametrize("arguments", [nested(100_000), {"n": 10**5_000}], ids=["too deep", "too many digits"])
def test_arguments_that_no_writer_takes_are_no_wall(arguments: dict[str, Any]) -> None:
    one, other = (entry(TextPart(text), ToolCallPart("c", "t", arguments)) for text in "ab")
    assert len(fingerprint(one)) == 16
    assert fingerprint(one) != fingerprint(other)


@given(st.text())
def test_any_text_has_a_fingerprint(text: str) -> None:
    assert fingerprint(entry(TextPart(text + "\ud800"))) != fingerprint(entry(TextPart(text)))
