from __future__ import annotations

from hindbrain.observe import (
    Folded,
    Found,
    Kind,
    Observation,
    Observed,
    Reflected,
    Relevance,
    Superseded,
    Unobserved,
    make_observation,
    make_reflection,
    recall,
    recall_page,
    record_id,
    view,
)
from hindbrain.observe.testing import START, BranchScript


def seen(text: str, *sources: str) -> Observation:
    return make_observation(text, at=START, sources=sources, relevance=Relevance.LOW, kind=Kind.FACT)


def test_an_empty_memory_says_so_in_both_views() -> None:
    index = BranchScript().index()
    assert view(index).text == "## Reflections\nNo visible reflections\n\n## Observations\nNo visible observations"
    assert view(index, whole=True).text.count("No recorded") == 2


def test_the_plain_view_is_what_the_model_sees_and_the_whole_one_all_there_is() -> None:
    script = BranchScript()
    script.user("x")
    shown, hidden = seen("shown", "raw-1"), seen("hidden", "raw-1")
    old, new = make_reflection("old", supports=[shown.id]), make_reflection("new", supports=[shown.id])
    script.append(Observed(observations=(shown, hidden), covers="raw-1"))
    script.append(Reflected(reflections=(old, new), covers="raw-1"))
    script.append(Superseded(ids=(old.id,), covers="raw-1"))
    script.compaction("raw-1", Folded(full_fold=False, observations=(shown,), reflections=(new,)))
    plain, whole = view(script.index()), view(script.index(), whole=True)
    assert (plain.observations, plain.reflections) == ((shown.line,), (new.line,))
    assert whole.observations == (shown.line, hidden.line)
    assert whole.reflections == (f"{old.line} (superseded)", new.line)


def test_an_unobserved_stretch_whose_ends_are_gone_says_which() -> None:
    script = BranchScript()
    script.user("x")
    gap = Unobserved(id=record_id("gap"), first="raw-1", last="raw-77", entries=2, tokens=2)
    script.compaction("raw-1", Folded(full_fold=False, observations=(), reflections=(), unobserved=gap))
    found = recall(script.index(), gap.id)
    assert (found.found, found.missing) == (Found.NO_SOURCE, ("raw-77",))


def test_rows_and_notes_beyond_twenty_are_counted() -> None:
    script = BranchScript()
    for _ in range(25):
        script.user("x")
    record = seen("many", *(f"raw-{n}" for n in range(1, 26)), *(f"gone-{n}" for n in range(30)))
    script.append(Observed(observations=(record,), covers="raw-25"))
    text = recall_page(recall(script.index(), record.id)).text
    assert "5 more sources are not listed" in text
    assert "10 more notes are left out" in text
