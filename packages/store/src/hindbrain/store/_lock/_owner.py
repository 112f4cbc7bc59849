"""The record beside a lock: who holds it, and since when."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from attrs import evolve, frozen

from hindbrain.store._files import FileLayer, StateFileTooLargeError, read_file

_LIMIT = 4096
_CAN_ASK = os.name != "nt"
"""On Windows the question would end the process."""


@frozen
class Owner:
    """Who holds a lock. Other writers of the format leave ``host`` out; it is empty then.

    Source: decisions.md, "Durability"; spec/memory.md section 7.3.
    """

    pid: int
    host: str
    acquired_at: datetime
    token: str

    def renewed(self, now: datetime) -> Owner:
        """The same holder, seen alive at ``now``."""
        return evolve(self, acquired_at=now)

    def to_bytes(self) -> bytes:
        """One line of JSON in the field names of the format."""
        acquired = self.acquired_at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        record = {"pid": self.pid, "host": self.host, "acquiredAt": acquired, "token": self.token}
        return json.dumps(record).encode() + b"\n"

    @classmethod
    def parse(cls, data: bytes) -> Owner | None:
        """The record in these bytes, or None where they hold none."""
        with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
            record = json.loads(data)
            acquired = datetime.fromisoformat(record["acquiredAt"])
            if acquired.tzinfo is not None:
                return cls(int(record["pid"]), str(record.get("host", "")), acquired, str(record["token"]))
        return None


def read_owner(layer: FileLayer, path: Path) -> Owner | None:
    """The record in a file, or None where there is none that can be read."""
    try:
        return Owner.parse(read_file(layer, path, _LIMIT) or b"")
    except StateFileTooLargeError:
        return None


def is_running(pid: int) -> bool:
    """Whether a process of this machine has that number; true where it cannot be known."""
    if not _CAN_ASK:
        return True
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
