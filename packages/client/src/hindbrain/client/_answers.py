"""From the server's JSON to values. Pure; unknown fields are allowed, since a newer server may say more."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from hindbrain.client import _json as js
from hindbrain.contracts import (
    Deleted,
    Fact,
    FactType,
    Operation,
    OperationStatus,
    Recall,
    RecallQuery,
    Retained,
    Scores,
    groups_match,
)

_OPERATION_ID = re.compile(r"[!-~]{1,200}")
_NO_ROUTE = "Not Found"


def read_retained(body: bytes) -> Retained:
    """The acknowledgement. The server's operation id wins over the one that was sent.

    Raises:
        ValueError: it is not an object, says anything but ``success: true``, is not asynchronous, or names no operation
            in 1 to 200 printable characters.

    Source: S2-retain-006; spec/facts.md section 1.
    """
    answer = js.read_object(body)
    ids = tuple(i for i in js.texts(answer.get("operation_ids")) if _OPERATION_ID.fullmatch(i))
    own = js.text(answer.get("operation_id"))
    operation_id = own if own is not None and _OPERATION_ID.fullmatch(own) else next(iter(ids), None)
    if answer.get("success", True) is not True or answer.get("async") is not True or operation_id is None:
        raise ValueError
    return Retained(
        operation_id=operation_id,
        operation_ids=ids,
        items=js.count(answer.get("items_count")),
        tokens=js.count(js.mapping(answer.get("usage")).get("total_tokens")),
        status=OperationStatus.PENDING,
    )


def read_operation(body: bytes, operation_id: str) -> Operation:
    """The state of the operation that was asked for.

    Raises:
        ValueError: it is not an object, or its status is none of the six.
    """
    answer = js.read_object(body)
    status = js.member(OperationStatus, answer.get("status"))
    if status is None:
        raise ValueError
    facts = js.count(js.mapping(answer.get("result_metadata")).get("unit_ids_count"))
    return Operation(operation_id=operation_id, status=status, facts=facts)


def read_recall(body: bytes, query: RecallQuery) -> Recall:
    """The facts that are well formed and inside the query's filter, in the server's order.

    A fact needs an id and a visible text; any other field of a wrong type is as if it were absent. The filter is
    applied here once more, to the facts and to their sources: isolation must not rest on the server alone.

    Raises:
        ValueError: it is not an object, or ``results`` is not a list.
    """
    answer = js.read_object(body)
    results = answer.get("results")
    if not isinstance(results, list):
        raise ValueError  # noqa: TRY004  (one error for whatever is not the answer)
    scope = query.filter
    in_scope = lru_cache(lambda tags: groups_match(scope, tags))  # facts of one recall share few sets of tags
    sources = {key: _fact(raw, in_scope) for key, raw in js.mapping(answer.get("source_facts")).items()}
    return Recall(
        facts=tuple([fact for raw in results if (fact := _fact(raw, in_scope)) is not None]),
        source_facts={key: fact for key, fact in sources.items() if fact is not None},
    )


def read_deleted(body: bytes) -> Deleted:
    """The number of facts that went with the document; 0 where the server does not tell. A blank body is fine.

    Raises:
        ValueError: it is neither blank nor an object, or says anything but ``success: true``.
    """
    answer = js.read_object(body) if body.strip() else {}
    if answer.get("success", True) is not True:
        raise ValueError
    return Deleted(found=True, facts=js.count(answer.get("memory_units_deleted")) or 0)


def is_own_refusal(body: bytes) -> bool:
    """Whether a 404 is the API's own: an object whose ``detail`` names a record.

    The bare ``Not Found`` is what the server's framework says to a path it does not route, so it means a wrong URL.

    Source: spec/facts.md, F9; captures a016, a018, a110.
    """
    try:
        detail = js.read_object(body).get("detail")
    except ValueError:
        return False
    return isinstance(detail, str) and detail != _NO_ROUTE


def _fact(raw: object, in_scope: Callable[[tuple[str, ...]], bool]) -> Fact | None:
    """The fact, or None if it is malformed or out of scope."""
    fields = js.mapping(raw)
    fact_id, text, tags = js.visible(fields.get("id")), js.visible(fields.get("text")), js.texts(fields.get("tags"))
    if fact_id is None or text is None or not in_scope(tags):
        return None
    return Fact(
        id=fact_id,
        text=text,
        type=js.member(FactType, fields.get("type")),
        document_id=js.text(fields.get("document_id")),
        context=js.text(fields.get("context")),
        tags=tags,
        metadata=js.text_map(fields.get("metadata")),
        mentioned_at=js.text(fields.get("mentioned_at")),
        occurred_start=js.text(fields.get("occurred_start")),
        occurred_end=js.text(fields.get("occurred_end")),
        chunk_id=js.text(fields.get("chunk_id")),
        source_fact_ids=js.texts(fields.get("source_fact_ids")),
        scores=_scores(fields.get("scores")),
    )


def _scores(raw: object) -> Scores:
    fields = js.mapping(raw)
    return Scores(
        final=js.number(fields.get("final")),
        semantic=js.number(fields.get("semantic")),
        keyword=js.number(fields.get("keyword")),
        reranker=js.number(fields.get("reranker")),
    )
