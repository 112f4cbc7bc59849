"""Where a token comes from, and what a token may look like. Reading one is the client's job: nothing here does I/O.

Source: seed 002 ("Configuration", hindsightApiKeyEnv) and decisions.md, "Four verbs and the client".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Never, SupportsIndex, final

from attrs import field, frozen

from hindbrain.contracts._errors import InvalidValueError
from hindbrain.contracts._patterns import compiled

if TYPE_CHECKING:
    from pathlib import Path

_NAME = r"[A-Z_][A-Z0-9_]{0,127}"
_PRINTABLE = r"[!-~]{1,8192}"
_KEY_PREFIX = (
    r"(?:A(?:KIA|SIA|GPA|IDA|ROA|NPA|BIA|CCA)[A-Z0-9]{12,}"
    r"|(?:GH[OPRSU]|GITHUB_PAT|GLPAT|HF|NPM|PYPI|XOX[ABEPRS]|[PRS]K(?:_LIVE|_TEST|_PROJ|_ANT)?)_[A-Z0-9]{20,}"
    r"|AIZA[A-Z0-9_]{30,}|EYJ[A-Z0-9_]{20,}).*"
)
_LONG_WORD = 16
_MANY_DIGITS = 8


class TokenError(InvalidValueError):
    """A token, or the name of where it is kept, is refused; nothing was sent. The value is never repeated."""

    code = "token"


@final
class Secret:
    """A text that only :meth:`reveal` gives out: not its repr, format, pickle or copy, nor a walk over fields.

    Two secrets are equal only if they are the same object.
    """

    __slots__ = ("_text",)
    _text: str

    def __init__(self, text: str) -> None:
        object.__setattr__(self, "_text", text)

    def reveal(self) -> str:
        """The text itself. Call it where the text is sent, and keep no reference."""
        return self._text

    def __repr__(self) -> str:
        return "Secret()"

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __setattr__(self, name: str, value: object) -> Never:
        raise AttributeError("A secret does not change.")

    def __delattr__(self, name: str) -> Never:
        raise AttributeError("A secret does not change.")

    def __reduce_ex__(self, protocol: SupportsIndex) -> Never:
        raise TypeError("A secret is neither pickled nor copied.")


def check_token_name(name: str, *, field: str = "hindsight.apiKeyEnv") -> str:
    """Return ``name`` unchanged if it can name an environment variable that holds a token.

    Args:
        name: 1 to 128 of ``A-Z 0-9 _``, the first not a digit.
        field: the setting's name, for the message.

    Raises:
        TokenError: it has another form, or looks like a key that was pasted in its place.

    Source: S2-auth-004; spec/facts.md F15 (a pasted key must not come back in the refusal).
    """
    if compiled(_NAME).fullmatch(name) and not _looks_like_a_key(name):
        return name
    raise TokenError(
        field,
        "the name of an environment variable, 1 to 128 of A-Z, 0-9 and _, not the token itself",
        next_step="Export the token under a name such as HINDSIGHT_API_TOKEN and give that name.",
    )


def _looks_like_a_key(name: str) -> bool:
    if compiled(_KEY_PREFIX).fullmatch(name):
        return True
    for word in name.split("_"):
        digits = re.findall(r"[0-9]+", word)
        mixed = len(digits) > 1 or len("".join(digits)) >= _MANY_DIGITS
        if len(word) >= _LONG_WORD and mixed:
            return True
    return False


def check_token(text: str, *, field: str = "the token") -> str:
    """Return the token without the white space around it.

    Args:
        text: 1 to 8192 printable ASCII characters, no space among them.
        field: where it came from, for the message.

    Raises:
        TokenError: it is empty, too long, or holds another character (a line break would start a new header).

    Source: spec/facts.md section 2 (trimmed; empty is not set) and F39.
    """
    token = text.strip(" \t\r\n")
    if compiled(_PRINTABLE).fullmatch(token):
        return token
    raise TokenError(
        field,
        "1 to 8192 printable ASCII characters without spaces",
        next_step="Copy the token again, whole and on one line.",
    )


@frozen
class NoAuth:
    """No ``Authorization`` header is sent."""


@frozen
class EnvToken:
    """The token is the value of an environment variable, read at each request.

    Raises:
        TokenError: the name is not one (:func:`check_token_name`).
    """

    name: str = field(converter=check_token_name)


def _path(value: str | Path) -> Path:
    from pathlib import Path

    return Path(value)


@frozen
class TokenFile:
    """The token is the content of a file, read at each request."""

    path: Path = field(repr=False, converter=_path)


@frozen
class KeyringToken:
    """The token is kept by the system's keyring under a service and a user name."""

    service: str = field(repr=False)
    username: str = field(repr=False)


TokenPolicy = NoAuth | EnvToken | TokenFile | KeyringToken
"""Where the token of one origin comes from."""
