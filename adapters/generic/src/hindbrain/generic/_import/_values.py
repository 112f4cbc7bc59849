"""What an import is told, and what it counts."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

from attrs import define, evolve, field, frozen

from hindbrain.memory import OWN_TOOLS, RetainConfig


class Mode(StrEnum):
    """How much of a session is imported. Source: spec/memory.md section 14."""

    CURATED = "curated"
    """What automatic retain would have kept, in documents of a few turns."""
    RAW = "raw"
    """Everything that was said, called and returned, but no recalled memory; one document a branch."""
    FORENSIC = "forensic"
    """As raw, with the memory that was put into the conversation."""

    @property
    def projection(self) -> str:
        """The name that stands in documents' ids: another way to make them gets another name."""
        return {"curated": "curated-turns-v1", "raw": "raw-v1", "forensic": "forensic-raw-v1"}[self.value]


@frozen(kw_only=True)
class Profile:
    """What is imported, and in what pieces.

    ``branches`` also takes those the conversation has left. A curated document ends after ``turns`` turns of the user,
    or before it would be longer than ``max_bytes`` bytes; one long turn is a document all the same. ``again``
    also takes what was retained while a session ran. ``tags`` are added.
    """

    mode: Mode = field(default=Mode.CURATED, converter=Mode)
    branches: bool = False
    turns: int = 20
    max_bytes: int = 100_000
    again: bool = False
    tags: tuple[str, ...] = ()

    @property
    def keeps_injected(self) -> bool:
        """Whether memory that was put into the conversation is imported."""
        return self.mode is Mode.FORENSIC

    @property
    def namespace(self) -> str:
        """What tells documents of this making from others in their ids."""
        if self.mode is Mode.CURATED:
            return f"{self.mode.projection}:turns-{self.turns}-bytes-{self.max_bytes}"
        return self.mode.projection

    def retain(self, config: RetainConfig) -> RetainConfig:
        """Which parts of messages are kept: the user's own settings, or all but, in raw mode, the memory tools'."""
        if self.mode is Mode.CURATED:
            return config
        return evolve(
            config,
            user=("text",),
            assistant=("text", "toolCall", "thinking"),
            tool_result=("error", "content"),
            tool_call_include=None,
            tool_result_include=None,
            tool_call_exclude=(),
            tool_result_exclude=() if self.keeps_injected else OWN_TOOLS,
            compact_tool_calls=False,
            strip_message=(),
            strip_top_level=(),
        )


class Dropped(StrEnum):
    """Why a message is not imported."""

    SUCCESSFUL_TOOL_OUTPUT = "successful-tool-output"
    TOOL_FILTER_EXCLUDED = "tool-filter-excluded"
    TOOL_RESULT_EMPTY = "tool-result-empty"
    RECALLED_MEMORY = "recalled-memory"
    EMPTY_PROJECTION = "empty-projection"
    HOST_PROMPT = "host-prompt"
    KEPT_FROM_MODEL = "kept-from-model"
    """The user ran a command that the model was not to see."""
    OTHER_BRANCH = "other-branch"
    IN_PARENT = "in-parent-session"
    """A fork carries the messages of the session it came from; they are imported with that."""
    RETAINED_LIVE = "retained-live"
    """The session had memory while it ran, and these were retained then."""


@define
class Tally:
    """Messages and bytes of text that were kept and dropped. ``kept_bytes`` is what is sent, without secrets."""

    kept: int = 0
    kept_bytes: int = 0
    dropped: Counter[str] = field(factory=Counter)
    dropped_bytes: Counter[str] = field(factory=Counter)

    def drop(self, why: Dropped, size: int) -> None:
        """Count one that is not imported."""
        self.dropped[why.value] += 1
        self.dropped_bytes[why.value] += size

    def add(self, other: Tally) -> None:
        """Count what another counted."""
        self.kept += other.kept
        self.kept_bytes += other.kept_bytes
        self.dropped.update(other.dropped)
        self.dropped_bytes.update(other.dropped_bytes)
