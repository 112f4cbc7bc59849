"""The recall path: ask every scope at once, judge what comes back, render the block."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence

from attrs import field, frozen

from hindbrain.contracts import Backend, BackendError, Fact, Message, Recall, RecallQuery
from hindbrain.memory._block import Block, render_block
from hindbrain.memory._config import RecallConfig
from hindbrain.memory._identity import Project
from hindbrain.memory._quality import Verdict, judge
from hindbrain.memory._query import compose_query
from hindbrain.memory._scope import RecallScope


@frozen(kw_only=True)
class ScopeFailure:
    """A scope that gave no answer: its bank and the stable code of the error, never its text."""

    bank: str
    code: str


@frozen(kw_only=True)
class RecallOutcome:
    """What one automatic recall came to.

    ``query`` is that of the first scope, ``queries`` holds each bank's. ``sources`` holds source facts by id where they
    were asked for.
    """

    block: Block = field(factory=Block)
    query: str = field(default="", repr=False)
    queries: Mapping[str, str] = field(factory=dict, repr=False)
    verdicts: tuple[Verdict, ...] = ()
    failures: tuple[ScopeFailure, ...] = ()
    sources: dict[str, Fact] = field(factory=dict, repr=False)


def build_query(text: str, scope: RecallScope, config: RecallConfig, *, sources: bool = False) -> RecallQuery:
    """The request for one scope. ``sources`` asks for source facts even where the settings do not show them."""
    return RecallQuery(
        text=text,
        tag_groups=scope.filter,
        types=config.types or None,
        budget=config.budget,
        max_tokens=config.user_max_tokens if scope.kind == "user" else config.max_tokens,
        prefer_observations=config.prefer_observations,
        source_fact_tokens=config.max_source_facts_tokens if sources or config.include_source_facts else None,
        timestamp=config.query_timestamp,
    )


async def _ask(backend: Backend, scope: RecallScope, query: RecallQuery) -> Recall | ScopeFailure:
    try:
        return await backend.recall(scope.bank, query)
    except BackendError as error:
        return ScopeFailure(bank=scope.bank, code=error.code)


async def recall_for(
    backend: Backend,
    messages: Sequence[Message],
    scopes: Sequence[RecallScope],
    config: RecallConfig,
    *,
    project: Project | None,
    date: str | None = None,
    sources: bool = False,
    suppressed: Collection[str] = (),
) -> RecallOutcome:
    """Recall for the last messages from every scope at once, under one deadline.

    A scope that fails or is too late never costs another its answer; the requests of late ones are cancelled. Blocks
    come in the order of the scopes.

    Args:
        backend: where to ask.
        messages: the conversation, oldest first.
        scopes: which banks, with which filters.
        config: the recall settings.
        project: the identity named in the query's hints.
        date: the day as ``YYYY-MM-DD`` for the query, where the settings ask for it.
        sources: ask for source facts too, so that a fact can be traced to its document.
        suppressed: ids of memories that are not shown, neither as a line nor as evidence.
    """
    texts = [compose_query(messages, config, kind=s.kind, project=project, date=date) for s in scopes]
    tasks = [
        asyncio.create_task(_ask(backend, scope, build_query(text, scope, config, sources=sources)))
        for scope, text in zip(scopes, texts, strict=True)
    ]
    try:
        await asyncio.wait(tasks, timeout=config.deadline_ms / 1000) if tasks else None
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    answers = [
        ScopeFailure(bank=scope.bank, code="timeout") if task.cancelled() else task.result()
        for scope, task in zip(scopes, tasks, strict=True)
    ]
    banks = [scope.bank for scope in scopes]
    return _outcome(list(zip(banks, texts, answers, strict=True)), config, suppressed)


def _outcome(
    asked: Sequence[tuple[str, str, Recall | ScopeFailure]], config: RecallConfig, suppressed: Collection[str]
) -> RecallOutcome:
    """What the answers come to; ``asked`` holds bank, query and answer."""
    found = [(bank, answer) for bank, _, answer in asked if isinstance(answer, Recall)]
    sources = {key: fact for _, answer in found for key, fact in answer.source_facts.items()}
    verdicts = judge(
        ((bank, fact) for bank, answer in found for fact in answer.facts),
        top_k=config.top_k,
        floors=config.min_scores,
        suppressed=suppressed,
    )
    evidence = {key: fact for key, fact in sources.items() if key not in suppressed}
    return RecallOutcome(
        block=render_block(verdicts, evidence if config.include_source_facts else None),
        query=asked[0][1] if asked else "",
        queries={bank: query for bank, query, _ in asked},
        verdicts=verdicts,
        failures=tuple(answer for _, _, answer in asked if isinstance(answer, ScopeFailure)),
        sources=sources,
    )
