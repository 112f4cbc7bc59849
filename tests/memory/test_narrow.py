"""A caller's tag filter beside the scope's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import TagAnd, TagGroup, TagLeaf, TagNot, TagOr, TagsMatch
from hindbrain.contracts import groups_match as match
from hindbrain.memory._narrow import narrowed

SCOPE = TagLeaf(("project:acme", "repo:r"))
SHARED = TagOr((SCOPE, TagLeaf((), TagsMatch.EXACT)))
TOPIC = TagLeaf(("topic:db",), TagsMatch.ANY)


@pytest.mark.req("S0-scopes-010")
def test_the_callers_groups_stand_beside_the_scopes() -> None:
    assert narrowed((SCOPE,), (TOPIC,)) == (SCOPE, TOPIC)
    assert narrowed((SCOPE,), ()) == (SCOPE,)
    assert narrowed((), (TOPIC,)) == (TOPIC,)


@pytest.mark.parametrize("scope", [SCOPE, SHARED])
def test_exact_tags_are_folded_with_the_scopes_into_one_leaf(scope: TagGroup) -> None:
    exact = TagLeaf(("topic:db",), TagsMatch.EXACT)
    folded = TagLeaf(("project:acme", "repo:r", "topic:db"), TagsMatch.EXACT)
    assert narrowed((scope,), (exact,)) == (folded,)
    assert narrowed((scope,), (TOPIC, exact)) == (folded, TOPIC)


def test_exact_tags_that_name_the_scope_or_meet_no_scope_are_left_as_they_are() -> None:
    named = TagLeaf(("project:acme",), TagsMatch.EXACT)
    assert narrowed((SCOPE,), (named,)) == (SCOPE, named)
    apart = TagLeaf(("topic:db",), TagsMatch.EXACT)
    assert narrowed((), (apart,)) == (apart,)
    untagged = TagLeaf((), TagsMatch.EXACT)
    assert narrowed((SCOPE,), (untagged,)) == (SCOPE, untagged)


_TAGS = st.lists(st.sampled_from(("project:acme", "repo:r", "project:other", "topic:db", "x")), max_size=4, unique=True)
_LEAVES = st.builds(TagLeaf, _TAGS.filter(bool), st.sampled_from(TagsMatch)) | st.just(TagLeaf((), TagsMatch.EXACT))
_GROUPS = st.recursive(
    _LEAVES,
    lambda inner: (
        st.builds(TagNot, inner)
        | st.builds(TagAnd, st.lists(inner, min_size=1, max_size=2))
        | st.builds(TagOr, st.lists(inner, min_size=1, max_size=2))
    ),
    max_leaves=4,
)


@pytest.mark.req("S0-scopes-011")
@given(st.sampled_from((SCOPE, SHARED)), st.lists(_GROUPS, max_size=3), _TAGS)
def test_whatever_the_caller_asks_nothing_beyond_the_scope_is_found(
    scope: TagGroup, groups: list[TagGroup], tags: list[str]
) -> None:
    if match(narrowed((scope,), groups), tags):
        assert match((scope,), tags)
