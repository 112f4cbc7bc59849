"""From a recalled text back to the session entries it came from.

A backend may store a text as it was said, or a model's wording of it. Verbatim texts are found by containment, others
by the share of their words that one entry holds; below that share nothing is claimed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from attrs import field, frozen

from hindbrain.contracts import Entry, Message, TextPart, ToolCallPart, scrub

_WORD = re.compile(r"\w+")
_ENOUGH = 0.7
_LEAST_WORDS = 3
_MOST = 5


def _fold(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.lower()))} "


def _words(message: Message) -> str:
    """All that was said or called in a message, as it may have been retained."""
    said = [part.text for part in message.parts if isinstance(part, TextPart)]
    said.extend(
        " ".join([part.name, *(value for value in part.arguments.values() if isinstance(value, str))])
        for part in message.parts
        if isinstance(part, ToolCallPart)
    )
    return scrub("\n".join(said))


@frozen
class EntryIndex:
    """The words of a session's messages, ready to be searched. Build it with :meth:`of`."""

    folded: dict[str, str] = field(repr=False)
    by_word: dict[str, list[str]] = field(repr=False)

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> EntryIndex:
        """Index the words of every message."""
        folded: dict[str, str] = {}
        by_word: dict[str, list[str]] = {}
        for entry in entries:
            if entry.message is None or not (text := _fold(_words(entry.message))).strip():
                continue
            folded[entry.id] = text
            for word in set(text.split()):
                by_word.setdefault(word, []).append(entry.id)
        return cls(folded, by_word)

    def find(self, text: str) -> tuple[str, ...]:
        """Ids of at most five entries that hold ``text``, or else of the one that holds most of its words."""
        wanted = _fold(text)
        words = list(dict.fromkeys(wanted.split()))
        if not words:
            return ()
        bare = wanted.strip() if not wanted.isascii() else wanted
        exact = [entry_id for entry_id, said in self.folded.items() if bare in said]
        return tuple(exact[:_MOST]) if exact else self._closest(words)

    def _closest(self, words: list[str]) -> tuple[str, ...]:
        votes = Counter(entry_id for word in words for entry_id in self.by_word.get(word, ()))
        if len(words) < _LEAST_WORDS or not votes:
            return ()
        best, count = max(votes.items(), key=lambda kv: kv[1])
        return (best,) if count / len(words) >= _ENOUGH else ()
