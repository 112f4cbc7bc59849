"""Lines that are no jobs of ours, in ``<queue>.malformed.jsonl``: nothing is lost silently, nothing foreign is sent.

Source: spec/memory.md section 7.2; decisions.md, "Durability".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from hindbrain.store._queue._index import Odd, digest
from hindbrain.store._queue._journal import Journal
from hindbrain.store._queue._seal_line import read_fields
from hindbrain.store._queue._values import Reason, SetAside


class Quarantine:
    """Call everything under the lock of the queue. The rows bear no seal: what is in them is believed by nobody."""

    def __init__(self, journal: Journal, source: str) -> None:
        self._journal = journal
        self._source = source

    def add(self, lines: Iterable[Odd], at: str) -> None:
        """Copy the lines, durably; those that are there already, not again.

        Raises:
            OSError: the disk's own.
        """
        there = {row.get("digest") for row in self._fields()}
        rows = []
        for each in lines:
            name = digest(each.line)
            if name not in there:
                there.add(name)
                rows.append(self._row(each, name, at))
        if rows:
            self._journal.append_surely(b"".join(rows))

    def rows(self) -> tuple[SetAside, ...]:
        """What was set aside, oldest first; rows of other programs included.

        Raises:
            OSError: the disk's own.
        """
        return tuple(_set_aside(row) for row in self._fields())

    def remove(self, texts: Sequence[str]) -> None:
        """Take rows away by their text; the rest stays, readable or not.

        Raises:
            OSError: the old rows are there, or perhaps the new ones.
        """
        gone = set(texts)
        kept = [
            line for line in self._journal.read_all().splitlines() if (read_fields(line) or {}).get("line") not in gone
        ]
        self._journal.replace(b"".join(line + b"\n" for line in kept))

    def _fields(self) -> list[dict[str, Any]]:
        rows = (read_fields(line) for line in self._journal.read_all().splitlines())
        return [row for row in rows if row is not None and isinstance(row.get("line"), str)]

    def _row(self, odd: Odd, name: str, at: str) -> bytes:
        row = {
            "reason": odd.reason.value,
            "digest": name,
            "quarantinedAt": at,
            "sourceQueue": self._source,
            "line": as_text(odd.line),
        }
        return json.dumps(row, separators=(",", ":")).encode() + b"\n"


def as_text(line: bytes) -> str:
    """A line as text; bytes that are no UTF-8 become lone surrogates."""
    return line.decode("utf-8", "surrogateescape")


def _set_aside(row: dict[str, Any]) -> SetAside:
    reason = row.get("reason")
    return SetAside(
        reason=Reason(reason) if reason in set(Reason) else Reason.MALFORMED,
        at=str(row.get("quarantinedAt", "")),
        text=row["line"],
    )
