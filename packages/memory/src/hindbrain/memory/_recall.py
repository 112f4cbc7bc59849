"""The recall path: ask every scope at once, judge what comes back, render the block."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import field, frozen

from hindbrain.contracts import Backend, Fact, Message, Recall, RecallQuery
from hindbrain.memory._asking import Asking, ScopeFailure, ask_all
from hindbrain.memory._block import Block, render_block
from hindbrain.memory._config import RecallConfig
from hindbrain.memory._identity import Project
from hindbrain.memory._quality import Verdict, judge
from hindbrain.memory._query import compose_query
from hindbrain.memory._scope import RecallScope


@frozen(kw_only=True)
class RecallOutcome:
    """What one automatic recall came to.

    ``query`` is that of the first scope, ``queries`` holds each bank's. ``sources`` holds source facts by id where they
    were asked for. ``took`` is how many milliseconds each bank that was asked took.
    """

    block: Block = field(factory=Block)
    query: str = field(default="", repr=False)
    queries: Mapping[str, str] = field(factory=dict, repr=False)
    verdicts: tuple[Verdict, ...] = ()
    failures: tuple[ScopeFailure, ...] = ()
    sources: dict[str, Fact] = field(factory=dict, repr=False)
    took: dict[str, int] = field(factory=dict)


def build_query(text: str, scope: RecallScope, config: RecallConfig, *, sources: bool = False) -> RecallQuery:
    """The request for one scope. ``sources`` asks for source facts even where the settings do not show them."""
    return RecallQuery(
        text=text,
        tag_groups=scope.filter,
        types=config.types or None,
        budget=config.budget,
        max_tokens=config.tokens_for(scope.kind),
        prefer_observations=config.prefer_observations,
        source_fact_tokens=config.max_source_facts_tokens if sources or config.include_source_facts else None,
        timestamp=config.query_timestamp,
    )


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
    end: int | None = None,
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
        end: the number of messages that count; None means all.
    """
    texts = [compose_query(messages, config, kind=s.kind, project=project, date=date, end=end) for s in scopes]
    queries = [build_query(text, s, config, sources=sources) for text, s in zip(texts, scopes, strict=True)]
    asked = [Asking(backend, scope.bank, query) for scope, query in zip(scopes, queries, strict=True)]
    await ask_all(asked, config.deadline_ms / 1000)
    return _outcome(asked, config, suppressed)


def _outcome(asked: Sequence[Asking], config: RecallConfig, suppressed: Collection[str]) -> RecallOutcome:
    answers = [(each.bank, each.answer()) for each in asked]
    found = [(bank, answer) for bank, answer in answers if isinstance(answer, Recall)]
    sources = {key: fact for _, answer in found for key, fact in answer.source_facts.items()}
    verdicts = judge(
        ((bank, fact) for bank, answer in found for fact in answer.facts),
        top_k=config.top_k,
        floors=config.min_scores,
        suppressed=suppressed,
    )
    evidence = {key: fact for key, fact in sources.items() if key not in suppressed}
    return RecallOutcome(
        block=render_block(
            verdicts,
            evidence if config.include_source_facts else None,
            budgets={each.bank: each.query.max_tokens for each in asked},
            evidence_tokens=config.max_source_facts_tokens,
        ),
        query=asked[0].query.text if asked else "",
        queries={each.bank: each.query.text for each in asked},
        verdicts=verdicts,
        failures=tuple(answer for _, answer in answers if isinstance(answer, ScopeFailure)),
        sources=sources,
        took={each.bank: each.took for each in asked},
    )
