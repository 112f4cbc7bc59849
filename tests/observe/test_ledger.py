from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import Branch, Entry
from hindbrain.observe import (
    Dropped,
    EmptyRecordError,
    Folded,
    Gate,
    Kind,
    LedgerIndex,
    Observation,
    Observed,
    Reflected,
    Reflection,
    Relevance,
    Superseded,
    UnknownEntryError,
    append_of,
    compaction_projection,
    coverage,
    drift,
    folded_details,
    full,
    make_observation,
    make_reflection,
    read_event,
    read_folded,
    recall,
    record_id,
    tier,
    visible,
)
from hindbrain.observe.testing import START, BranchScript


def seen(
    text: str, *sources: str, relevance: str = "medium", kind: str = "fact", at: int | None = START
) -> Observation:
    return make_observation(text, at=at, sources=sources or ("raw-1",), relevance=Relevance(relevance), kind=Kind(kind))


def old(text: str, *sources: str, **changes: Any) -> dict[str, Any]:
    """An observation as pi-observational-memory wrote it."""
    record = {
        "id": record_id(text),
        "content": text,
        "timestamp": "2026-01-02 10:00",
        "relevance": "high",
        "sourceEntryIds": list(sources) or ["raw-1"],
        "tokenCount": 12,
    }
    return {**record, **changes}


def custom(custom_type: str, data: Any) -> Entry:
    return Entry(id="e", parent_id=None, kind="custom", custom_type=custom_type, data=json.dumps(data))


def ten_sources() -> BranchScript:
    script = BranchScript()
    for n in range(10):
        script.user(f"message {n}")
    return script


@pytest.mark.req("S4-lifecycle-006")
def test_every_record_has_an_id_of_twelve_hex_digits_from_its_content() -> None:
    for record in (seen("user chose SQLite"), make_reflection("The user likes SQLite", supports=["aaaaaaaaaaaa"])):
        assert record.id == record_id(record.content)
        assert len(record.id) == 12
        assert set(record.id) <= set("0123456789abcdef")
    assert record_id("user chose SQLite") == "625d41318db1"


@pytest.mark.req("S4-lifecycle-001", "S4-ledger-001", "S4-ledger-002")
def test_observations_and_reflections_are_entries_of_their_own_beside_the_sources() -> None:
    script = ten_sources()
    record, thought = seen("user chose SQLite"), make_reflection("SQLite it is", supports=["625d41318db1"])
    script.append(Observed(observations=(record,), covers="raw-10", zone="UTC"))
    script.append(Reflected(reflections=(thought,), covers="raw-10"))
    assert [entry.custom_type for entry in script.entries[10:]] == [
        "om.observations.recorded",
        "om.reflections.recorded",
    ]
    assert {entry.kind for entry in script.entries[10:]} == {"custom"}
    now = full(script.index())
    assert (now.observations, now.reflections) == ((record,), (thought,))


records = st.builds(
    seen,
    st.text(min_size=1).map(lambda text: f"x{text}"),
    st.sampled_from(["raw-1", "raw-2"]),
    relevance=st.sampled_from([str(each.value) for each in Relevance]),
    kind=st.sampled_from([str(each.value) for each in Kind]),
    at=st.integers(0, 4_000_000_000_000),
)


@given(st.lists(records, min_size=1, max_size=4))
def test_what_is_written_is_read_back_the_same(found: list[Observation]) -> None:
    event = Observed(observations=tuple(found), covers="raw-1", zone="+02:00")
    made = append_of(event)
    assert made is not None
    assert read_event(custom(made.custom_type, made.data)) == event
    folded = Folded(full_fold=True, observations=tuple(found), reflections=())
    entry = Entry(id="c", parent_id=None, kind="compaction", data=json.dumps(folded_details(folded)))
    assert read_folded(entry) == folded


