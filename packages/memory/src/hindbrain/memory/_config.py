"""The settings of the memory path, with the seeds' names (snake case here, camel case in files) and defaults.

Source: spec/memory.md section 1.3 and decisions.md, "Recall and injection".
"""

from __future__ import annotations

from attrs import field, frozen

from hindbrain.contracts import Budget, FactType, MinScores
from hindbrain.memory._banks import BankEntry

OWN_TOOLS = (
    "hindsight_retain",
    "hindsight_retain_global",
    "hindsight_retain_user",
    "hindsight_delete_document",
    "hindsight_retain_receipts",
    "hindsight_route_memory",
    "hindsight_recall",
    "hindsight_reflect",
    "hindsight_status",
)
"""Names of memory tools: their calls and results are never retained, or memory would feed on itself."""

NOISY_TOOLS = ("read", "grep", "find", "find_files", "ls")
"""Tools whose results repeat what is on disk anyway."""


@frozen(kw_only=True)
class RecallConfig:
    """Automatic recall. Budgets and caps are per scope; ``max_query_chars`` counts characters, ``*_tokens`` tokens.

    ``context_turns`` counts messages. ``deadline_ms`` bounds all scopes of one turn together. ``min_scores`` are local
    floors. ``last_recall_path`` None means ``last-recall.json`` in the host's state folder.
    """

    enabled: bool = True
    types: tuple[FactType, ...] = (FactType.OBSERVATION,)
    budget: Budget = Budget.MID
    max_tokens: int = 800
    user_max_tokens: int = 400
    prefer_observations: bool = True
    include_source_facts: bool = False
    max_source_facts_tokens: int = 4096
    context_turns: int = 2
    roles: tuple[str, ...] = ("user", "assistant")
    max_query_chars: int = 800
    query_preamble: str = ""
    include_date_in_query: bool = False
    include_repo_hints_in_query: bool = True
    query_timestamp: str | None = None
    top_k: int = 8
    deadline_ms: int = 5000
    cache_ttl_ms: int = 60_000
    injection_position: str = "append"
    min_scores: MinScores = field(factory=MinScores)
    store_last_recall: bool = False
    store_last_recall_failures: bool = False
    last_recall_path: str | None = None

    def tokens_for(self, kind: str) -> int:
        """The most tokens recalled for a scope of this kind, project or user."""
        return self.user_max_tokens if kind == "user" else self.max_tokens


@frozen(kw_only=True)
class EnqueueGate:
    """A program that may refuse a job before it is queued: ``command`` is its argv, run without a shell."""

    command: tuple[str, ...]
    timeout_ms: int = 5000


@frozen(kw_only=True)
class RetainConfig:
    """Automatic retain: which parts of which roles are kept.

    ``user``, ``assistant`` and ``tool_result`` are subsets of ``text``; ``text``, ``toolCall``, ``thinking``; and
    ``error``, ``summary``, ``content``. The lists of tools hold exact names: where an include list is given only its
    tools are kept, and an exclude list takes out of what is left. ``strip_message`` and ``strip_top_level`` name fields
    that are left out of each projected message. ``flush_interval_ms`` 0 means no flush by the clock. Secrets are always
    taken out; no setting says otherwise.
    """

    enabled: bool = True
    user: tuple[str, ...] = ("text",)
    assistant: tuple[str, ...] = ("text", "toolCall")
    tool_result: tuple[str, ...] = ("error",)
    tool_call_include: tuple[str, ...] | None = None
    tool_call_exclude: tuple[str, ...] = OWN_TOOLS
    tool_result_include: tuple[str, ...] | None = None
    tool_result_exclude: tuple[str, ...] = OWN_TOOLS + NOISY_TOOLS
    compact_tool_calls: bool = True
    strip_message: tuple[str, ...] = ("usage", "cost", "responseId")
    strip_top_level: tuple[str, ...] = ("id", "parentId")
    before_enqueue: EnqueueGate | None = None
    flush_interval_ms: int = 0


@frozen(kw_only=True)
class ScopeConfig:
    """Which tags mean this project and this user. ``project_id`` pins the identity; None derives it."""

    project_id: str | None = None
    project_id_strategy: str = "remote"
    legacy_tags: bool = False
    user_scope_tags: tuple[str, ...] | None = None
    """None: the source and harness tags of the hosts; empty: no tag filter on the user bank."""
    share_hosts: bool = True
    unscoped_recall_banks: tuple[str, ...] = ()
    """Ids of banks that are recalled without a tag filter."""
    include_shared_observations: bool = False
    """Whether the project bank's observations without any tag are recalled too."""


@frozen(kw_only=True)
class ObservationConfig:
    """What the server makes of what is retained: observations, one set for each row of ``scopes``.

    A row is a list of tags, which may hold placeholders such as ``{projectId}``. ``scopes`` None means the host's own
    ``harness`` tag and the project's tag, a row each; where ``enabled`` is False jobs carry no scopes at all.
    """

    enabled: bool = True
    scopes: tuple[tuple[str, ...], ...] | None = None


@frozen(kw_only=True)
class MemoryConfig:
    """Everything the memory path can be told."""

    enabled: bool = True
    project_bank: str | None = None
    user_bank: str | None = None
    banks: tuple[BankEntry, ...] = (BankEntry(id=None),)
    """All banks, the two above among them; the coding bank first unless the settings list them otherwise."""
    recall: RecallConfig = field(factory=RecallConfig)
    retain: RetainConfig = field(factory=RetainConfig)
    scope: ScopeConfig = field(factory=ScopeConfig)
    observations: ObservationConfig = field(factory=ObservationConfig)
