"""A caller's own tag filter beside the scope's: it can narrow what is asked, and never widen it.

Source: seed 000, "Recall scope"; spec/memory.md section 2.5. That an exact filter which names one of the scope's own
tags is left as it is, is ours: it can be met as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable

from hindbrain.contracts import TagGroup, TagLeaf, TagOr, TagsMatch


def _tags_of(scope: tuple[TagGroup, ...]) -> tuple[str, ...]:
    """The tags of a scope's leaf; of a scope with shared observations, those of the leaf that names some."""
    members = (m for group in scope for m in (group.groups if isinstance(group, TagOr) else (group,)))
    return next((m.tags for m in members if isinstance(m, TagLeaf) and m.tags), ())


def narrowed(scope: tuple[TagGroup, ...], groups: Iterable[TagGroup]) -> tuple[TagGroup, ...]:
    """The filter that holds where the scope and every group of the caller hold.

    An ``exact`` leaf without any of the scope's tags could never be met beside it. It is folded with the scope into one
    exact leaf of both, so that a caller need not know the scope's tags.

    Args:
        scope: the filter of a scope; empty for a bank without one.
        groups: the caller's.
    """
    own, asked = set(_tags_of(scope)), tuple(groups)
    exact = [g for g in asked if isinstance(g, TagLeaf) and g.match is TagsMatch.EXACT and g.tags]
    apart = [leaf for leaf in exact if own and own.isdisjoint(leaf.tags)]
    if not apart:
        return (*scope, *asked)
    folded = (TagLeaf((*_tags_of(scope), *leaf.tags), TagsMatch.EXACT) for leaf in apart)
    return (*folded, *(group for group in asked if group not in apart))
