"""The messages of a session file as their JSON: what older cursor files took their fingerprints of."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from hindbrain.contracts import JsonValue
from hindbrain.memory.sessions._lines import MAX_LINE


def raw_messages(path: str | os.PathLike[str]) -> Iterator[tuple[str, Mapping[str, JsonValue]]]:
    """The id of each message entry and the message's own JSON, in file order.

    Ids are those that :func:`read_session` gives: the host's, or ``line-N``. Lines that are no message are passed over,
    and so are broken ones.

    Raises:
        OSError: the file cannot be read.
    """
    with Path(path).open("rb") as file:
        number = 0
        while line := file.readline(MAX_LINE):
            number += 1
            message = _message(line)
            if message is not None:
                entry_id, body = message
                yield entry_id or f"line-{number}", body


def _message(line: bytes) -> tuple[str | None, Mapping[str, JsonValue]] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or entry.get("type") != "message" or not isinstance(entry.get("message"), dict):
        return None
    entry_id = entry.get("id")
    return (entry_id if isinstance(entry_id, str) else None), entry["message"]
