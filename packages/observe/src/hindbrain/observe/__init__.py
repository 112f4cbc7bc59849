"""Observational memory of one session: what was seen, what holds, and what a model is shown of it."""

from hindbrain.observe._blocks import source_block, source_text
from hindbrain.observe._budget import Budget, Moment, memory_cap, render_budget
from hindbrain.observe._chunk import Chunk, RequestPlan, chunk_cap, moment_of, next_chunk, plan_request
from hindbrain.observe._clocks import Clocks, clocks, compact_due, compact_threshold, observe_due, reflect_due
from hindbrain.observe._codec import read_event, read_folded
from hindbrain.observe._compaction import Compaction, Declined, Delegated, Notice, compact, unobserved_before
from hindbrain.observe._config import ModelChoice, ObserveConfig, Thinking
from hindbrain.observe._consolidate import consolidate
from hindbrain.observe._coverage import Tier, coverage, tier
from hindbrain.observe._cut import KEEP, cut_place
from hindbrain.observe._encode import Append, append_of, folded_details
from hindbrain.observe._errors import (
    BranchMovedError,
    BudgetError,
    EmptyRecordError,
    ObserveError,
    ObserveSettingError,
    UnknownEntryError,
)
from hindbrain.observe._events import (
    Dropped,
    Event,
    Folded,
    Gate,
    Observed,
    Reflected,
    RenderBudget,
    Superseded,
    Unobserved,
)
from hindbrain.observe._extract import extract
from hindbrain.observe._fold import Fold
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._pace import Pace
from hindbrain.observe._ports import Ledger, ModelSource, WorkerModel
from hindbrain.observe._projection import Drift, Projection, compaction_projection, drift, full, visible
from hindbrain.observe._recall import Found, Recalled, recall
from hindbrain.observe._recall_text import RecallPage, recall_page
from hindbrain.observe._reclaim import least_valuable, reclaim
from hindbrain.observe._records import (
    Kind,
    Observation,
    Reflection,
    Relevance,
    is_record_id,
    make_observation,
    make_reflection,
    record_id,
)
from hindbrain.observe._render import record_lines, render
from hindbrain.observe._replay import Observer, replay, replay_with_model
from hindbrain.observe._replayed import Lived, Replayed
from hindbrain.observe._run import ConsolidationRun, Stage, StageFailure
from hindbrain.observe._select import Selection, select
from hindbrain.observe._sitting import Progress, ReplayedCompaction
from hindbrain.observe._status import Activity, Layer, Status, status
from hindbrain.observe._status_text import status_lines
from hindbrain.observe._timeline import timeline
from hindbrain.observe._tokens import entry_tokens, is_source, tokens
from hindbrain.observe._view import View, view

__all__ = [
    "KEEP",
    "Activity",
    "Append",
    "BranchMovedError",
    "Budget",
    "BudgetError",
    "Chunk",
    "Clocks",
    "Compaction",
    "ConsolidationRun",
    "Declined",
    "Delegated",
    "Drift",
    "Dropped",
    "EmptyRecordError",
    "Event",
    "Fold",
    "Folded",
    "Found",
    "Gate",
    "Kind",
    "Layer",
    "Ledger",
    "LedgerIndex",
    "Lived",
    "ModelChoice",
    "ModelSource",
    "Moment",
    "Notice",
    "Observation",
    "ObserveConfig",
    "ObserveError",
    "ObserveSettingError",
    "Observed",
    "Observer",
    "Pace",
    "Progress",
    "Projection",
    "RecallPage",
    "Recalled",
    "Reflected",
    "Reflection",
    "Relevance",
    "RenderBudget",
    "Replayed",
    "ReplayedCompaction",
    "RequestPlan",
    "Selection",
    "Stage",
    "StageFailure",
    "Status",
    "Superseded",
    "Thinking",
    "Tier",
    "UnknownEntryError",
    "Unobserved",
    "View",
    "WorkerModel",
    "append_of",
    "chunk_cap",
    "clocks",
    "compact",
    "compact_due",
    "compact_threshold",
    "compaction_projection",
    "consolidate",
    "coverage",
    "cut_place",
    "drift",
    "entry_tokens",
    "extract",
    "folded_details",
    "full",
    "is_record_id",
    "is_source",
    "least_valuable",
    "make_observation",
    "make_reflection",
    "memory_cap",
    "moment_of",
    "next_chunk",
    "observe_due",
    "plan_request",
    "read_event",
    "read_folded",
    "recall",
    "recall_page",
    "reclaim",
    "record_id",
    "record_lines",
    "reflect_due",
    "render",
    "render_budget",
    "replay",
    "replay_with_model",
    "select",
    "source_block",
    "source_text",
    "status",
    "status_lines",
    "tier",
    "timeline",
    "tokens",
    "unobserved_before",
    "view",
    "visible",
]
