from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import Entry, ImagePart, TextPart, ThinkingPart, ToolCallPart
from hindbrain.observe import (
    BudgetError,
    LedgerIndex,
    ObserveConfig,
    Observed,
    chunk_cap,
    moment_of,
    next_chunk,
    plan_request,
    recall,
    recall_page,
    source_block,
    source_text,
    tokens,
)
from hindbrain.observe.testing import START, BranchScript, planted, planted_observer


def one(script: BranchScript, zone: str = "UTC") -> str:
    return source_text(script.entries[-1], zone)


def test_every_role_is_shown_with_its_speaker_and_time() -> None:
    script = BranchScript()
    script.say("user", "look", ImagePart("image/png"))
    assert one(script) == "[User @ 2026-01-02 09:00]: look\n[image: image/png]"
    script.say(
        "assistant", ThinkingPart("hm"), "Yes.", ToolCallPart("1", "read", {"path": "ü", "n": 1}), ThinkingPart(" ")
    )
    assert one(script) == '[Assistant @ 2026-01-02 09:01]: [thinking: hm]\nYes.\n[read({"path":"ü","n":1})]'
    script.say("toolResult", "no such file", tool_name="read", is_error=True)
    assert one(script) == "[Tool result for read (error) @ 2026-01-02 09:02]: no such file"
    script.say("bashExecution", "$ ls\na.py", tool_name="bash")
    assert one(script) == "[User shell command @ 2026-01-02 09:03]: $ ls\na.py"
    script.say("custom", "note")
    assert one(script) == "[Custom (unknown) @ 2026-01-02 09:04]: note"
    summary = Entry(id="b", parent_id=None, kind="branch_summary", summary="left", at=START)
    assert source_text(summary) == "[Branch summary @ 2026-01-02 09:00]: left"


def test_what_says_nothing_is_no_block() -> None:
    script = BranchScript()
    script.say("assistant", ThinkingPart(" \n"))
    assert one(script) == ""
    script.say("system", "be kind")
    assert one(script) == ""
    script.custom("x", {})
    assert one(script) == ""


def test_times_are_of_the_zone_that_is_asked_for_and_unknown_ones_say_so() -> None:
    script = BranchScript()
    script.user("x")
    assert [one(script, zone)[1:25] for zone in ("UTC", "+05:30", "-10:00", "Nowhere/City")] == [
        "User @ 2026-01-02 09:00]",
        "User @ 2026-01-02 14:30]",
        "User @ 2026-01-01 23:00]",
        "User @ 2026-01-02 09:00]",
    ]
    assert source_text(Entry(id="b", parent_id=None, kind="branch_summary", summary="left")).startswith(
        "[Branch summary @ ????-??-?? ??:??]"
    )


@pytest.mark.req("S4-observer-001")
def test_a_backlog_is_drained_oldest_first_and_nothing_is_skipped() -> None:
    script = BranchScript()
    for _ in range(6):
        script.weighing(400)
    sent = []
    while (chunk := next_chunk(script.index(), 1_000)) is not None:
        sent.append(chunk.source_ids)
        assert chunk.tokens <= 1_000
        script.append(Observed(observations=(), covers=chunk.covers))
    assert sent == [("raw-1", "raw-2"), ("raw-3", "raw-4"), ("raw-5", "raw-6")]


@pytest.mark.req("S4-observer-002", "S4-observer-003", "S4-observer-004")
def test_a_source_longer_than_the_cap_is_shown_by_its_ends_and_stays_whole() -> None:
    script = BranchScript()
    text = "BEGIN " + planted("head") + "\n" + "x" * 10_000 + "\nEND"
    script.user(text)
    script.user("next")
    chunk = next_chunk(script.index(), 256)
    assert chunk is not None
    assert chunk.tokens <= 256
    assert (chunk.source_ids, chunk.excerpt_ids, chunk.covers) == (("raw-1",), ("raw-1",), "raw-1")
    head, mark, tail = chunk.text.partition("\n[… the middle of this source was left out …]\n")
    assert head.startswith("[Source entry id: raw-1]\n[User @ 2026-01-02 09:00]: BEGIN")
    assert mark
    assert tail.endswith("xx\nEND")
    (record,) = planted_observer(script.index(), chunk)
    script.append(Observed(observations=(record,), covers=chunk.covers))
    pages = [recall_page(recall(script.index(), record.id), page=n, room=500).text for n in range(1, 7)]
    assert "".join(page.partition("\n\n")[2] for page in pages).endswith(text)


