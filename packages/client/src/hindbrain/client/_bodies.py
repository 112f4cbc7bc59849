"""The JSON of a retain and of a recall, as the server reads it. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias

from hindbrain.client._errors import TooLargeError, UnsendableError
from hindbrain.contracts import (
    RecallQuery,
    RetainItem,
    TagAnd,
    TagGroup,
    TagLeaf,
    TagOr,
    scrub,
)

Clean: TypeAlias = Callable[[str], str]

MAX_REQUEST = 8 * 1024 * 1024
"""Bytes of the largest request. The server has no bound of its own (captures e020, e021)."""


def retain_body(item: RetainItem, operation_id: str, *, clean: Clean = scrub) -> bytes:
    """One item, asynchronous, under the caller's operation id.

    ``clean`` takes secrets out of content, context and metadata values; ids and tags go as they are.

    Raises:
        UnsendableError: the text is not well formed.
        TooLargeError: it is over :data:`MAX_REQUEST`.

    Source: spec/facts.md section 1; spec/hindsight-server.md section 4.1.
    """
    scopes = item.observation_scopes
    one: dict[str, Any] = {
        "content": clean(item.content),
        "document_id": item.document_id,
        "context": item.context and clean(item.context),
        "tags": list(item.tags) or None,
        "metadata": {key: clean(value) for key, value in item.metadata.items()} or None,
        "update_mode": item.update_mode.value,
        "timestamp": item.timestamp,
        "observation_scopes": scopes if scopes is None or isinstance(scopes, str) else [list(row) for row in scopes],
        "strategy": item.strategy,
    }
    return _encoded({"items": [_set(one)], "async": True, "operation_id": operation_id})


def recall_body(query: RecallQuery, *, clean: Clean = scrub) -> bytes:
    """The question with only what is set; ``clean`` takes secrets out of its text.

    Entities are always switched off: the server sends them by default.

    An empty tag list never goes with a match mode: with ``exact`` the list is left out, which the server reads as
    "untagged only", and every other mode refuses it when the query is built.

    Raises:
        UnsendableError: the text is not well formed, or a score floor is not finite.
        TooLargeError: it is over :data:`MAX_REQUEST`.

    Source: spec/hindsight-server.md section 4.3.
    """
    include: dict[str, Any] = {"entities": None}
    if query.source_fact_tokens is not None:
        include["source_facts"] = {"max_tokens": query.source_fact_tokens}
    floors = query.min_scores
    body: dict[str, Any] = {
        "query": clean(query.text),
        "types": [t.value for t in query.types or ()] or None,
        "budget": query.budget.value,
        "max_tokens": query.max_tokens,
        "tags": list(query.tags or ()) or None,
        "tags_match": None if query.tags is None else query.tags_match.value,
        "tag_groups": [group_json(g) for g in query.tag_groups] or None,
        "prefer_observations": query.prefer_observations,
        "query_timestamp": query.timestamp,
        "min_scores": floors
        and _set(
            {
                "semantic": floors.semantic,
                "keyword": floors.keyword,
                "reranker": floors.reranker,
                "final": floors.final,
            }
        ),
    }
    return _encoded({**_set(body), "include": include})


def group_json(group: TagGroup) -> dict[str, Any]:
    """One tag group in the server's JSON. ``resolve`` is never sent: fuzzy tags break isolation (capture a145)."""
    match group:
        case TagLeaf():
            return {"tags": list(group.tags), "match": group.match.value}
        case TagAnd():
            return {"and": [group_json(g) for g in group.groups]}
        case TagOr():
            return {"or": [group_json(g) for g in group.groups]}
    return {"not": group_json(group.group)}


def _set(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _encoded(body: dict[str, Any]) -> bytes:
    encoded = b""
    with suppress(ValueError):  # its text quotes the offending value, so it must not become the context of ours
        encoded = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    if not encoded:
        raise UnsendableError
    if len(encoded) > MAX_REQUEST:
        raise TooLargeError(MAX_REQUEST)
    return encoded
