"""A chat completion as it comes over the wire. What is not named here is passed over."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from pydantic import BaseModel, Field, FiniteFloat, ValidationError


class Function(BaseModel):
    """Which tool is called, and with what: JSON as text, or as some servers have it, as it is."""

    name: str
    arguments: str | dict[str, Any] | None = None


class Call(BaseModel):
    """One call of a tool."""

    id: str | None = None
    function: Function


class Said(BaseModel):
    """What the model said; both may be null."""

    content: str | None = None
    tool_calls: list[Call] | None = None


class Choice(BaseModel):
    """One answer."""

    message: Said
    finish_reason: str | None = None


class Usage(BaseModel):
    """What it took. ``cost`` is what some servers tell, in US dollars."""

    prompt_tokens: int | None = Field(default=None, ge=0)
    completion_tokens: int | None = Field(default=None, ge=0)
    cost: FiniteFloat | None = None


class Answer(BaseModel):
    """The whole answer."""

    choices: list[Choice] = Field(min_length=1)
    usage: Usage | None = None
    model: str | None = None


def read_answer(raw: bytes) -> Answer | None:
    """The answer, or None where it has another shape."""
    with suppress(ValidationError):
        return Answer.model_validate_json(raw)
    return None
