"""The cursor file: what is written, and what is believed of what is read."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import Branch, Entry
from hindbrain.store._cursors import Book, Cursor, Head, Identity, Lineage, advance, new_entries
from hindbrain.store._cursors._book import RECENT
from hindbrain.store._cursors._codec import VERSION, Newer, Older, decode, encode
from hindbrain.store._seal import SealKey
from hindbrain.store._sealed import Distrust, seal_document

KEY = SealKey(bytes(32))
CURSOR = Cursor(heads=(Head("m2", "cc", 2),), tail=(Identity("m1", "aa"), Identity("m2", "bb")), trail="a2b3c4d5")
BOOK = Book({"line": Lineage({"bank": CURSOR, "user": Cursor()}, {"session": "pi-session:29e67821bedc391a"})})


def test_a_book_comes_back_as_it_was_written() -> None:
    assert decode(encode(BOOK, KEY), KEY) == BOOK
    assert decode(encode(Book(), KEY), KEY) == Book()


@pytest.mark.req("S0-cursor-001", "S0-cursor-002")
def test_the_file_is_json_with_a_version_and_names_its_sessions() -> None:
    found = json.loads(encode(BOOK, KEY))
    assert found["version"] == VERSION == 4
    assert found["lineages"]["line"]["documents"] == {"session": "pi-session:29e67821bedc391a"}
    assert found["lineages"]["line"]["banks"]["bank"]["heads"] == [{"lastId": "m2", "chain": "cc", "count": 2}]


_TEXT = st.text(max_size=8)
_CURSORS = st.builds(
    Cursor,
    heads=st.lists(st.builds(Head, _TEXT, _TEXT, st.integers(0, 9)), max_size=3).map(tuple),
    tail=st.lists(st.builds(Identity, _TEXT, _TEXT), max_size=3).map(tuple),
    trail=_TEXT,
)
_LINEAGES = st.builds(Lineage, st.dictionaries(_TEXT, _CURSORS, max_size=3), st.dictionaries(_TEXT, _TEXT, max_size=3))


@given(st.builds(Book, st.dictionaries(_TEXT, _LINEAGES, max_size=3)))
def test_any_book_comes_back(book: Book) -> None:
    assert decode(encode(book, KEY), KEY) == book


@given(st.integers(0, 10**6), st.integers(1, 255))
def test_every_flipped_byte_is_detected(place: int, flip: int) -> None:
    data = bytearray(encode(BOOK, KEY))
    data[place % len(data)] ^= flip
    assert isinstance(decode(bytes(data), KEY), Distrust)


@given(st.integers(0, 10**6))
def test_every_cut_is_detected(length: int) -> None:
    data = encode(BOOK, KEY)
    assert isinstance(decode(data[: length % len(data)], KEY), Distrust)


@given(st.binary() | st.text().map(str.encode))
def test_no_bytes_are_a_wall(data: bytes) -> None:
    assert not isinstance(decode(data, KEY), Book)


@pytest.mark.parametrize("data", [b"not json", b"", b"[1]", b"7", b"[" * 100_000, b"\xff\xfe", b"1" * 10_000])
def test_what_is_no_json_object_is_malformed(data: bytes) -> None:
    assert decode(data, KEY) is Distrust.MALFORMED


def test_a_file_of_another_user_or_of_another_place_is_not_believed() -> None:
    assert decode(encode(BOOK, SealKey(bytes([1] * 32))), KEY) is Distrust.UNSEALED
    assert decode(seal_document(KEY, "session-meta/0", VERSION, {"lineages": {}}), KEY) is Distrust.UNSEALED
    assert decode(b'{"version":4,"lineages":{}}', KEY) is Distrust.UNSEALED


@pytest.mark.parametrize(
    "data", [b'{"s":["a"]}', b"{}", b'{"version":2,"sessions":{}}', b'\xef\xbb\xbf{"version":3,"sessions":{}}']
)
def test_an_older_file_is_known_as_one(data: bytes) -> None:
    assert isinstance(decode(data, KEY), Older)


@pytest.mark.parametrize("data", [b'{"version":"3"}', b'{"version":5,"lineages":{}}', b'{"sessions":{}}'])
def test_a_file_without_a_seal_and_of_no_older_form_is_not_believed(data: bytes) -> None:
    assert decode(data, KEY) is Distrust.UNSEALED


def test_a_newer_version_under_our_seal_is_known_as_one() -> None:
    assert decode(seal_document(KEY, "retain-cursors", 5, {"other": 1}), KEY) == Newer(5)


@pytest.mark.parametrize("lineages", [None, [], {"a": 1}, {"a": {"banks": {"b": {"heads": [{}]}}, "documents": {}}}])
def test_a_sealed_file_of_a_wrong_form_is_malformed(lineages: object) -> None:
    assert decode(seal_document(KEY, "retain-cursors", VERSION, {"lineages": lineages}), KEY) is Distrust.MALFORMED


def test_lineages_that_moved_long_ago_keep_what_is_retained_and_lose_their_tails(
    talk: Callable[..., list[Entry]], branch: Callable[..., Branch]
) -> None:
    seen = branch(talk(20))
    cursor = advance(Cursor(), seen, new_entries(seen, Cursor()))
    book = Book()
    for number in range(RECENT + 1):
        book = book.with_cursor(f"line{number}", "bank", cursor)
    found = decode(encode(book, KEY), KEY)
    assert isinstance(found, Book)
    old = found.cursor("line0", "bank")
    assert old.tail == ()
    assert found.cursor("line1", "bank") == cursor
    assert new_entries(seen, old) == ()
    assert [entry.id for entry in new_entries(branch(talk(5), talk(1, prefix="f", after="m5")), old)] == ["f1"]


def test_a_lineage_without_a_tail_ages_as_it_is() -> None:
    book = Book()
    for number in range(RECENT + 2):
        book = book.with_document(f"line{number}", "session", "key")
    assert len(book.lineages) == RECENT + 2
    assert all(each.documents == {"session": "key"} for each in book.lineages.values())


def test_the_lineage_that_moved_last_is_the_last_to_lose_its_tail() -> None:
    book = Book().with_cursor("a", "bank", CURSOR).with_cursor("b", "bank", CURSOR).with_cursor("a", "user", CURSOR)
    assert list(book.lineages) == ["b", "a"]


def test_a_session_keeps_its_first_document_key() -> None:
    book = Book().with_document("line", "session", "first").with_document("line", "session", "second")
    assert book.lineage("line").documents == {"session": "first"}
