"""What the model is shown this once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import field, frozen

from hindbrain.contracts import Message, TextPart
from hindbrain.memory import RecallOutcome, last_user


@frozen(kw_only=True)
class ContextPatch:
    """A block to inject, never persisted; empty ``text`` injects nothing, and ``skipped`` says why.

    ``at`` is when the block was first seen, in milliseconds since 1970 UTC: the same turn gets the same bytes and time.
    ``cache`` is hit, miss, or none where nothing was asked. ``retrievals`` is the id of each bank's request, also on a
    hit, and ``left_alone`` names the banks that were not asked after an outage.
    """

    text: str = ""
    position: str = "append"
    at: int | None = None
    outcome: RecallOutcome = field(factory=RecallOutcome)
    skipped: str | None = None
    cache: str = "none"
    retrievals: Mapping[str, str] = field(factory=dict)
    left_alone: tuple[str, ...] = ()

    def apply(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """The messages with the block before the last one of the user, or first where it is prepended.

        Behind a tool call too it stands before the user's message, so that what a model was sent stays a prefix of what
        it is sent next.

        Source: spec/memory.md section 5.2.
        """
        at = 0 if self.position == "prepend" else last_user(messages)
        if not self.text or at is None:
            return tuple(messages)
        block = Message(role="user", parts=(TextPart(self.text),), at=self.at)
        return (*messages[:at], block, *messages[at:])
