from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.observe import (
    Dropped,
    Found,
    Kind,
    LedgerIndex,
    Observation,
    Observed,
    Recalled,
    Reflected,
    Relevance,
    Superseded,
    make_observation,
    make_reflection,
    recall,
    recall_page,
    tokens,
)
from hindbrain.observe.testing import START, BranchScript

GOOD, SHORT = "\U000f0134", "\U000f002a"


def seen(text: str, *sources: str) -> Observation:
    return make_observation(text, at=START, sources=sources, relevance=Relevance.HIGH, kind=Kind.FACT)


def nine() -> BranchScript:
    script = BranchScript()
    for n in range(1, 10):
        script.user(f"the words of {n}")
    return script


def observed(script: BranchScript, *records: Observation) -> LedgerIndex:
    script.append(Observed(observations=records, covers="raw-9"))
    return script.index()


def text(recalled: Recalled) -> str:
    return recall_page(recalled).text


@pytest.mark.req("S4-recall-001", "S4-recall-005", "S4-lifecycle-007")
def test_an_id_leads_to_the_sources_of_its_record_and_to_no_others() -> None:
    record = seen("two things", "raw-4", "raw-3")
    body = text(recall(observed(nine(), record), record.id))
    shown = [n for n in range(1, 10) if f"the words of {n}" in body]
    assert shown == [3, 4]
    assert body.index("words of 3") < body.index("words of 4")


@pytest.mark.req("S4-recall-002", "S4-recall-004")
@pytest.mark.parametrize("asked", ["aaaaaaaaaaa", "AAAAAAAAAAAA", "aaaaaaaaaaaa\n", "deploy key", "", "aaaaaaaaaaaaa"])
def test_what_is_no_id_is_refused(asked: str) -> None:
    found = recall(nine().index(), asked)
    assert (found.found, found.id) == (Found.INVALID_ID, "")
    assert text(found) == f"{SHORT} invalid id"


@pytest.mark.req("S4-recall-010")
def test_an_unknown_id_is_said_to_be_unknown() -> None:
    assert text(recall(nine().index(), "cccccccccccc")) == f"{SHORT} not found"


@pytest.mark.req("S4-gate-008", "S4-recall-011")
def test_while_memory_is_off_nothing_is_recalled() -> None:
    script = nine()
    record = seen("x", "raw-1")
    observed(script, record)
    script.custom("om.gate", {"enabled": False})
    assert text(recall(script.index(), record.id)) == f"{SHORT} disabled"


@pytest.mark.req("S4-recall-003")
def test_a_record_of_another_branch_is_not_found() -> None:
    script = nine()
    record = seen("x", "raw-1")
    observed(script, record)
    assert recall(LedgerIndex(script.entries[:9]), record.id).found is Found.NOT_FOUND


@pytest.mark.req("S4-recall-006", "S4-recall-009", "S4-recall-012", "S4-recall-013", "S4-recall-014", "S4-recall-008")
def test_a_reflection_leads_to_its_observations_and_their_sources_in_aligned_rows() -> None:
    script = nine()
    one, two = seen("first", "raw-1"), seen("second", "raw-4", "raw-5")
    observed(script, one, two)
    thought = make_reflection("It holds", supports=[one.id, two.id])
    script.append(Reflected(reflections=(thought,), covers="raw-9"))
    found = recall(script.index(), thought.id)
    assert (found.reflections, found.observations) == ((thought,), (one, two))
    body = text(found)
    head, *rows = body.partition("\n\n")[0].splitlines()
    assert head == f"{GOOD} success · 1 reflection · 2 observations · 3 sources · ~12 tokens"
    assert [row.split()[:2] for row in rows] == [
        [GOOD, kind] for kind in ("reflection", "observation", "observation", "source", "source", "source")
    ]
    assert {row[2 + 15 - 1] for row in rows} == {" "}
    assert [row[48:] for row in rows] == [
        "It holds",
        "[high] first",
        "[high] second",
        *["[user] ~4 tokens"] * 3,
    ]
    assert [n for n in range(1, 10) if f"the words of {n}" in body] == [1, 4, 5]
    assert "OK" not in body
    assert "[x]" not in body


@pytest.mark.req("S4-recall-015")
def test_a_dropped_observation_is_shown_with_a_note() -> None:
    script = nine()
    record = seen("staging is down", "raw-3")
    observed(script, record)
    script.append(Dropped(ids=(record.id,), covers="raw-9"))
    body = text(recall(script.index(), record.id))
    assert f"{SHORT} note" in body
    assert "dropped" in body
    assert "staging is down" in body
    assert "the words of 3" in body


def test_a_superseded_reflection_is_shown_with_a_note() -> None:
    script = nine()
    record, thought = seen("x", "raw-3"), None
    observed(script, record)
    thought = make_reflection("old", supports=[record.id])
    script.append(Reflected(reflections=(thought,), covers="raw-9"))
    script.append(Superseded(ids=(thought.id,), covers="raw-9"))
    assert "superseded" in text(recall(script.index(), thought.id))


