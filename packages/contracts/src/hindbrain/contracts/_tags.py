"""Tags, and the pure evaluator of tag filters that behaves as the server does.

Source: spec/hindsight-server.md section 4.3 and the captures a135 to a150 of server 1.1.0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum

from attrs import field, frozen

from hindbrain.contracts._errors import BackendRequestError


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
            returns every project's facts), or a tag is blank.
    """
    kept = tuple(dict.fromkeys(tags))
    if not kept and match is not TagsMatch.EXACT:
        raise BackendRequestError(
            f"An empty tag list with match '{match}' is refused: a server takes it as no filter at all.",
            next_step="Name at least one tag, or leave the filter out on purpose.",
        )
    if any(not tag.strip() for tag in kept):
        raise BackendRequestError("A blank tag is refused.", next_step="Give each tag at least one visible character.")
    return kept


def _tuple(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(values)


@frozen
class TagLeaf:
    """One list of tags and how it is compared. Built only if :func:`check_tags` accepts it."""

    tags: tuple[str, ...] = field(converter=_tuple)
    match: TagsMatch = field(default=TagsMatch.ANY_STRICT, converter=TagsMatch)

    def __attrs_post_init__(self) -> None:
        check_tags(self.tags, self.match)


@frozen
class TagAnd:
    """Every one of the groups."""

    groups: tuple[TagGroup, ...]


@frozen
class TagOr:
    """At least one of the groups."""

    groups: tuple[TagGroup, ...]


@frozen
class TagNot:
    """Not the group."""

    group: TagGroup


TagGroup = TagLeaf | TagAnd | TagOr | TagNot


def leaf_matches(leaf: TagLeaf, tags: Collection[str]) -> bool:
    """Whether a fact with these tags passes one leaf."""
    have, want = set(tags), set(leaf.tags)
    match leaf.match:
        case TagsMatch.EXACT:
            return have == want
        case TagsMatch.ANY:
            return not have or bool(have & want)
        case TagsMatch.ALL:
            return not have or want <= have
        case TagsMatch.ANY_STRICT:
            return bool(have & want)
        case TagsMatch.ALL_STRICT:
            return bool(have) and want <= have


def group_matches(group: TagGroup, tags: Collection[str]) -> bool:
    """Whether a fact with these tags passes one group."""
    match group:
        case TagLeaf():
            return leaf_matches(group, tags)
        case TagAnd(groups):
            return all(group_matches(g, tags) for g in groups)
        case TagOr(groups):
            return any(group_matches(g, tags) for g in groups)
        case TagNot(inner):
            return not group_matches(inner, tags)


def groups_match(groups: Iterable[TagGroup], tags: Collection[str]) -> bool:
    """Whether a fact with these tags passes every group. No group at all means no filter.

    Source: S0-scopes-036.
    """
    return all(group_matches(g, tags) for g in groups)
