"""What of a session is imported, and in which documents: through the values, before anything is queued."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.contracts import Branch, Entry, Message, TextPart
from hindbrain.generic._import._chains import chains_of, on_branch
from hindbrain.generic._import._chunks import chunks_of, turns_of
from hindbrain.generic._import._select import Kept, select
from hindbrain.generic._import._source import clean_id, session_files
from hindbrain.generic._import._values import Dropped, Mode, Profile, Tally
from hindbrain.memory import RetainConfig

KEPT = st.builds(
    lambda number, size, opens: Kept(f"e{number}", None, "x" * size, size, opens),
    st.integers(0, 10**6),
    st.integers(1, 60),
    st.booleans(),
)


def entry(id_: str, parent: str | None, role: str = "user", text: str = "words", **more: Any) -> Entry:
    return Entry(id=id_, parent_id=parent, kind="message", message=Message(role=role, parts=(TextPart(text),), **more))


def ids(entries: tuple[Entry, ...]) -> str:
    return "".join(each.id for each in entries)


def branch(*links: str) -> Branch:
    """Entries as ``child<parent``."""
    return Branch.of(entry(link[0], link[2:] or None) for link in links)


def test_a_chain_goes_on_with_the_first_that_follows_and_another_begins_with_the_next() -> None:
    tree = branch("a<", "b<a", "c<b", "d<b", "e<d", "f<c")
    assert [ids(chain.entries) for chain in chains_of(tree)] == ["abcf", "de"]
    assert [(chain.name, ids(chain.entries)) for chain in on_branch(chains_of(tree), tree)] == [("a", "abcf")]
    other = Branch(tree.entries, "e")
    assert [(chain.name, ids(chain.entries)) for chain in on_branch(chains_of(tree), other)] == [
        ("a", "ab"),
        ("d", "de"),
    ]


@pytest.mark.parametrize("links", [("a<b", "b<a"), ("a<a",), ("b<a", "a<"), ("a<x", "b<x")])
def test_every_entry_of_a_damaged_tree_is_in_one_chain(links: tuple[str, ...]) -> None:
    found = [each.id for chain in chains_of(branch(*links)) for each in chain.entries]
    assert sorted(found) == sorted(link[0] for link in links)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=30), st.integers(1, 30))
def test_what_a_session_gets_later_leaves_its_chains_as_they_began(parents: list[int], cut: int) -> None:
    entries = [entry(f"n{i}", f"n{p % i}" if i else None) for i, p in enumerate(parents)]
    before, after = (chains_of(Branch.of(each)) for each in (entries[:cut], entries))
    longer = {chain.name: ids(chain.entries) for chain in after}
    assert all(longer[chain.name].startswith(ids(chain.entries)) for chain in before)


@given(st.lists(KEPT, max_size=40), st.integers(1, 4), st.integers(20, 200))
def test_chunks_are_all_messages_in_order_within_their_bounds(kept: list[Kept], turns: int, most: int) -> None:
    chunks = list(chunks_of(kept, turns=turns, max_bytes=most))
    assert [message for chunk in chunks for message in chunk] == kept
    for chunk in chunks:
        inside = list(turns_of(chunk))
        assert len(inside) <= turns
        assert sum(message.size for message in chunk) <= most or len(inside) == 1


@given(st.lists(KEPT, max_size=40), st.integers(0, 40), st.integers(1, 4))
@settings(max_examples=200)
def test_more_messages_change_none_but_the_last_chunk(kept: list[Kept], cut: int, turns: int) -> None:
    fewer = list(chunks_of(kept[:cut], turns=turns, max_bytes=100))
    more = list(chunks_of(kept, turns=turns, max_bytes=100))
    assert more[: max(0, len(fewer) - 1)] == fewer[:-1]


RESULT = {"role": "toolResult", "tool_name": "bash"}


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (entry("a", None, **RESULT), Dropped.SUCCESSFUL_TOOL_OUTPUT),
        (entry("a", None, "toolResult", tool_name="read", is_error=True), Dropped.TOOL_FILTER_EXCLUDED),
        (entry("a", None, "toolResult", "  ", tool_name="bash", is_error=True), Dropped.TOOL_RESULT_EMPTY),
        (entry("a", None, "user", "<hindsight-memory>\nold\n</hindsight-memory>"), Dropped.RECALLED_MEMORY),
        (entry("a", None, "assistant", " \n"), Dropped.EMPTY_PROJECTION),
        (entry("a", None, "system"), Dropped.HOST_PROMPT),
        (Entry(id="a", parent_id=None, kind="message"), Dropped.KEPT_FROM_MODEL),
    ],
)
def test_what_is_dropped_is_counted_with_its_reason(made: Entry, why: Dropped) -> None:
    tally = Tally()
    assert select([made], RetainConfig(), tally) == []
    assert dict(tally.dropped) == {why.value: 1}
    assert tally.dropped_bytes[why.value] == len(made.message.text if made.message else "")


def test_tools_that_are_not_among_those_to_keep_are_left_out_but_not_in_raw_mode() -> None:
    config = RetainConfig(tool_result=("content",), tool_result_include=("bash",), tool_call_include=())
    entries = [
        entry("a", None, "toolResult", tool_name="bash"),
        entry("b", "a", "toolResult", tool_name="python"),
    ]
    tally = Tally()
    assert [kept.entry_id for kept in select(entries, config, tally)] == ["a"]
    assert dict(tally.dropped) == {"tool-filter-excluded": 1}
    raw = Profile(mode=Mode.RAW).retain(config)
    assert len(select(entries, raw, tally)) == 2
    assert raw.tool_call_include is None


def test_the_errors_of_tools_are_kept() -> None:
    tally = Tally()
    made = entry("a", None, "toolResult", "exit code 1", tool_name="bash", is_error=True)
    (kept,) = select([made], RetainConfig(), tally)
    assert "exit code 1" in kept.text
    assert (tally.kept, tally.kept_bytes) == (1, len(kept.text))


@pytest.mark.parametrize(("mode", "kept"), [(Mode.CURATED, 0), (Mode.RAW, 1), (Mode.FORENSIC, 3)])
def test_raw_keeps_the_output_of_tools_and_only_forensic_what_was_recalled(mode: Mode, kept: int) -> None:
    profile, tally = Profile(mode=mode), Tally()
    entries = [
        entry("a", None, **RESULT),
        entry("b", "a", "toolResult", "recalled", tool_name="hindsight_recall"),
        entry("c", "b", "user", "<hindsight-memory>\nrecalled\n</hindsight-memory>"),
        entry("d", "c", "system"),
    ]
    config = profile.retain(RetainConfig())
    assert len(select(entries, config, tally, keep_injected=profile.keeps_injected)) == kept


def test_secrets_are_out_of_what_is_kept_in_every_mode() -> None:
    secret = "ghp_" + "A1b2C3d4E5" * 4
    for mode in Mode:
        profile = Profile(mode=mode)
        (kept,) = select([entry("a", None, "user", f"use {secret}")], profile.retain(RetainConfig()), Tally())
        assert secret not in kept.text
        assert "[REDACTED:" in kept.text


def test_ids_that_could_not_stand_in_a_document_s_are_digested() -> None:
    assert clean_id("01a22eea-5a9b-772f") == "01a22eea-5a9b-772f"
    for strange in ("", "a b", "a\nb", "../x", "x" * 65, "é"):
        assert len(clean_id(strange)) == 16


def test_a_tree_is_walked_once_and_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    names = ["deep/er/b.jsonl", "a.jsonl", "deep/c.txt", "deep/a.jsonl"]
    for name in names:
        (tmp_path / name).write_text("")
    (tmp_path / "deep" / "up").symlink_to(tmp_path)
    found = [path.relative_to(tmp_path).as_posix() for path in session_files([tmp_path, tmp_path / "a.jsonl"])]
    assert found == ["a.jsonl", "deep/a.jsonl", "deep/er/b.jsonl"]
