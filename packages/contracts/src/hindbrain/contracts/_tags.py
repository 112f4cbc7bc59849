"""Tags, and the pure evaluator of tag filters that behaves as the server does.

Source: spec/hindsight-server.md section 4.3 and the captures a135 to a150 of server 1.1.0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import TypeAlias

from attrs import field, frozen

from hindbrain.contracts._checks import choice, clean_tags, refusal
from hindbrain.contracts._errors import BackendRequestError

_MAX_DEPTH = 32


class TagsMatch(StrEnum):
    """How a list of tags is compared with the tags of a fact. Case matters."""

    ANY = "any"
    """At least one of them, or the fact has no tag at all."""
    ALL = "all"
    """Every one of them, or the fact has no tag at all."""
    ANY_STRICT = "any_strict"
    """At least one of them; an untagged fact never matches."""
    ALL_STRICT = "all_strict"
    """Every one of them; an untagged fact never matches."""
    EXACT = "exact"
    """The same set. With an empty list: untagged facts only."""


def check_tags(tags: Iterable[str], match: TagsMatch) -> tuple[str, ...]:
    """Return the tags without repetitions, in order.

    Raises:
        BackendRequestError: the list is empty with a match other than ``exact`` (a server reads that as "no filter" and
            returns every project's facts, capture a141), or :func:`clean_tags` refuses it.
    """
    kept = clean_tags(tags)
    if not kept and match is not TagsMatch.EXACT:
        raise BackendRequestError(
            f"An empty tag list with match '{match}' is refused: a server takes it as no filter at all.",
            next_step="Name at least one tag, or leave the filter out on purpose.",
        )
    return kept


def to_match(value: str) -> TagsMatch:
    """Return the match mode that a word names."""
    return choice(TagsMatch, value, "tags_match")


def to_groups(groups: Iterable[TagGroup]) -> tuple[TagGroup, ...]:
    """Return the groups as a tuple.

    Raises:
        BackendRequestError: one of them is not a group.
    """
    kept = tuple(groups)
    if not all(isinstance(group, TagLeaf | TagAnd | TagOr | TagNot) for group in kept):
        raise refusal("tag_groups", "TagLeaf, TagAnd, TagOr and TagNot")
    return kept


def _members(groups: Iterable[TagGroup]) -> tuple[TagGroup, ...]:
    kept = to_groups(groups)
    if not kept:
        raise refusal("An empty 'and' or 'or'", "at least one group in it")
    return kept


def _depth(group: TagGroup) -> int:
    if isinstance(group, TagLeaf):
        return 1
    members = (group.group,) if isinstance(group, TagNot) else group.groups
    return 1 + max(_depth(member) for member in members)


def _check_depth(group: TagGroup) -> None:
    # Groups are built from the inside out, so what is measured here is never deeper than the bound plus one.
    if _depth(group) > _MAX_DEPTH:
        raise refusal("A tag group", f"at most {_MAX_DEPTH} levels of and, or and not")


@frozen
class TagLeaf:
    """One list of tags and how it is compared. Built only if :func:`check_tags` accepts it."""

    tags: tuple[str, ...] = field(converter=clean_tags)
    match: TagsMatch = field(default=TagsMatch.ANY_STRICT, converter=to_match)

    def __attrs_post_init__(self) -> None:
        check_tags(self.tags, self.match)


@frozen
class TagAnd:
    """Every one of the groups, of which there is at least one."""

    groups: tuple[TagGroup, ...] = field(converter=_members)

    def __attrs_post_init__(self) -> None:
        _check_depth(self)


@frozen
class TagOr:
    """At least one of the groups, of which there is at least one."""

    groups: tuple[TagGroup, ...] = field(converter=_members)

    def __attrs_post_init__(self) -> None:
        _check_depth(self)


@frozen
class TagNot:
    """Not the group. An untagged fact passes the ``not`` of a strict leaf, as on the server."""

    group: TagGroup

    def __attrs_post_init__(self) -> None:
        to_groups((self.group,))
        _check_depth(self)


TagGroup: TypeAlias = TagLeaf | TagAnd | TagOr | TagNot


def leaf_matches(leaf: TagLeaf, tags: Collection[str]) -> bool:
    """Whether a fact with these tags passes one leaf. Source: S0-scopes-035."""
    have, want = set(tags), set(leaf.tags)
    if leaf.match is TagsMatch.EXACT:
        return have == want
    if not have:
        return leaf.match in {TagsMatch.ANY, TagsMatch.ALL}
    if leaf.match in {TagsMatch.ANY, TagsMatch.ANY_STRICT}:
        return bool(have & want)
    return want <= have


def group_matches(group: TagGroup, tags: Collection[str]) -> bool:
    """Whether a fact with these tags passes one group."""
    if isinstance(group, TagLeaf):
        return leaf_matches(group, tags)
    if isinstance(group, TagNot):
        return not group_matches(group.group, tags)
    members = (group_matches(member, tags) for member in group.groups)
    return all(members) if isinstance(group, TagAnd) else any(members)


def groups_match(groups: Iterable[TagGroup], tags: Collection[str]) -> bool:
    """Whether a fact with these tags passes every group. No group at all means no filter.

    Source: S0-scopes-036.
    """
    return all(group_matches(g, tags) for g in groups)
