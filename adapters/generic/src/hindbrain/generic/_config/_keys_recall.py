"""The settings of recall. Budgets, thresholds and the making of the query are safe in a project's file."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from hindbrain.contracts import FactType
from hindbrain.generic._config._form import COUNT, FLAG, FLOOR, MOMENT, NAME, TEXT, Form, choice, millis, some_of
from hindbrain.generic._config._key import Key
from hindbrain.memory import RecallConfig

_RECALL = RecallConfig()
_TYPES = Form(
    Annotated[tuple[FactType, ...], Field(strict=False)], "a list of world, experience and observation", "names"
)


_TOKENS = (1, 4096)
"""What a project's file may have injected, or asked for, at each turn: five times our own budget."""


def _safe(path: str, form: Form, default: Any, about: str, *env: str, within: tuple[int, int] | None = None) -> Key:
    return Key(path=path, form=form, about=about, default=default, project_safe=True, project_bounds=within, env=env)


RECALL = (
    Key(
        path="recall.enabled",  # not safe: a repository must not switch on what the user switched off
        form=FLAG,
        default=_RECALL.enabled,
        about="Whether memory is recalled before an answer.",
    ),
    _safe("recall.types", _TYPES, _RECALL.types, "The kinds of fact that are recalled; an empty list means all."),
    _safe(
        "recall.budget",
        choice("low", "mid", "high"),
        _RECALL.budget.value,
        "How hard the server searches.",
    ),
    _safe(
        "recall.maxTokens",
        COUNT,
        _RECALL.max_tokens,
        "The most tokens recalled from the project's bank.",
        within=_TOKENS,
    ),
    _safe(
        "recall.userMaxTokens",
        COUNT,
        _RECALL.user_max_tokens,
        "The most tokens recalled from the user's bank.",
        within=_TOKENS,
    ),
    _safe(
        "recall.preferObservations",
        FLAG,
        _RECALL.prefer_observations,
        "Whether a fact that an observation covers is left out.",
    ),
    _safe(
        "recall.includeSourceFacts",
        FLAG,
        _RECALL.include_source_facts,
        "Whether an observation is shown with the facts it rests on.",
    ),
    _safe(
        "recall.maxSourceFactsTokens",
        COUNT,
        _RECALL.max_source_facts_tokens,
        "The most tokens of such facts.",
        within=_TOKENS,
    ),
    _safe(
        "recall.contextTurns",
        COUNT,
        _RECALL.context_turns,
        "How many of the last messages the query is made of.",
        within=(1, 20),
    ),
    _safe(
        "recall.roles",
        some_of("user", "assistant", "tool", "system"),
        _RECALL.roles,
        "Whose messages the query is made of.",
    ),
    _safe("recall.maxQueryChars", COUNT, _RECALL.max_query_chars, "The most characters of a query.", within=(1, 4000)),
    _safe("recall.queryPreamble", TEXT, _RECALL.query_preamble, "A line that stands before the query."),
    _safe(
        "recall.includeDateInQuery",
        FLAG,
        _RECALL.include_date_in_query,
        "Whether the query says the day.",
    ),
    _safe(
        "recall.includeRepoHintsInQuery",
        FLAG,
        _RECALL.include_repo_hints_in_query,
        "Whether the query says which project it is about.",
    ),
    _safe(
        "recall.queryTimestamp",
        MOMENT,
        _RECALL.query_timestamp,
        "The moment that recall looks back from; normally not set.",
    ),
    _safe("recall.topK", COUNT, _RECALL.top_k, "How many facts of each bank are shown at most.", within=(1, 50)),
    _safe(
        "recall.deadlineMs",
        millis(100, 30000),
        _RECALL.deadline_ms,
        "The longest that a turn waits for recall, all banks together.",
        within=(100, 10_000),
    ),
    _safe(
        "recall.cacheTtlMs",
        millis(1, 86_400_000),
        _RECALL.cache_ttl_ms,
        "How long the answer to the same last message is shown again.",
        within=(1, 3_600_000),
    ),
    _safe(
        "recall.injectionPosition",
        choice("append", "prepend"),
        _RECALL.injection_position,
        "Where the block stands: before the last user message, or before everything.",
    ),
    _safe(
        "recall.minScores.semantic",
        FLOOR,
        _RECALL.min_scores.semantic,
        "A fact with a lower semantic score is not shown; one without such a score is.",
        "PI_HINDSIGHT_MIN_SEMANTIC",
    ),
    _safe(
        "recall.minScores.keyword",
        FLOOR,
        _RECALL.min_scores.keyword,
        "The same for the keyword score.",
    ),
    _safe(
        "recall.minScores.reranker",
        FLOOR,
        _RECALL.min_scores.reranker,
        "The same for the reranker's score.",
        "PI_HINDSIGHT_MIN_RERANKER",
    ),
    _safe("recall.minScores.final", FLOOR, _RECALL.min_scores.final, "The same for the final score."),
    Key(
        path="recall.storeLastRecall",
        form=FLAG,
        about="Whether the last recall is written to a file for you to look at. It holds the recalled memories and "
        "excerpts of your messages: switch it on only where those may be seen on the local disk.",
        default=_RECALL.store_last_recall,
    ),
    Key(
        path="recall.storeLastRecallFailures",
        form=FLAG,
        about="Whether a recall in which every bank failed is written there, too.",
        default=_RECALL.store_last_recall_failures,
    ),
    Key(
        path="recall.lastRecallPath",
        form=NAME,
        about="That file, a .json of its own, absolute or from the project's root; without it last-recall.json in the "
        "state folder.",
        default=_RECALL.last_recall_path,
    ),
)
