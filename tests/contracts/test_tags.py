import gzip
import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import (
    BackendRequestError,
    TagAnd,
    TagGroup,
    TagLeaf,
    TagNot,
    TagOr,
    TagsMatch,
    check_tags,
    group_matches,
    groups_match,
)

DATA = Path(__file__).parents[1] / "data"
CAPTURES = DATA / "hindsight-captures.jsonl.gz"
# 231 filters, each asked of the real server 1.1.0 for facts and for observations, which were answered alike, over eight
# documents: one for each set of the tags a, b and c, and named by it.
FILTERS = DATA / "tag-filters.jsonl"
DOCUMENTS = {"none": ""} | {name: name for name in ("a", "b", "c", "ab", "ac", "bc", "abc")}


def group(wire: dict[str, Any]) -> TagGroup:
    """Read one group as it is written on the wire."""
    if "and" in wire:
        return TagAnd(tuple(group(g) for g in wire["and"]))
    if "or" in wire:
        return TagOr(tuple(group(g) for g in wire["or"]))
    if "not" in wire:
        return TagNot(group(wire["not"]))
    return TagLeaf(wire["tags"], TagsMatch(wire.get("match", "any_strict")))


def groups(body: dict[str, Any]) -> tuple[TagGroup, ...]:
    """Read the filter of one recall body; empty where it has none."""
    if "tag_groups" in body:
        return tuple(group(g) for g in body["tag_groups"])
    match = TagsMatch(body.get("tags_match", "any"))
    return (TagLeaf(body.get("tags", ()), match),) if body.get("tags") or match is TagsMatch.EXACT else ()


def recorded() -> Iterator[tuple[tuple[TagGroup, ...], list[str]]]:
    """Each recorded filter with the names of the documents the server found."""
    for line in FILTERS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield groups(row), row["found"]


NAMES = st.sampled_from(["a", "b", "c", "d"])
MODES = st.sampled_from(list(TagsMatch))


def leaves() -> st.SearchStrategy[TagGroup]:
    some = st.builds(TagLeaf, st.lists(NAMES, min_size=1, max_size=4), MODES)
    none = st.just(TagLeaf((), TagsMatch.EXACT))
    return st.one_of(some, none)


def wider(inner: st.SearchStrategy[TagGroup]) -> st.SearchStrategy[TagGroup]:
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(st.builds(TagNot, inner), st.builds(TagAnd, several), st.builds(TagOr, several))


GROUPS = st.recursive(leaves(), wider, max_leaves=8)
UNIVERSE = [frozenset(tags) for size in range(5) for tags in combinations("abcd", size)]


def passing(group: TagGroup) -> set[frozenset[str]]:
    """A second model of the same rules: the tag sets that pass, as sets, found by listing them all."""
    match group:
        case TagAnd(members):
            return set.intersection(*(passing(m) for m in members))
        case TagOr(members):
            return set.union(*(passing(m) for m in members))
        case TagNot(member):
            return set(UNIVERSE) - passing(member)
        case TagLeaf(tags, mode):
            untagged = {frozenset[str]()}
            by_mode = {
                TagsMatch.EXACT: {s for s in UNIVERSE if sorted(s) == sorted(set(tags))},
                TagsMatch.ANY_STRICT: {s for s in UNIVERSE for tag in tags if tag in s},
                TagsMatch.ALL_STRICT: {s for s in UNIVERSE if s and not [tag for tag in tags if tag not in s]},
            }
            by_mode[TagsMatch.ANY] = by_mode[TagsMatch.ANY_STRICT] | untagged
            by_mode[TagsMatch.ALL] = by_mode[TagsMatch.ALL_STRICT] | untagged
            return by_mode[mode]


@given(GROUPS)
def test_a_group_lets_through_what_the_listed_model_lets_through(group: TagGroup) -> None:
    assert {tags for tags in UNIVERSE if group_matches(group, tags)} == passing(group)


@given(st.lists(GROUPS, max_size=3))
def test_several_groups_let_through_what_each_of_them_does(members: list[TagGroup]) -> None:
    expected = set(UNIVERSE)
    for member in members:
        expected &= passing(member)
    assert {tags for tags in UNIVERSE if groups_match(members, tags)} == expected


@given(GROUPS, st.lists(NAMES))
def test_order_and_repetition_of_a_facts_tags_do_not_matter(group: TagGroup, tags: list[str]) -> None:
    assert group_matches(group, tags) == group_matches(group, [*reversed(tags), *tags])


def test_the_evaluator_finds_what_the_real_server_found_for_every_recorded_filter() -> None:
    rows = list(recorded())
    assert len(rows) == 231
    for filters, found in rows:
        assert sorted(name for name, tags in DOCUMENTS.items() if groups_match(filters, tags)) == found, filters


def captured_recalls() -> dict[str, dict[str, Any]]:
    with gzip.open(CAPTURES, "rt", encoding="utf-8") as lines:
        captures = [json.loads(line) for line in lines]
    return {
        c["id"]: c
        for c in captures
        if c["request"]["path"].endswith("/cap-da26db/memories/recall")
        and isinstance(c["request"].get("body"), dict)
        and c["response"]["status"] == 200
    }


