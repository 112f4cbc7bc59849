"""The one JSON shape every command prints, and the exit codes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

from attrs import field, frozen

from hindbrain.contracts import HindbrainError

_HALVES = re.compile("[\ud800-\udfff]")
SCHEMA = 1
"""Version of the envelope; it moves on when a field changes its meaning or goes."""


class Exit(IntEnum):
    """Exit codes of the ``hindbrain`` command."""

    OK = 0
    FAILED = 1
    """A check failed, or nothing was found where something was asked for."""
    USAGE = 2
    CONFIG = 3
    """The configuration or the credentials were refused."""
    UNREACHABLE = 4
    PARTIAL = 5
    """Some of the work was done; the report says which."""


_UNREACHABLE = frozenset(
    {"network", "timeout", "store-busy", "store-unavailable", "model-unreachable", "operation-running"}
)
_CONFIG = frozenset(
    {
        "config",
        "invalid-value",
        "unauthorized",
        "wrong-endpoint",
        "no-project",
        "session-record-value",
        "no-such-host",
        "model-auth",
    }
)


def exit_for(code: str) -> Exit:
    """The exit code for an error's stable code."""
    if code in _UNREACHABLE:
        return Exit.UNREACHABLE
    return Exit.CONFIG if code in _CONFIG or code.startswith(("endpoint", "token")) else Exit.FAILED


@frozen(kw_only=True)
class Envelope:
    """What a command has to say: data for machines, lines for people, warnings, and at most one error."""

    command: str
    data: Mapping[str, Any] = field(factory=dict)
    text: str = ""
    warnings: Sequence[str] = ()
    exit: Exit = Exit.OK
    error: HindbrainError | None = None

    def as_json(self) -> str:
        """The envelope as one line: schema, command, ok, data, warnings, error.

        Characters are written as they are, but a path's bytes that are no UTF-8 would be none here either: then all are
        escaped.
        """
        error = None
        if self.error is not None:
            error = {"code": self.error.code, "message": self.error.what, "next": self.error.next_step}
        envelope = {
            "schema": SCHEMA,
            "command": self.command,
            "ok": self.exit is Exit.OK,
            "data": dict(self.data),
            "warnings": list(self.warnings),
            "error": error,
        }
        text = json.dumps(envelope, ensure_ascii=False)
        return json.dumps(envelope) if _HALVES.search(text) else text
