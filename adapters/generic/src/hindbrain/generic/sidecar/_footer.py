"""What the host's footer and its notices say of memory, in a few words.

Source: seed 000, status and notification settings; how each looks is ours.
"""

from __future__ import annotations

from attrs import frozen

from hindbrain.contracts import cut_to_cells
from hindbrain.generic._config import Settings
from hindbrain.generic._patch import ContextPatch
from hindbrain.generic._settled import SettledTurn

_MARKS = {"text": "memory:", "emoji": "\U0001f9e0", "nerdfont": "\U000f035b"}
"""Others write to the footer as well: each line begins with whose word it is."""


@frozen(kw_only=True)
class Word:
    """A state of memory. ``number`` counts what it is about; ``passing`` states are over in a moment."""

    state: str
    number: int | None = None
    passing: bool = False


RECALLING = Word(state="recalling", passing=True)


@frozen(kw_only=True)
class Footer:
    """How the footer is written: the settings under ``status``."""

    style: str = "text"
    detail: str = "activity"
    longest: int = 24
    activity: bool = True

    @staticmethod
    def of(settings: Settings) -> Footer:
        """As the settings say."""
        return Footer(
            style=settings["status.style"],
            detail=settings["status.detail"],
            longest=settings["status.maxLength"],
            activity=settings["status.showActivity"],
        )

    def line(self, word: Word | None, project: str = "") -> str | None:
        """The line of the footer; None clears it."""
        mark = _MARKS.get(self.style)
        if word is None or mark is None or (word.passing and not self.activity):
            return None
        words = _numbered(word) if self.detail in {"activity", "verbose"} else word.state
        if project and self.detail in {"project", "verbose"}:
            words = f"{project} {words}"
        return f"{mark} {cut_to_cells(words, self.longest, mark='…')}"


def _numbered(word: Word) -> str:
    if word.number is None:
        return word.state
    return f"{word.number} {word.state}" if word.state == "queued" else f"{word.state} {word.number}"


@frozen(kw_only=True)
class Notices:
    """What is said beside the footer: the settings under ``notifications``."""

    startup: bool = True
    recall: bool = False
    retain: bool = False

    @staticmethod
    def of(settings: Settings) -> Notices:
        """As the settings say."""
        names = ("startup", "recall", "retain")
        return Notices(**{name: settings[f"notifications.{name}"] for name in names})

    def recalled(self, patch: ContextPatch) -> str | None:
        """After a recall."""
        items = len(patch.outcome.block.items) if patch.text else 0
        return f"Memory: {_counted(items, 'memory', 'memories')} shown to the model." if self.recall and items else None

    def retained(self, sent: int) -> str | None:
        """After turns were sent."""
        return f"Memory: {_counted(sent, 'turn', 'turns')} retained." if self.retain and sent else None


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def found(patch: ContextPatch) -> Word | None:
    """After a recall."""
    if patch.skipped in {"recall-failed", "error", "backing-off"}:
        away = patch.skipped == "backing-off" or any(each.outage for each in patch.outcome.failures)
        return Word(state="offline" if away else "failed")
    items = len(patch.outcome.block.items)
    return Word(state="recalled", number=items) if patch.text and items else None


def kept(turn: SettledTurn) -> Word | None:
    """After a turn was kept, and before it is sent."""
    if turn.skipped == "error":
        return Word(state="failed")
    return Word(state="queued", passing=True) if turn.jobs else None


def waiting(number: int) -> Word | None:
    """What has not been sent."""
    return Word(state="queued", number=number) if number else None
