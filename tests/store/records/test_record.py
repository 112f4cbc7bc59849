"""What a record permits, and how a user changes it."""

from __future__ import annotations

from itertools import product

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.store._records import Mode, Permissions, RecordValueError, SessionRecord, Switch, permissions
from hindbrain.store._records._record import CLOSED


@pytest.mark.parametrize(
    ("mode", "recalls", "retains"),
    [(Mode.NORMAL, True, True), (Mode.READ_ONLY, True, False), (Mode.IGNORED, False, False)],
)
def test_the_mode_decides_what_a_session_does_by_itself(mode: Mode, recalls: bool, retains: bool) -> None:
    assert permissions(SessionRecord(mode=mode)) == Permissions(recalls, retains)


def test_every_combination_permits_what_the_matrix_says() -> None:
    for mode, recall, retain, upcoming, retained in product(Mode, Switch, Switch, Switch, (True, False)):
        record = SessionRecord(
            mode=mode, recall_mode=recall, retain_mode=retain, next_retain_mode=upcoming, retained=retained
        )
        found = permissions(record)
        assert found.recalls == (mode != "ignored" and recall == "normal")
        assert found.retains == (mode == "normal" and retain == "normal" and upcoming == "normal" and retained)


def test_what_cannot_be_believed_permits_nothing() -> None:
    assert permissions(CLOSED) == Permissions(recalls=False, retains=False)


def test_normal_and_read_only_recall_again_and_leave_retain_as_it_was() -> None:
    off = SessionRecord(recall_mode=Switch.OFF).with_retain(on=False)
    for mode in ("normal", "read-only"):
        after = off.with_mode(mode)
        assert (after.mode, after.recall_mode, after.retained) == (mode, Switch.NORMAL, False)
    assert off.with_mode("ignored") == evolve(off, mode=Mode.IGNORED)


def test_normal_opens_what_was_closed_because_it_could_not_be_believed() -> None:
    assert permissions(CLOSED.with_mode("normal")) == Permissions(recalls=True, retains=True)
    assert permissions(CLOSED.with_mode("read-only")) == Permissions(recalls=True, retains=False)
    assert permissions(CLOSED.with_mode("ignored")) == Permissions(recalls=False, retains=False)


@pytest.mark.parametrize("mode", ["tools-only", "off", "", "NORMAL"])
def test_another_mode_is_refused_with_the_three_there_are(mode: str) -> None:
    with pytest.raises(RecordValueError, match="normal, read-only or ignored") as caught:
        SessionRecord().with_mode(mode)
    assert caught.value.code == "session-record-value"
    assert ("reserved" in str(caught.value)) == (mode == "tools-only")


def test_retain_is_turned_off_and_on_for_the_session() -> None:
    off = SessionRecord().with_retain(on=False)
    assert (off.retained, off.retain_mode) == (False, Switch.OFF)
    assert off.with_retain(on=True) == SessionRecord()


def test_tags_are_trimmed_kept_once_and_removed() -> None:
    record = SessionRecord().with_tag(" topic:db ").with_tag("x").with_tag("topic:db")
    assert record.tags == ("topic:db", "x")
    assert record.without_tag("x ").tags == ("topic:db",)
    assert record.without_tag("never there") == record
    assert SessionRecord().with_tag("é" * 80).tags == ("é" * 80,)


@pytest.mark.parametrize("tag", ["", "  ", "a" * 81, "a\nb", "a\x00", "a\x85b", "a\ud800"])
def test_a_tag_of_another_form_is_refused_and_not_repeated(tag: str) -> None:
    for change in (SessionRecord().with_tag, SessionRecord().without_tag):
        with pytest.raises(RecordValueError) as caught:
            change(tag)
        assert not tag.strip() or tag not in str(caught.value)


@given(st.lists(st.text(max_size=90)))
def test_the_tags_of_a_record_are_sound_whatever_was_tried(tags: list[str]) -> None:
    record = SessionRecord()
    for tag in tags:
        try:
            record = record.with_tag(tag)
        except RecordValueError:
            continue
    assert len(set(record.tags)) == len(record.tags)
    assert all(tag == tag.strip() and 1 <= len(tag) <= 80 for tag in record.tags)