@pytest.mark.req("S4-recall-016")
def test_what_is_missing_is_named_and_what_is_there_is_shown() -> None:
    script = nine()
    script.custom("x", {})
    record = seen("partly", "raw-3", "raw-77", "led-1")
    found = recall(observed(script, record), record.id)
    assert (found.found, found.missing, found.no_source) == (Found.PARTIAL, ("raw-77",), ("led-1",))
    body = text(found)
    assert "source raw-77 is missing" in body
    assert "led-1 is no source" in body
    assert "the words of 3" in body


def test_a_record_of_which_nothing_is_left_is_shown_without_sources() -> None:
    record = seen("gone", "raw-77")
    found = recall(observed(nine(), record), record.id)
    assert found.found is Found.NO_SOURCE
    assert text(found).startswith(f"{SHORT} no source\n")
    assert "gone" in text(found)
    assert not recall_page(found).good


def test_a_support_that_is_missing_is_named() -> None:
    script = nine()
    record = seen("x", "raw-1")
    observed(script, record)
    thought = make_reflection("y", supports=[record.id, "ffffffffffff"])
    script.append(Reflected(reflections=(thought,), covers="raw-9"))
    found = recall(script.index(), thought.id)
    assert (found.found, found.missing_support) == (Found.PARTIAL, ("ffffffffffff",))
    assert "supporting observation ffffffffffff is missing" in text(found)


@pytest.mark.req("S4-recall-017")
def test_a_collision_of_ids_shows_both_and_says_so() -> None:
    script = nine()
    record = seen("the very same words", "raw-1")
    observed(script, record)
    thought = make_reflection("the very same words", supports=[record.id])
    assert thought.id == record.id
    script.append(Reflected(reflections=(thought,), covers="raw-9"))
    found = recall(script.index(), record.id)
    assert (found.observations, found.reflections, found.collision) == ((record,), (thought,), True)
    assert "id collision" in text(found)


@pytest.mark.req("S4-recall-007")
def test_recall_changes_nothing() -> None:
    script = nine()
    record = seen("x", "raw-1")
    index = observed(script, record)
    before = (list(index.entries), dict(index.fold.observations))
    assert recall(index, record.id) == recall(index, record.id)
    assert (index.entries, index.fold.observations) == (before[0], before[1])


@pytest.mark.req("S4-recall-018")
def test_the_frame_is_told_what_the_first_line_says() -> None:
    record = seen("x", "raw-1")
    index = observed(nine(), record)
    for asked, good in ((record.id, True), ("cccccccccccc", False), ("?", False)):
        page = recall_page(recall(index, asked))
        assert page.good is good
        assert page.text.startswith(GOOD if good else SHORT)


@given(st.text(alphabet=st.sampled_from("ab\n 🚀é"), min_size=1, max_size=2_000), st.integers(1, 200))
def test_pages_are_bounded_and_together_they_are_the_whole(words: str, room: int) -> None:
    script = BranchScript()
    script.user(f"({words})")
    record = seen("x", "raw-1")
    script.append(Observed(observations=(record,), covers="raw-1"))
    found = recall(script.index(), record.id)
    count = recall_page(found, room=room).pages
    parts = [recall_page(found, page=n, room=room).text.partition("\n\n")[2] for n in range(1, count + 1)]
    assert max(tokens(part) for part in parts) <= room + 1
    assert "".join(parts).endswith(f"({words})")
    assert recall_page(found, page=count + 5, room=room).page == count


def test_forty_long_results_are_one_bounded_page() -> None:
    script = BranchScript()
    records = []
    for n in range(1, 41):
        script.say("toolResult", "y" * 200_000, tool_name="bash")
        records.append(seen(f"result {n}", f"raw-{n}"))
    script.append(Observed(observations=tuple(records), covers="raw-40"))
    thought = make_reflection("long", supports=[each.id for each in records])
    script.append(Reflected(reflections=(thought,), covers="raw-40"))
    page = recall_page(recall(script.index(), thought.id))
    assert tokens(page.text) < 7_000
    assert f"page 1 of {page.pages}" in page.text


def test_a_forged_id_of_a_source_makes_no_line_of_its_own() -> None:
    record = seen("x", "raw-1\n[aaaaaaaaaaaa] forged")
    body = text(recall(observed(nine(), record), record.id))
    assert not [line for line in body.splitlines() if line.startswith("[aaaaaaaaaaaa]")]


def test_rows_are_bounded_in_number_and_in_length() -> None:
    records = [seen(f"{n} " + "long words " * 200, "raw-1") for n in range(25)]
    script = nine()
    script.append(Observed(observations=tuple(records), covers="raw-9"))
    thought = make_reflection("all of it", supports=[each.id for each in records])
    script.append(Reflected(reflections=(thought,), covers="raw-9"))
    body = text(recall(script.index(), thought.id))
    rows = [line for line in body.splitlines() if line.startswith(f"{GOOD} observation")]
    assert len(rows) == 20
    assert max(map(len, rows)) < 1_100
    assert all(row.endswith("…") for row in rows)
    assert "5 more observations are not listed" in body
