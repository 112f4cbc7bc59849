"""Every setting there is: its key in files, its type, its default, and whether a project's own file may set it.

A key is unsafe unless it says otherwise: an endpoint, a token, a bank, an identity or a path in a repository's file
would let the repository redirect memory. Source: decisions.md, "Configuration and trust".
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from attrs import frozen
from pydantic import Field, TypeAdapter

from hindbrain.contracts import FactType
from hindbrain.memory import RecallConfig, RetainConfig

_RECALL = RecallConfig()
_RETAIN = RetainConfig()

Flag = Annotated[bool, Field(strict=True)]
Count = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]
Text = Annotated[str, Field(strict=True, max_length=4096)]
Name = Annotated[str, Field(strict=True, min_length=1, max_length=512)]
Names = Annotated[tuple[Annotated[str, Field(strict=True, min_length=1)], ...], Field(strict=False)]


@frozen(kw_only=True)
class Key:
    """One setting. ``form`` says in words what a value must be; ``env`` names variables that set it, best last."""

    path: str
    type: Any
    form: str
    default: Any
    project_safe: bool = False
    env: tuple[str, ...] = ()

    @property
    def own_env(self) -> str:
        """Our own variable for the key, such as ``HINDBRAIN_RECALL_MAX_TOKENS``."""
        words = "".join(f"_{c}" if c.isupper() else c for c in self.path.replace(".", "_"))
        return f"HINDBRAIN_{words.upper()}"

    def read(self, value: object) -> Any:
        """The value in the key's type.

        Raises:
            pydantic.ValidationError: it is not of the key's form.
        """
        return TypeAdapter(self.type).validate_python(value)


def _safe(path: str, type_: Any, form: str, default: Any) -> Key:
    return Key(path=path, type=type_, form=form, default=default, project_safe=True)


_COUNT = "a whole number from 1 up"
_FLAG = "true or false"
_NAMES = "a list of names"
_TYPES = Annotated[tuple[FactType, ...], Field(strict=False)]
_REF = Annotated[str, Field(strict=True, pattern=r"^(env:[A-Z_][A-Z0-9_]{0,127}|file:.+|keyring:[^/]+/.+)$")]
_REF_FORM = "env:NAME, file:PATH or keyring:SERVICE/USER, never the key itself"

KEYS: tuple[Key, ...] = (
    Key(path="enabled", type=Flag, form=_FLAG, default=True, env=("PI_HINDSIGHT_ENABLED",)),
    Key(path="backend", type=Literal["local", "hindsight"], form="local or hindsight", default="local"),
    Key(path="dataDir", type=Name | None, form="an absolute path", default=None),
    Key(
        path="hindsight.baseUrl",
        type=Name,
        form="an https URL, or http on loopback, without credentials, query or fragment",
        default="http://localhost:8888",
        env=("HINDSIGHT_BASE_URL", "HINDSIGHT_API_URL"),
    ),
    Key(path="hindsight.apiKeyRef", type=_REF | None, form=_REF_FORM, default=None),
    Key(
        path="hindsight.timeoutMs",
        type=Annotated[int, Field(strict=True, ge=1000, le=60000)],
        form="a whole number of milliseconds from 1000 to 60000",
        default=12000,
        project_safe=True,
    ),
    Key(
        path="banks.project.bankId",
        type=Name | None,
        form="a bank id",
        default=None,
        env=("HINDSIGHT_BANK_ID", "PI_HINDSIGHT_PROJECT_BANK_ID"),
    ),
    Key(
        path="banks.user.bankId",
        type=Name | None,
        form="a bank id",
        default=None,
        env=("PI_HINDSIGHT_GLOBAL_BANK_ID", "PI_HINDSIGHT_USER_BANK_ID"),
    ),
    Key(path="embedder.baseUrl", type=Name | None, form="an https URL, or http on loopback", default=None),
    Key(path="embedder.model", type=Name | None, form="the name of an embedding model", default=None),
    Key(path="embedder.apiKeyRef", type=_REF | None, form=_REF_FORM, default=None),
    Key(path="scope.projectId", type=Name | None, form="a name for the project", default=None),
    Key(
        path="scope.projectIdStrategy", type=Literal["remote", "basename"], form="remote or basename", default="remote"
    ),
    Key(path="scope.userScopeTags", type=Names | None, form="a list of tags", default=None),
    Key(path="scope.legacyTags", type=Flag, form=_FLAG, default=False),
    Key(path="scope.shareHosts", type=Flag, form=_FLAG, default=True),
    _safe("recall.enabled", Flag, _FLAG, _RECALL.enabled),
    _safe("recall.types", _TYPES, "a list of world, experience and observation", _RECALL.types),
    _safe("recall.budget", Literal["low", "mid", "high"], "low, mid or high", _RECALL.budget.value),
    _safe("recall.maxTokens", Count, _COUNT, _RECALL.max_tokens),
    _safe("recall.userMaxTokens", Count, _COUNT, _RECALL.user_max_tokens),
    _safe("recall.preferObservations", Flag, _FLAG, _RECALL.prefer_observations),
    _safe("recall.includeSourceFacts", Flag, _FLAG, _RECALL.include_source_facts),
    _safe("recall.maxSourceFactsTokens", Count, _COUNT, _RECALL.max_source_facts_tokens),
    _safe("recall.contextTurns", Count, _COUNT, _RECALL.context_turns),
    _safe("recall.roles", Names, "a list of user, assistant, tool and system", _RECALL.roles),
    _safe("recall.maxQueryChars", Count, _COUNT, _RECALL.max_query_chars),
    _safe("recall.queryPreamble", Text, "a line of text, which may be empty", _RECALL.query_preamble),
    _safe("recall.includeDateInQuery", Flag, _FLAG, _RECALL.include_date_in_query),
    _safe("recall.includeRepoHintsInQuery", Flag, _FLAG, _RECALL.include_repo_hints_in_query),
    _safe("recall.queryTimestamp", Name | None, "a moment in ISO 8601", _RECALL.query_timestamp),
    _safe("recall.topK", Count, _COUNT, _RECALL.top_k),
    _safe(
        "recall.deadlineMs",
        Annotated[int, Field(strict=True, ge=100, le=30000)],
        "a whole number of milliseconds from 100 to 30000",
        _RECALL.deadline_ms,
    ),
    _safe("recall.injectionPosition", Literal["append", "prepend"], "append or prepend", _RECALL.injection_position),
    Key(path="retain.enabled", type=Flag, form=_FLAG, default=_RETAIN.enabled),
    Key(
        path="retain.delivery",
        type=Literal["immediate", "coalesced"],
        form="immediate or coalesced",
        default="immediate",
    ),
    Key(path="retain.shutdownFlushMaxJobs", type=Count, form=_COUNT, default=10),
    Key(path="retain.shutdownFlushTimeoutMs", type=Count, form=_COUNT, default=2000),
    Key(path="retain.periodicFlushMaxJobs", type=Count, form=_COUNT, default=1),
    Key(path="retain.periodicFlushTimeoutMs", type=Count, form=_COUNT, default=2000),
    Key(path="retain.content.user", type=Names, form="a list of text", default=_RETAIN.user),
    Key(
        path="retain.content.assistant",
        type=Names,
        form="a list of text, toolCall and thinking",
        default=_RETAIN.assistant,
    ),
    Key(
        path="retain.content.toolResult",
        type=Names,
        form="a list of error, summary and content",
        default=_RETAIN.tool_result,
    ),
    Key(path="retain.toolFilter.toolCall.exclude", type=Names, form=_NAMES, default=_RETAIN.tool_call_exclude),
    Key(path="retain.toolFilter.toolResult.exclude", type=Names, form=_NAMES, default=_RETAIN.tool_result_exclude),
    Key(path="retain.compactToolCalls", type=Flag, form=_FLAG, default=_RETAIN.compact_tool_calls),
    Key(path="retain.strip.message", type=Names, form=_NAMES, default=_RETAIN.strip_message),
    Key(path="retain.strip.topLevel", type=Names, form=_NAMES, default=_RETAIN.strip_top_level),
)

BY_PATH = {key.path: key for key in KEYS}