def test_nothing_empty_is_written_but_the_verdict_that_there_was_nothing_to_say() -> None:
    assert append_of(Reflected(reflections=(), covers="")) is None
    assert append_of(Dropped(ids=(), covers="raw-1")) is None
    assert append_of(Superseded(ids=("a",), covers="")) is None
    assert append_of(Observed(observations=(seen("x"),), covers="")) is None
    made = append_of(Observed(observations=(), covers="raw-3"))
    assert made is not None
    assert made.data == {"observations": [], "coversUpToId": "raw-3", "verdict": "empty"}
    script = ten_sources()
    script.append(Observed(observations=(), covers="raw-3"))
    script.append(Reflected(reflections=(), covers="raw-2"))
    assert (script.index().observed_to, script.index().reflected_to) == (2, 1)


def test_an_empty_list_of_reflections_is_a_verdict_only_where_it_says_so() -> None:
    script = ten_sources()
    script.custom("om.reflections.recorded", {"reflections": [], "coversUpToId": "raw-3"})
    script.custom("om.reflections.recorded", {"reflections": [{}], "coversUpToId": "raw-3", "verdict": "empty"})
    assert script.index().reflected_to == -1


def test_a_merge_moves_the_reflections_marker_as_a_new_reflection_does() -> None:
    script = ten_sources()
    script.append(Superseded(ids=("aaaaaaaaaaaa",), covers="raw-4"))
    script.append(Superseded(ids=("bbbbbbbbbbbb",), covers="gone"))
    assert script.index().reflected_to == 3


@pytest.mark.req("S4-ledger-006")
def test_a_ledger_of_the_extension_it_follows_is_read_as_it_is() -> None:
    script = ten_sources()
    first, second = old("user chose SQLite", "raw-2"), old("tests pass", "raw-4", kind="progress")
    script.custom("om.observations.recorded", {"observations": [first, second], "coversUpToId": "raw-5"})
    thought = {
        "id": record_id("SQLite"),
        "content": "SQLite",
        "supportingObservationIds": [first["id"]],
        "tokenCount": 2,
    }
    script.custom("om.reflections.recorded", {"reflections": [thought], "coversUpToId": "raw-5"})
    script.custom("om.observations.dropped", {"observationIds": [second["id"]], "coversUpToId": "raw-5"})
    script.custom("om.gate", {"enabled": False})
    script.custom("memory-info", {"summary": "memory guide"})
    details = {"type": "om.folded", "version": 1, "fullFold": False, "observations": [first], "reflections": []}
    script.entries.append(
        Entry(id="c", parent_id="led-5", kind="compaction", first_kept_id="raw-8", data=json.dumps(details))
    )
    index = script.index()
    (shown,) = index.fold.active_observations.values()
    assert (shown.content, shown.kind, shown.timestamp) == ("user chose SQLite", Kind.FACT, "2026-01-02 10:00")
    assert shown.at == START + 60_000  # of its source: the text has no zone
    assert (len(index.fold.observations), len(index.fold.reflections), index.gate_on) == (2, 1, False)
    assert [each.id for each in visible(index).observations] == [first["id"]]


@pytest.mark.req("S4-migration-001", "S4-migration-006")
def test_entries_of_version_two_are_passed_over() -> None:
    script = ten_sources()
    script.custom("om.observation", {"observations": [old("old")], "coversUpToId": "raw-5"})
    details = {"type": "observational-memory", "version": 2, "fullFold": True, "observations": [], "reflections": []}
    script.entries.append(Entry(id="c", parent_id="led-1", kind="compaction", data=json.dumps(details)))
    index = script.index()
    assert full(index).empty
    assert visible(index).empty
    assert index.observed_to == -1


BROKEN = [
    {"id": "AAAAAAAAAAAA"},
    {"id": "aaaaaaaaaaaa\n"},
    {"content": ""},
    {"timestamp": None},
    {"relevance": "urgent"},
    {"sourceEntryIds": []},
    {"sourceEntryIds": ["raw-1", ""]},
    {"tokenCount": -1},
    {"tokenCount": True},
]