def test_entries_that_say_nothing_are_covered_with_the_rest() -> None:
    script = BranchScript()
    script.say("assistant", ThinkingPart(" "))
    chunk = next_chunk(script.index(), 256)
    assert chunk is not None
    assert (chunk.text, chunk.source_ids, chunk.covers) == ("", (), "raw-1")
    script.user("words")
    script.say("assistant", ThinkingPart(" "))
    chunk = next_chunk(script.index(), 256)
    assert chunk is not None
    assert (chunk.source_ids, chunk.covers) == (("raw-2",), "raw-3")


def test_a_chunk_is_filled_to_its_cap_and_not_beyond() -> None:
    script = BranchScript()
    first, second = script.weighing(300), script.weighing(300)
    blocks = [source_block(entry) for entry in script.entries]
    exact = tokens(blocks[0]) + tokens(f"\n\n{blocks[1]}")
    sent = [next_chunk(script.index(), cap) for cap in (exact, exact - 1)]
    assert [chunk.source_ids for chunk in sent if chunk is not None] == [(first, second), (first,)]


@given(
    st.lists(st.text(alphabet=st.sampled_from("ab \n🚀é"), max_size=3_000), min_size=1, max_size=12),
    st.integers(256, 2_000),
)
def test_any_backlog_drains_within_its_caps_and_every_source_is_sent_once(texts: list[str], cap: int) -> None:
    script = BranchScript()
    for text in texts:
        script.user(text)
    index = script.index()
    sent: list[str] = []
    runs = 0
    while (chunk := next_chunk(index, cap)) is not None:
        assert chunk.tokens == tokens(chunk.text)
        assert chunk.tokens <= cap
        sent += chunk.source_ids
        runs += 1
        script.append(Observed(observations=(), covers=chunk.covers))
        index.feed(script.entries[-1:])
    assert sent == [entry.id for entry in script.entries if source_block(entry)]
    assert runs <= len(texts)
    assert index.observed_to == len(texts) - 1


def test_where_not_even_an_excerpt_fits_nothing_is_sent() -> None:
    script = BranchScript()
    script.user("x" * 1_000)
    assert next_chunk(script.index(), 5) is None
    assert next_chunk(LedgerIndex(), 256) is None


def test_a_cap_is_the_setting_or_a_fifth_of_the_window_and_at_least_256() -> None:
    assert chunk_cap(ObserveConfig(observer_chunk_max_tokens=100), 1_000_000) == 256
    assert chunk_cap(ObserveConfig(observer_chunk_max_tokens=9_000), None) == 9_000
    assert [chunk_cap(ObserveConfig(), window) for window in (None, 0, 100, 128_000)] == [60_000, 60_000, 256, 25_600]


sizes = st.integers(0, 200_000)


@given(st.integers(1, 300_000), sizes, sizes, sizes, sizes)
def test_a_request_fits_its_window_whatever_is_asked_for(
    window: int, system: int, output: int, memory: int, chunk: int
) -> None:
    if window - system < 512:
        with pytest.raises(BudgetError):
            plan_request(window=window, system=system, output=output, memory=memory, chunk=chunk)
        return
    plan = plan_request(window=window, system=system, output=output, memory=memory, chunk=chunk)
    assert system + plan.output + plan.memory + plan.chunk <= window
    assert min(plan.output, plan.memory, plan.chunk) >= 0
    assert plan.chunk >= min(chunk, 256)
    assert plan.output >= min(output, 256)


def test_memory_gives_way_before_the_chunk_does() -> None:
    plan = plan_request(window=65_536, system=2_000, output=8_192, memory=60_000, chunk=10_000)
    assert (plan.memory, plan.chunk, plan.output) == (45_344, 10_000, 8_192)
    assert plan_request(window=None, system=1, output=2, memory=3, chunk=4).memory == 3


def test_an_observation_is_as_old_as_its_earliest_source() -> None:
    script = BranchScript()
    script.user("a")
    script.user("b")
    index = script.index()
    assert moment_of(index, ["raw-2", "raw-1"], last_at=1, now=2) == START
    assert moment_of(index, ["gone"], last_at=1, now=2) == 1
    assert moment_of(index, ["gone"], last_at=None, now=2) == 2


def test_text_parts_only_are_a_users_words() -> None:
    script = BranchScript()
    script.say("user", TextPart("a"), ThinkingPart("hidden"), TextPart("b"))
    assert one(script) == "[User @ 2026-01-02 09:00]: a\nb"
