"""Recall because somebody asked: every answer is given, none is judged.

Source: seed 000, "Quality pass" (automatic recall only) and "Score floors" (a tool's minimum is the backend's affair).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import evolve, field, frozen

from hindbrain.contracts import Backend, Fact, FactType, MinScores, Recall, RecallQuery, TagGroup
from hindbrain.memory._asking import Asking, ScopeFailure, ask_all
from hindbrain.memory._config import RecallConfig
from hindbrain.memory._narrow import narrowed
from hindbrain.memory._query import plain_query
from hindbrain.memory._recall import build_query
from hindbrain.memory._scope import RecallScope

LONGEST = 40.0
"""Seconds that all banks together may take; who asked waits for the answer. Source: the seed's timeout of one call."""


@frozen(kw_only=True)
class Question:
    """A question and what it says beside the settings.

    ``tag_groups`` hold beside those of each scope. ``min_scores`` is passed to the backend as it is; the floors of the
    settings do not count here. ``types`` None takes those of the settings, an empty tuple means every type.
    """

    text: str = field(repr=False)
    tag_groups: tuple[TagGroup, ...] = ()
    min_scores: MinScores | None = None
    types: tuple[FactType, ...] | None = None


@frozen(kw_only=True)
class RecallAnswer:
    """What was found, with the bank of each fact, in the order of the banks; ``failures`` are banks without an answer.

    ``took`` is how many milliseconds each bank that was asked took.

    The texts are as the backend has them: data, which whoever shows them has to neutralise.
    """

    facts: tuple[tuple[str, Fact], ...] = ()
    sources: Mapping[str, Fact] = field(factory=dict, repr=False)
    failures: tuple[ScopeFailure, ...] = ()
    took: Mapping[str, int] = field(factory=dict)

    def without(self, suppressed: Collection[str]) -> RecallAnswer:
        """The answer without the memories of these ids."""
        return evolve(
            self,
            facts=tuple((bank, fact) for bank, fact in self.facts if fact.id not in suppressed),
            sources={key: fact for key, fact in self.sources.items() if key not in suppressed},
        )


def explicit_query(question: Question, scope: RecallScope, config: RecallConfig) -> RecallQuery:
    """The request for one scope.

    Raises:
        BackendRequestError: a filter or a minimum does not have its form.
    """
    query = build_query(plain_query(question.text), scope, config)
    return evolve(
        query,
        tag_groups=narrowed(scope.filter, question.tag_groups),
        min_scores=question.min_scores,
        types=query.types if question.types is None else question.types or None,
    )


async def recall_explicitly(
    backend: Backend, question: Question, scopes: Sequence[RecallScope], config: RecallConfig
) -> RecallAnswer:
    """Ask every scope at once; one that fails costs another nothing. A cancel cancels the requests.

    Raises:
        BackendRequestError: a filter or a minimum does not have its form; nothing was sent.
    """
    queries = [explicit_query(question, scope, config) for scope in scopes]
    asked = [Asking(backend, scope.bank, query) for scope, query in zip(scopes, queries, strict=True)]
    await ask_all(asked, LONGEST)
    answers = [(each.bank, each.answer()) for each in asked]
    found = [(bank, answer) for bank, answer in answers if isinstance(answer, Recall)]
    return RecallAnswer(
        facts=tuple((bank, fact) for bank, answer in found for fact in answer.facts),
        sources={key: fact for _, answer in found for key, fact in answer.source_facts.items()},
        failures=tuple(answer for _, answer in answers if isinstance(answer, ScopeFailure)),
        took={each.bank: each.took for each in asked},
    )