@pytest.mark.parametrize("broken", BROKEN, ids=str)
def test_a_broken_record_costs_itself_and_not_its_batch(broken: dict[str, Any]) -> None:
    script = ten_sources()
    data = {"observations": [old("bad", **broken), old("good")], "coversUpToId": "raw-5"}
    script.custom("om.observations.recorded", data)
    index = script.index()
    assert [each.content for each in index.fold.observations.values()] == ["good"]
    assert index.observed_to == 4


def test_a_batch_without_one_sound_record_covers_nothing() -> None:
    script = ten_sources()
    script.custom(
        "om.observations.recorded", {"observations": [old("bad", relevance="urgent")], "coversUpToId": "raw-5"}
    )
    script.custom("om.observations.recorded", {"observations": [], "coversUpToId": "raw-5"})
    script.custom("om.reflections.recorded", {"reflections": [{"id": "x"}], "coversUpToId": "raw-5"})
    index = script.index()
    assert (index.observed_to, index.reflected_to) == (-1, -1)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = ["observations", "reflections", "observationIds", "reflectionIds", "coversUpToId", "enabled", "type", "version"]
TYPES = ["observations.recorded", "observations.dropped", "reflections.recorded", "reflections.dropped", "gate"]


@given(st.sampled_from(TYPES), st.dictionaries(st.sampled_from(NAMES), json_values))
def test_no_data_breaks_the_reader(name: str, data: dict[str, Any]) -> None:
    entry = custom(f"om.{name}", data)
    LedgerIndex([entry, evolve(entry, data="{"), evolve(entry, data=None), evolve(entry, kind="compaction")])
    details = {"type": "om.folded", "version": 1, "fullFold": True, "observations": [data], "reflections": [data]}
    read = read_folded(
        evolve(entry, kind="compaction", data=json.dumps({**details, "budget": data, "unobserved": data}))
    )
    assert read is not None
    assert read.budget is None


def test_a_kind_that_is_unknown_reads_as_a_fact() -> None:
    script = ten_sources()
    data = {"observations": [old("a", kind="dream"), old("b", kind=7)], "coversUpToId": "raw-5"}
    script.custom("om.observations.recorded", data)
    assert {each.kind for each in script.index().fold.observations.values()} == {Kind.FACT}


@pytest.mark.req("S4-dropper-010", "S4-dropper-007")
def test_a_drop_takes_an_observation_out_of_force_and_leaves_its_record() -> None:
    script = ten_sources()
    record = seen("staging is down")
    written = script.append(Observed(observations=(record,), covers="raw-5"))
    before = script.entries[-1]
    script.append(Dropped(ids=(record.id, "ffffffffffff"), covers="raw-5"))
    assert json.loads(script.entries[-1].data or "") == {
        "observationIds": [record.id, "ffffffffffff"],
        "coversUpToId": "raw-5",
    }
    index = script.index()
    assert full(index).empty
    assert index.entries[index.place_of(written)] == before
    assert recall(index, record.id).dropped == (record.id,)
    assert recall(index, record.id).sources == (script.entries[0],)


@pytest.mark.req("S4-dropper-011")
def test_what_is_recorded_again_after_a_drop_is_in_force_with_its_new_time() -> None:
    script = ten_sources()
    script.append(Observed(observations=(seen("staging is down"),), covers="raw-5"))
    script.append(Dropped(ids=(record_id("staging is down"),), covers="raw-5"))
    again = seen("staging is down", "raw-9", at=START + 8 * 86_400_000)
    script.append(Observed(observations=(again,), covers="raw-10"))
    (active,) = full(script.index()).observations
    assert active.timestamp == "2026-01-10 09:00"
    assert recall(script.index(), active.id).dropped == ()


