"""A filter of tags as a model writes it. The server's form: leaves, and groups of them under and, or, not."""

from __future__ import annotations

from hindbrain.contracts import HindbrainError, JsonValue, TagAnd, TagGroup, TagLeaf, TagNot, TagOr
from hindbrain.contracts import TagsMatch as Match

_DEEPEST = 8


class BadTagGroupsError(HindbrainError):
    """A filter of tags does not have its form; nothing was asked."""

    code = "bad-tag-groups"

    def __init__(self) -> None:
        super().__init__(
            "tagGroups does not have its form; nothing was asked.",
            next_step='Give a list of {"tags": […], "match": "any_strict"}; and, or and not nest.',
        )


def tag_groups(value: JsonValue) -> tuple[TagGroup, ...]:
    """The groups, which hold all at once; none for None.

    Raises:
        BadTagGroupsError: some part is of another form. A filter that was passed over would find too much.
        BackendRequestError: a tag or a match is refused.
    """
    if value is None:
        return ()
    return _groups(value, _DEEPEST)


def _groups(value: JsonValue, deeper: int) -> tuple[TagGroup, ...]:
    if not isinstance(value, list) or not deeper:
        raise BadTagGroupsError
    return tuple(_group(each, deeper) for each in value)


def _group(value: JsonValue, deeper: int) -> TagGroup:
    match value:
        case {"and": inner, **rest} if not rest:
            return TagAnd(_groups(inner, deeper - 1))
        case {"or": inner, **rest} if not rest:
            return TagOr(_groups(inner, deeper - 1))
        case {"not": inner, **rest} if not rest:
            return TagNot(_groups([inner], deeper - 1)[0])
        case {"tags": list(tags), **rest} if set(rest) <= {"match"} and all(isinstance(tag, str) for tag in tags):
            return TagLeaf(tuple(tags), _match(rest.get("match", Match.ANY_STRICT)))
        case _:
            raise BadTagGroupsError


def _match(value: JsonValue) -> Match:
    try:
        return Match(value)
    except ValueError:
        raise BadTagGroupsError from None
