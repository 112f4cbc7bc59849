"""The behaviours over four verbs: which project this is, what is recalled and shown, what is retained."""

from hindbrain.memory._asking import ScopeFailure
from hindbrain.memory._banks import Access, BankEntry, RetainMode
from hindbrain.memory._block import Block, InjectedItem, render_block
from hindbrain.memory._checkout import NoProjectError, read_checkout
from hindbrain.memory._config import (
    OWN_TOOLS,
    EnqueueGate,
    MemoryConfig,
    ObservationConfig,
    RecallConfig,
    RetainConfig,
    ScopeConfig,
)
from hindbrain.memory._echo import GUIDANCE
from hindbrain.memory._explicit import Question, RecallAnswer, explicit_query, recall_explicitly
from hindbrain.memory._identity import Checkout, Project, identify, session_key
from hindbrain.memory._observation import PLACEHOLDERS, ObservationScopes, observation_scopes
from hindbrain.memory._operation import digest, operation_id
from hindbrain.memory._patience import Patience
from hindbrain.memory._projection import believable, is_host_prompt, is_injected, iso, project, project_message
from hindbrain.memory._quality import Verdict, judge
from hindbrain.memory._query import compose_query, estimate_tokens
from hindbrain.memory._recall import RecallOutcome, build_query, recall_for
from hindbrain.memory._recalled import Recalled, StoredRecall, read_recall
from hindbrain.memory._retain import SessionIdentity, build_job, explicit_item
from hindbrain.memory._scope import (
    RecallScope,
    bank_of,
    is_readable,
    project_bank,
    recall_scopes,
    retain_banks,
    retain_tags,
    scope_of,
)
from hindbrain.memory._snapshot import BEFORE_SCOPES, broken_snapshot, recall_snapshot
from hindbrain.memory._trace import EntryIndex
from hindbrain.memory._turns import Shown, Turn, TurnKey, Turns, last_user

__all__ = [
    "BEFORE_SCOPES",
    "GUIDANCE",
    "OWN_TOOLS",
    "PLACEHOLDERS",
    "Access",
    "BankEntry",
    "Block",
    "Checkout",
    "EnqueueGate",
    "EntryIndex",
    "InjectedItem",
    "MemoryConfig",
    "NoProjectError",
    "ObservationConfig",
    "ObservationScopes",
    "Patience",
    "Project",
    "Question",
    "RecallAnswer",
    "RecallConfig",
    "RecallOutcome",
    "RecallScope",
    "Recalled",
    "RetainConfig",
    "RetainMode",
    "ScopeConfig",
    "ScopeFailure",
    "SessionIdentity",
    "Shown",
    "StoredRecall",
    "Turn",
    "TurnKey",
    "Turns",
    "Verdict",
    "bank_of",
    "believable",
    "broken_snapshot",
    "build_job",
    "build_query",
    "compose_query",
    "digest",
    "estimate_tokens",
    "explicit_item",
    "explicit_query",
    "identify",
    "is_host_prompt",
    "is_injected",
    "is_readable",
    "iso",
    "judge",
    "last_user",
    "observation_scopes",
    "operation_id",
    "project",
    "project_bank",
    "project_message",
    "read_checkout",
    "read_recall",
    "recall_explicitly",
    "recall_for",
    "recall_scopes",
    "recall_snapshot",
    "render_block",
    "retain_banks",
    "retain_tags",
    "scope_of",
    "session_key",
]