def test_a_repeat_renews_a_record_and_is_one_line() -> None:
    script = ten_sources()
    for day, text in enumerate(["port is 8080", "port is 9090", "port is 8080"]):
        record = seen(text, f"raw-{day + 1}", at=START + day * 86_400_000)
        script.append(Observed(observations=(record,), covers=f"raw-{day + 1}"))
    index = script.index()
    assert [each.content for each in full(index).observations] == ["port is 9090", "port is 8080"]
    assert index.fold.observation_tokens == sum(each.cost for each in full(index).observations)


@pytest.mark.req("S4-reflections-001", "S4-reflections-002", "S4-reflections-010", "S4-reflections-012")
def test_a_reflection_leaves_only_where_another_replaces_it() -> None:
    script = ten_sources()
    first, second = (
        make_reflection("Deploys on Friday", supports=["a"]),
        make_reflection("Deploy day is Friday", supports=["a"]),
    )
    written = script.append(Reflected(reflections=(first, second), covers="raw-2"))
    script.append(Dropped(ids=(first.id, second.id), covers="raw-2"))
    assert full(script.index()).reflections == (first, second)
    script.append(Superseded(ids=(second.id,), covers="raw-2"))
    index = script.index()
    assert full(index).reflections == (first,)
    assert index.fold.reflection_tokens == first.cost
    assert index.place(written) is not None
    third = make_reflection("It is Friday", supports=["a"])
    script.append(Superseded(ids=(third.id,), covers="raw-2"))
    script.append(Reflected(reflections=(second, third), covers="raw-2"))
    assert full(script.index()).reflections == (first,)


@pytest.mark.req("S4-gate-016")
def test_the_gate_is_what_was_said_last_and_on_where_nothing_was() -> None:
    script = ten_sources()
    weights = [script.index().tokens_from(0)]
    assert script.index().gate_on
    for enabled in (False, True, False):
        script.append(Gate(enabled=enabled))
        assert script.index().gate_on is enabled
        weights.append(script.index().tokens_from(0))
    script.custom("om.gate", {"enabled": "yes"})
    assert not script.index().gate_on
    assert len(set(weights)) == 1


def test_a_marker_of_an_entry_that_is_not_there_moves_nothing() -> None:
    script = ten_sources()
    script.append(Observed(observations=(seen("a", "gone"),), covers="gone"))
    script.append(Reflected(reflections=(make_reflection("b", supports=["a"]),), covers="gone"))
    index = script.index()
    assert (index.observed_to, index.reflected_to) == (-1, -1)
    assert full(index).empty


def test_coverage_is_the_newest_marker_and_not_the_last_written() -> None:
    script = ten_sources()
    script.append(Observed(observations=(seen("a"),), covers="raw-9"))
    script.append(Observed(observations=(seen("b"),), covers="raw-3"))
    assert script.index().observed_to == 8


@pytest.mark.req("S4-compaction-014")
def test_an_observation_of_a_batch_that_straddles_the_cut_is_in_the_summary() -> None:
    script = ten_sources()
    inside, outside = seen("early", "raw-2"), seen("late", "raw-7", "raw-8")
    script.append(Observed(observations=(inside, outside), covers="raw-10"))
    assert compaction_projection(script.index(), "raw-8", 20_000).observations == (inside,)


@pytest.mark.req("S4-compaction-013")
def test_reflections_show_as_soon_as_they_exist_and_so_does_what_replaces_them() -> None:
    script = ten_sources()
    script.append(Observed(observations=(seen("early", "raw-2"),), covers="raw-10"))
    first, second = make_reflection("one", supports=["a"]), make_reflection("two", supports=["a"])
    script.append(Reflected(reflections=(first, second), covers="raw-10"))
    script.append(Superseded(ids=(first.id,), covers="raw-10"))
    projection = compaction_projection(script.index(), "raw-8", 20_000)
    assert not projection.full_fold
    assert projection.reflections == (second,)