def test_every_fact_in_a_captured_answer_passes_the_filter_it_was_asked_with() -> None:
    judged = 0
    for capture in captured_recalls().values():
        wire = json.dumps(capture["request"]["body"])
        if '"fuzzy"' in wire:
            continue
        filters = groups(capture["request"]["body"])
        for fact in capture["response"]["body"]["results"]:
            assert groups_match(filters, fact["tags"]), capture["id"]
            judged += 1
    assert judged > 100


@pytest.mark.parametrize("capture", ["a135", "a137", "a139"])
def test_a_captured_filter_keeps_out_only_what_the_evaluator_keeps_out(capture: str) -> None:
    captures = captured_recalls()
    body = captures[capture]["request"]["body"]
    # a141 asks the same question with an empty list, which the server takes as no filter at all.
    unfiltered = captures["a141"]["response"]["body"]["results"]
    expected = {fact["id"] for fact in unfiltered if groups_match(groups(body), fact["tags"])}
    assert {fact["id"] for fact in captures[capture]["response"]["body"]["results"]} == expected


@pytest.mark.req("S0-scopes-035")
def test_any_strict_needs_one_of_the_tags_and_never_lets_an_untagged_fact_through() -> None:
    leaf = TagLeaf(["project:acme", "repo:x"])
    assert leaf.match is TagsMatch.ANY_STRICT
    assert [group_matches(leaf, tags) for tags in (["repo:x", "y"], ["project:other"], [])] == [True, False, False]


@pytest.mark.req("S0-scopes-036")
def test_several_tag_groups_are_anded() -> None:
    both = [TagLeaf(["project:acme"], "any_strict"), TagLeaf(["topic:db"], "any")]
    assert groups_match(both, ["project:acme", "topic:db"])
    assert not groups_match(both, ["project:acme", "topic:ui"])


def test_no_group_at_all_is_no_filter() -> None:
    assert groups_match((), ["x"])
    assert groups_match((), [])


def test_tags_know_case() -> None:
    assert not group_matches(TagLeaf(["Project:X"]), ["project:x"])


@pytest.mark.parametrize("match", [m for m in TagsMatch if m is not TagsMatch.EXACT])
def test_an_empty_tag_list_is_refused_since_a_server_takes_it_as_no_filter(match: TagsMatch) -> None:
    with pytest.raises(BackendRequestError, match="empty tag list"):
        check_tags([], match)
    with pytest.raises(BackendRequestError, match="empty tag list"):
        TagLeaf([], match)


def test_an_empty_list_with_exact_means_untagged_facts_only() -> None:
    leaf = TagLeaf([], TagsMatch.EXACT)
    assert group_matches(leaf, [])
    assert not group_matches(leaf, ["a"])


def test_repeated_tags_are_kept_once_and_in_order() -> None:
    assert check_tags(["b", "a", "b"], TagsMatch.ANY) == ("b", "a")
    assert TagLeaf(["b", "a", "b"]).tags == ("b", "a")


@pytest.mark.parametrize("tags", [[""], ["  "], ["a\nb"], ["a\x00"], ["\ud83d"], [1], "project:acme", None, 5])
def test_a_tag_list_that_is_none_or_holds_what_is_no_tag_is_refused(tags: Any) -> None:
    with pytest.raises(BackendRequestError, match="tags is refused"):
        check_tags(tags, TagsMatch.ANY)


def test_a_refused_tag_is_not_repeated_in_the_message() -> None:
    with pytest.raises(BackendRequestError) as refused:
        check_tags(["hunter2\n"], TagsMatch.ANY)
    assert "hunter2" not in str(refused.value)


def test_an_unknown_match_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(BackendRequestError, match="any, all, any_strict, all_strict, exact"):
        TagLeaf(["a"], "some")


@pytest.mark.parametrize("kind", [TagAnd, TagOr])
def test_an_and_or_an_or_without_members_is_refused_since_a_server_breaks_on_it(kind: type[TagAnd | TagOr]) -> None:
    with pytest.raises(BackendRequestError, match="at least one group"):
        kind(())


def test_a_member_that_is_no_group_is_refused() -> None:
    with pytest.raises(BackendRequestError, match="TagLeaf"):
        TagAnd(("a",))  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(BackendRequestError, match="TagLeaf"):
        TagNot("a")  # type: ignore[arg-type]  # the mistake under test


def test_members_may_be_given_as_a_list_and_are_kept_as_a_tuple() -> None:
    leaf = TagLeaf(["a"])
    assert TagOr([leaf]).groups == (leaf,)
    assert hash(TagAnd([leaf])) == hash(TagAnd((leaf,)))


def test_groups_nest_to_32_levels_and_no_deeper() -> None:
    group: TagGroup = TagLeaf(["a"])
    for _ in range(31):
        group = TagNot(group)
    assert not group_matches(group, ["a"])
    for deeper in (lambda: TagNot(group), lambda: TagAnd([group]), lambda: TagOr([group])):
        with pytest.raises(BackendRequestError, match="32 levels"):
            deeper()
