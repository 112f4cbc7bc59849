"""What the server's JSON must look like, and the values it becomes.

Imported late: pydantic is needed only once there is an answer to read.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, StringConstraints
from pydantic_core import CoreSchema, core_schema, from_json

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


class _NoneIfWrong:
    """A value of the wrong type becomes None; the rest of the answer stands."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_default_schema(handler(source), default=None, on_error="default")


class _DropIfWrong:
    """An element of the wrong type is left out; its neighbours stand."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_default_schema(handler(source), on_error="omit")


_OptText = Annotated[str | None, _NoneIfWrong()]
_OptFloat = Annotated[float | None, _NoneIfWrong()]
_OptCount = Annotated[Annotated[int, Field(ge=0)] | None, _NoneIfWrong()]
_Visible = Annotated[str, StringConstraints(pattern=r"\S")]
_OptTexts = Annotated[list[Annotated[str, _DropIfWrong()]] | None, _NoneIfWrong()]
_Id = Annotated[str, StringConstraints(pattern=r"^[!-~]{1,200}$")]


class _Answer(BaseModel):
    """Strict about what is read, silent about what is not: a newer server may say more."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False, defer_build=True)


_A = TypeVar("_A", bound=_Answer)


class _Usage(_Answer):
    total_tokens: _OptCount = None


class _Retained(_Answer):
    success: Literal[True] = True
    asynchronous: Literal[True] = Field(alias="async")
    operation_id: Annotated[_Id | None, _NoneIfWrong()] = None
    operation_ids: Annotated[list[Annotated[_Id, _DropIfWrong()]] | None, _NoneIfWrong()] = None
    items_count: _OptCount = None
    usage: Annotated[_Usage | None, _NoneIfWrong()] = None


class _Result(_Answer):
    unit_ids_count: _OptCount = None


class _Operation(_Answer):
    status: OperationStatus
    result_metadata: Annotated[_Result | None, _NoneIfWrong()] = None


class _Scores(_Answer):
    final: _OptFloat = None
    semantic: _OptFloat = None
    keyword: _OptFloat = None
    reranker: _OptFloat = None


class _Fact(_Answer):
    id: _Visible
    text: _Visible
    type: Annotated[FactType | None, _NoneIfWrong()] = None
    document_id: _OptText = None
    context: _OptText = None
    tags: _OptTexts = None
    metadata: Annotated[dict[str, Annotated[str, _DropIfWrong()]] | None, _NoneIfWrong()] = None
    mentioned_at: _OptText = None
    occurred_start: _OptText = None
    occurred_end: _OptText = None
    chunk_id: _OptText = None
    source_fact_ids: _OptTexts = None
    scores: Annotated[_Scores | None, _NoneIfWrong()] = None


class _Recall(_Answer):
    results: list[Annotated[_Fact, _DropIfWrong()]]
    source_facts: Annotated[dict[str, Annotated[_Fact, _DropIfWrong()]] | None, _NoneIfWrong()] = None


class _Deleted(_Answer):
    success: Literal[True] = True
    memory_units_deleted: _OptCount = None


class _Refusal(_Answer):
    detail: str


_NOT_JSON = re.compile(rb"NaN|Infinity")
_NO_ROUTE = "Not Found"


def read_retained(body: bytes) -> Retained:
    """The acknowledgement. The server's id wins over the one that was sent.

    Raises:
        ValueError: it is not JSON, says ``success: false``, is not asynchronous, or names no operation.

    Source: S2-retain-006; spec/facts.md section 1.
    """
    answer = _parse(_Retained, body)
    ids = tuple(answer.operation_ids or ())
    operation_id = answer.operation_id or next(iter(ids), None)
    if operation_id is None:
        raise ValueError
    tokens = None if answer.usage is None else answer.usage.total_tokens
    return Retained(operation_id=operation_id, operation_ids=ids, items=answer.items_count, tokens=tokens)


def read_operation(body: bytes, operation_id: str) -> Operation:
    """The state of the operation that was asked for.

    Raises:
        ValueError: it is not JSON, or its status is none of the six.
    """
    answer = _parse(_Operation, body)
    facts = None if answer.result_metadata is None else answer.result_metadata.unit_ids_count
    return Operation(operation_id=operation_id, status=answer.status, facts=facts)


def read_recall(body: bytes, query: RecallQuery) -> Recall:
    """The facts that are well formed and inside the query's filter, in the server's order.

    The filter is applied here once more, to the facts and to their sources: isolation must not rest on the server.

    Raises:
        ValueError: it is not JSON, or ``results`` is not a list.
    """
    answer = _parse(_Recall, body)
    groups = query.filter
    return Recall(
        facts=tuple(_fact(raw) for raw in answer.results if groups_match(groups, raw.tags or ())),
        source_facts={
            key: _fact(raw) for key, raw in (answer.source_facts or {}).items() if groups_match(groups, raw.tags or ())
        },
    )


def read_deleted(body: bytes) -> Deleted:
    """The number of facts that went with the document; 0 where the server does not tell. A blank body is fine.

    Raises:
        ValueError: it is neither blank nor a JSON object, or says ``success: false``.
    """
    answer = _parse(_Deleted, body if body.strip() else b"{}")
    return Deleted(found=True, facts=answer.memory_units_deleted or 0)


def is_own_refusal(body: bytes) -> bool:
    """Whether a 404 is the API's own: JSON with a ``detail`` that names a record.

    The bare ``Not Found`` is what the server's framework says to a path it does not route, so it means a wrong URL.

    Source: spec/facts.md, F9; captures a016, a018, a110.
    """
    try:
        return _parse(_Refusal, body).detail != _NO_ROUTE
    except ValueError:
        return False


def _parse(model: type[_A], body: bytes) -> _A:
    if _NOT_JSON.search(body):
        from_json(body, allow_inf_nan=False)  # pydantic takes these words for numbers; JSON has none such
    return model.model_validate_json(body)


def _fact(raw: _Fact) -> Fact:
    scores = raw.scores
    return Fact(
        id=raw.id,
        text=raw.text,
        type=raw.type,
        document_id=raw.document_id,
        context=raw.context,
        tags=tuple(raw.tags or ()),
        metadata=raw.metadata or {},
        mentioned_at=raw.mentioned_at,
        occurred_start=raw.occurred_start,
        occurred_end=raw.occurred_end,
        chunk_id=raw.chunk_id,
        source_fact_ids=tuple(raw.source_fact_ids or ()),
        scores=Scores()
        if scores is None
        else Scores(final=scores.final, semantic=scores.semantic, keyword=scores.keyword, reranker=scores.reranker),
    )
