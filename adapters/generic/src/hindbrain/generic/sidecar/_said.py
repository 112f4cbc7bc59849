"""What a tool answers a model."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from hindbrain.contracts import HindbrainError, JsonValue


class BadArgumentError(HindbrainError):
    """The model called a tool with an argument that is missing or of another type; nothing was done."""

    code = "bad-argument"

    def __init__(self, name: str, expected: str) -> None:
        super().__init__(f"{name} has to be {expected}; nothing was done.")


@frozen(kw_only=True)
class Said:
    """What a tool answers the model. ``details`` holds ids and counts for the host, never text."""

    text: str
    is_error: bool = False
    details: Mapping[str, JsonValue] = field(factory=dict)
