"""What a setting's value must be: a type for pydantic, the same in words, and how it is written in plain text."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Literal

from attrs import frozen
from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from hindbrain.contracts import Endpoint, HindbrainError, check_bank, check_token_name

_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"0", "false", "no", "off"})
_MOST_DIGITS = 15

Kind = Literal["flag", "count", "number", "text", "names", "json"]


class FormError(ValueError):
    """A value is not of its setting's form. It holds no part of the value."""


@frozen(eq=False, slots=False)
class Form:
    """A value's form. ``words`` end the sentence "expected …"; ``kind`` says how plain text stands for such a value."""

    type: Any
    words: str
    kind: Kind = "text"

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """The check, built at its first use."""
        return TypeAdapter(self.type)

    def read(self, value: object) -> Any:
        """The value in the form's type.

        Raises:
            FormError: it is not of this form.
        """
        try:
            return self.adapter.validate_python(value)
        except (ValidationError, RecursionError):
            raise FormError(self.words) from None

    def read_leniently(self, value: object) -> tuple[Any, tuple[str, ...]]:
        """The value, and what was left out of it, in words.

        Raises:
            FormError: nothing of it is of this form.
        """
        return self.read(value), ()

    def parse(self, text: str) -> object:
        """The JSON value that plain text stands for; what cannot be parsed stays text, for ``read`` to refuse."""
        return _PARSERS[self.kind](text.strip())


def _flag(text: str) -> object:
    low = text.lower()
    return True if low in _YES else False if low in _NO else text


def _count(text: str) -> object:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else text


def _number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _names(text: str) -> object:
    return [part.strip() for part in text.split(",") if part.strip()]


def _json(text: str) -> object:
    import json5

    try:
        return json5.loads(text)
    except (ValueError, RecursionError):
        return text


_PARSERS: dict[Kind, Callable[[str], object]] = {
    "flag": _flag,
    "count": _count,
    "number": _number,
    "text": str,
    "names": _names,
    "json": _json,
}


def _accepted_by(check: Callable[[str], object]) -> AfterValidator:
    """A check that raises one of our own errors, as pydantic wants it."""

    def validate(value: str) -> str:
        try:
            check(value)
        except HindbrainError:
            raise FormError("refused") from None
        return value

    return AfterValidator(validate)


def _absolute(value: str) -> str:
    if not os.path.isabs(os.path.expanduser(value)):  # noqa: PTH111, PTH117 - a text is judged, no file is meant yet
        raise FormError("relative")
    return value


def _moment(value: str) -> str:
    datetime.fromisoformat(value)
    return value


def _reference(value: str) -> str:
    kind, _, rest = value.partition(":")
    if kind == "env":
        _accepted_by(check_token_name).func(rest)  # type: ignore[call-arg]  # of the two forms pydantic knows, ours takes one
    return value


def choice(*words: str) -> Form:
    """One of a few words."""
    *first, last = words
    allowed: Any = Literal[words]
    return Form(allowed, f"{', '.join(first)} or {last}" if first else last)


def some_of(*words: str) -> Form:
    """Any of a few words, as a list."""
    *first, last = words
    said = f"a list of {', '.join(first)} and {last}" if first else f"a list that holds {last} or nothing"
    allowed: Any = Literal[words]
    return Form(Annotated[tuple[allowed, ...], Field(strict=False)], said, "names")


def whole(least: int, most: int, words: str) -> Form:
    """A whole number within bounds."""
    return Form(Annotated[int, Field(strict=True, ge=least, le=most)], words, "count")


def millis(least: int, most: int) -> Form:
    """A duration within bounds."""
    return whole(least, most, f"a whole number of milliseconds from {least} to {most}")


_Name = Annotated[str, Field(strict=True, min_length=1, max_length=512)]

FLAG = Form(Annotated[bool, Field(strict=True)], "true or false", "flag")
COUNT = whole(1, 1_000_000, "a whole number from 1 up")
FLOOR = Form(Annotated[float, Field(strict=True, allow_inf_nan=False)], "a number", "number")
TEXT = Form(Annotated[str, Field(strict=True, max_length=4096)], "a line of text, which may be empty")
NAME = Form(_Name, "a name")
NAMES = Form(Annotated[tuple[_Name, ...], Field(strict=False, max_length=256)], "a list of names", "names")
TABLE = Form(
    Annotated[
        tuple[Annotated[tuple[_Name, ...], Field(strict=False, min_length=1, max_length=64)], ...],
        Field(strict=False, max_length=64),
    ],
    "a list of lists of tags, none of them empty",
    "json",
)
PATH = Form(Annotated[_Name, AfterValidator(_absolute)], "an absolute path, which may begin with ~")
MOMENT = Form(Annotated[_Name, AfterValidator(_moment)], "a moment in ISO 8601")
BankId = Annotated[_Name, _accepted_by(check_bank)]
BANK = Form(BankId, "a bank id: 1 to 128 letters, digits or ._:- that begin with a letter or digit")
BANK_IDS = Form(Annotated[tuple[BankId, ...], Field(strict=False, max_length=64)], "a list of bank ids", "names")
FACTS_BANK = Form(
    Annotated[BankId, Field(pattern=r"^[^:]*$")],
    "a bank id: 1 to 128 letters, digits or ._- that begin with a letter or digit",
)
URL = Form(
    Annotated[_Name, _accepted_by(Endpoint.parse)],
    "an https URL, or http on loopback, without credentials, query or fragment",
)
REFERENCE = Form(
    Annotated[
        str,
        Field(strict=True, max_length=512, pattern=r"^(env:[A-Z_][A-Z0-9_]{0,127}|file:.+|keyring:[^/]+/.+)$"),
        AfterValidator(_reference),
    ],
    "env:NAME, file:PATH or keyring:SERVICE/USER, never the key itself",
)