@pytest.mark.req("S4-compaction-011", "S4-compaction-012", "S4-settings-029")
def test_from_the_pools_maximum_on_a_fold_takes_in_the_drops_and_the_next_one_keeps_them_out() -> None:
    script = ten_sources()
    found = [evolve(seen(f"event {n}", "raw-2"), token_count=1_000) for n in range(12)]
    script.append(Observed(observations=tuple(found), covers="raw-5"))
    script.append(Dropped(ids=(found[0].id, found[1].id), covers="raw-5"))
    index = script.index()
    assert len(compaction_projection(index, "raw-8", 12_001).observations) == 12
    folded = compaction_projection(index, "raw-8", 12_000)
    assert folded.full_fold
    assert len(folded.observations) == 10
    script.compaction("raw-8", Folded(full_fold=True, observations=folded.observations, reflections=()))
    script.append(Dropped(ids=(found[2].id,), covers="raw-5"))
    assert len(compaction_projection(script.index(), "raw-8", 12_001).observations) == 10


def test_visible_is_what_the_newest_compaction_showed_and_nothing_after_one_made_otherwise() -> None:
    script = ten_sources()
    record = seen("a", "raw-2")
    script.append(Observed(observations=(record,), covers="raw-5"))
    assert visible(script.index()).empty
    assert drift(script.index()).observations_new == {record.id}
    gone = seen("b", "raw-2")
    script.compaction("raw-8", Folded(full_fold=False, observations=(record, gone), reflections=()))
    assert visible(script.index()).observations == (record, gone)
    assert drift(script.index()).observations_new == set()
    assert drift(script.index()).observations_gone == {gone.id}
    script.compaction("raw-9")
    assert visible(script.index()).empty


def test_the_full_memory_of_an_earlier_place_is_what_was_known_there() -> None:
    script = ten_sources()
    script.append(Observed(observations=(seen("a", "raw-2"), seen("b", "raw-7")), covers="raw-8"))
    index = script.index()
    assert [each.content for each in full(index, "raw-5").observations] == ["a"]
    with pytest.raises(UnknownEntryError):
        full(index, "raw-99")
    with pytest.raises(UnknownEntryError):
        compaction_projection(index, "raw-99", 20_000)


@pytest.mark.req("S4-dropper-005", "S4-reflections-013")
def test_coverage_counts_the_reflections_that_rest_on_an_observation() -> None:
    one, two = make_reflection("one", supports=["o1", "o2", "o2"]), make_reflection("two", supports=["o2"])
    counted = coverage([one, two, one])
    assert [tier(counted[each]) for each in ("o1", "o2", "o3")] == ["partial", "strong", "none"]
    assert tier(coverage([two])["o1"]) == "none"
    twice = Reflection(id="aaaaaaaaaaaa", content="x", support_ids=("o1", "o1"), token_count=1)
    assert tier(coverage([twice])["o1"]) == "partial"


@pytest.mark.req("S4-ledger-005")
def test_memory_follows_the_branch() -> None:
    script = ten_sources()
    fork = list(script.entries)
    record = seen("only on A", "raw-2")
    script.append(Observed(observations=(record,), covers="raw-10"))
    other = Entry(id="other", parent_id="raw-10", kind="custom", custom_type="x")
    tree = Branch.of([*script.entries, other], "led-1")
    index = LedgerIndex()
    assert index.follow(tree) is False
    assert recall(index, record.id).observations == (record,)
    assert index.follow(tree, "other") is True
    assert [entry.id for entry in index.entries] == [*(entry.id for entry in fork), "other"]
    assert full(index).empty
    assert recall(index, record.id).found == "not-found"
    assert index.follow(tree, "led-1") is True
    assert full(index).observations == (record,)


