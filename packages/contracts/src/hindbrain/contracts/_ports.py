"""The ports a host or a room fills in: what hindbrain may ask of its surroundings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from attrs import field, frozen

from hindbrain.contracts._telemetry import TelemetryEvent
from hindbrain.contracts._transcript import Branch, JsonValue, Message
from hindbrain.contracts._values import RetainItem


@frozen(kw_only=True)
class ContextUsage:
    """How full the model's window is, in tokens; None where the host does not know."""

    tokens: int | None = None
    window: int | None = None


@frozen(kw_only=True)
class TaskState:
    """What the host's todo list says. ``available`` False is not the same as an empty list."""

    available: bool
    open_tasks: tuple[str, ...] = ()


class Host(Protocol):
    """The agent host a session lives in. Every method fails open in the caller: its error never breaks a turn."""

    async def branch(self) -> Branch:
        """The session's entries with the present leaf."""
        ...

    async def append(self, custom_type: str, data: Mapping[str, JsonValue], *, expect_ancestor: str | None) -> str:
        """Append a custom entry and return its id.

        Refuses where ``expect_ancestor`` is no longer on the present branch, so that a ledger entry never lands on
        another branch.
        """
        ...

    async def notify(self, text: str, level: str = "info") -> None:
        """Show one line to the user; ``level`` is info, warning or error."""
        ...

    async def confirm(self, title: str, text: str) -> bool:
        """Ask the user; False where no user can answer."""
        ...

    async def task_state(self) -> TaskState:
        """What work is open."""
        ...

    async def context_usage(self) -> ContextUsage:
        """How full the window is."""
        ...

    async def emit(self, event: TelemetryEvent) -> None:
        """Hand a telemetry event to whoever listens on the host's bus."""
        ...

    async def idle(self) -> bool:
        """Whether no run of the agent is under way, so that the session may be compacted."""
        ...

    async def compact(self, instructions: str | None = None) -> bool:
        """Compact the session in the host's own way, which asks for a summary first; whether it was compacted."""
        ...

    async def copy(self, text: str) -> str | None:
        """Put a text on the user's clipboard; how that was done, None where it could not be."""
        ...


@frozen(kw_only=True)
class Tool:
    """A tool a model may call; ``parameters`` is its JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, JsonValue] = field(repr=False)


@frozen(kw_only=True)
class Completion:
    """A model's answer and what it cost, in tokens and in US dollars; None where unknown.

    A call that failed is an answer too: its message's ``stop_reason`` is ``error`` or ``aborted``. ``retryable`` says
    of a failed one whether the same call may succeed in a moment.
    """

    message: Message
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    retryable: bool = False

    @property
    def failed(self) -> bool:
        """Whether the call failed, whatever part of an answer came."""
        return self.message.stop_reason in {"error", "aborted"}


class Model(Protocol):
    """A chat model: the session's own through the host, or an endpoint."""

    async def complete(
        self, messages: Sequence[Message], *, tools: Sequence[Tool] = (), max_tokens: int | None = None
    ) -> Completion:
        """Answer the messages once; tool calls come back as parts of the answer.

        Which model answers, and how much it reasons, belongs to the implementation. An error that it raises has
        ``retryable`` where the same call may succeed in a moment.
        """
        ...


class Embedder(Protocol):
    """Turns texts into vectors of one length.

    Attributes:
        name: identifies model and version; vectors of different names are never compared.
        dimension: the length of each vector.
    """

    @property
    def name(self) -> str: ...
    @property
    def dimension(self) -> int: ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text, in order."""
        ...


@frozen(kw_only=True)
class Coverage:
    """The range of a session that a retain job stands for: from the first entry to the last, on one branch.

    ``lineage`` is the id of the root session of a chain of forks. ``chain`` and ``count`` are the folded fingerprints
    and the number of the branch's messages up to ``last_id``, the count 0 where the branch's beginning was not seen.
    ``after_id`` is the entry up to which the branch was retained before. ``tail`` holds the newest of the entries
    covered, each as its id and the fingerprint of its content. So the job alone can move a cursor.
    """

    lineage: str
    bank: str
    first_id: str
    last_id: str
    chain: str
    after_id: str | None = None
    count: int = 0
    tail: tuple[tuple[str, str], ...] = ()


@frozen(kw_only=True)
class RetainJob:
    """A retain that has been decided on, with the operation id it will keep over every try."""

    id: str
    bank: str
    item: RetainItem
    operation_id: str
    created_at: str
    covers: Coverage | None = None


class RetainQueue(Protocol):
    """Where decided retains wait. ``enqueue`` returns only when the job is as durable as this queue can make it."""

    async def enqueue(self, job: RetainJob) -> None:
        """Take the job, or raise and hold nothing of it."""
        ...