@given(st.data())
def test_following_a_tree_step_by_step_is_reading_each_branch_whole(data: st.DataObject) -> None:
    entries: list[Entry] = []
    index = LedgerIndex()
    for n in range(data.draw(st.integers(1, 12))):
        parent = data.draw(st.sampled_from([entry.id for entry in entries])) if entries else None
        record = seen(f"fact {n % 4}", parent or "e0")
        events: list[Observed | Dropped | None] = [
            Observed(observations=(record,), covers=parent or "e0"),
            Dropped(ids=(record.id,), covers=parent or "e0"),
            None,
        ]
        event = data.draw(st.sampled_from(events))
        made = append_of(event) if event is not None else None
        new = Entry(id=f"e{n}", parent_id=parent, kind="custom", custom_type="x")
        if made is not None:
            new = evolve(new, custom_type=made.custom_type, data=json.dumps(made.data))
        entries.append(new)
        tree = Branch.of(entries, data.draw(st.sampled_from([entry.id for entry in entries])))
        index.follow(tree)
        fresh = LedgerIndex(tree.path())
        assert index.entries == fresh.entries
        assert full(index) == full(fresh)
        assert (index.observed_to, index.fold.observation_tokens) == (fresh.observed_to, fresh.fold.observation_tokens)


def test_the_zone_of_a_ledger_is_that_of_its_first_record() -> None:
    script = ten_sources()
    assert script.index().zone is None
    script.append(Observed(observations=(), covers="raw-1"))
    assert script.index().zone is None
    script.append(Observed(observations=(seen("a"),), covers="raw-2", zone="+09:00"))
    script.append(Observed(observations=(seen("b"),), covers="raw-3", zone="Europe/Berlin"))
    assert script.index().zone == "+09:00"


def test_a_reflection_of_several_lines_is_none() -> None:
    thought = Reflection(id="aaaaaaaaaaaa", content="two\nlines", support_ids=("a",), token_count=1)
    made = append_of(Reflected(reflections=(thought,), covers="raw-1"))
    assert made is not None
    assert read_event(custom(made.custom_type, made.data)) is None


def test_content_beyond_ten_thousand_characters_is_cut_and_says_so() -> None:
    record = seen("x" * 10_050)
    assert record.content == "x" * 10_000 + " … [50 characters left out]"
    assert record.id == record_id(record.content)


def test_a_record_that_says_nothing_or_rests_on_nothing_is_refused() -> None:
    for content, sources in ((" \u200b\n", ["raw-1"]), ("x", []), ("x", [""])):
        with pytest.raises(EmptyRecordError):
            make_observation(content, at=0, sources=sources, relevance=Relevance.LOW, kind=Kind.FACT)
        with pytest.raises(EmptyRecordError):
            make_reflection(content, supports=sources)


def test_a_branch_with_a_gap_is_followed_when_it_is_whole() -> None:
    entries = {f"e{n}": Entry(id=f"e{n}", parent_id=f"e{n - 1}" if n else None, kind="message") for n in range(8)}
    index = LedgerIndex()
    index.follow(Branch({key: entries[key] for key in ("e0", "e1", "e2")}, "e2"))
    gap = {key: entry for key, entry in entries.items() if key != "e4"}
    assert index.follow(Branch(gap, "e6")) is False
    assert [entry.id for entry in index.entries] == ["e0", "e1", "e2"]
    assert index.follow(Branch(entries, "e7")) is False
    assert [entry.id for entry in index.entries] == list(entries)


def test_a_branch_whose_beginning_comes_later_is_read_whole_then() -> None:
    entries = {f"e{n}": Entry(id=f"e{n}", parent_id=f"e{n - 1}" if n else None, kind="message") for n in range(5)}
    index = LedgerIndex()
    index.follow(Branch({key: entries[key] for key in ("e3", "e4")}, "e4"))
    assert [entry.id for entry in index.entries] == ["e3", "e4"]
    index.follow(Branch(entries, "e4"))
    assert [entry.id for entry in index.entries] == list(entries)
