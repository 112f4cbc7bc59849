"""Reading the token that a policy names. Done at each request, so a rotated token needs no restart."""

from __future__ import annotations

import asyncio
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Literal

from hindbrain.client._errors import MissingExtraError, TokenFault, TokenUnavailableError
from hindbrain.contracts import EnvToken, KeyringToken, NoAuth, Secret, TokenError, TokenFile, TokenPolicy, check_token

_MAX_FILE = 16_384
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


async def read_token(policy: TokenPolicy) -> Secret | None:
    """The token in its one form, or None where the policy is to send none.

    Raises:
        TokenUnavailableError: nothing usable is there. A policy that names a token never falls back to none.
        MissingExtraError: the keyring is asked for and not installed.

    Source: S2-auth-001 to S2-auth-006; seed 002 (a named but unset variable is refused).
    """
    match policy:
        case NoAuth():
            return None
        case EnvToken():
            return _checked("variable", os.environ.get(policy.name))
        case TokenFile():
            return _checked("file", _file_text(policy.path))
    return _checked("keyring", await asyncio.to_thread(_keyring_text, policy))


def _checked(where: Literal["variable", "file", "keyring"], text: str | None) -> Secret:
    if text is None or not text.strip():
        raise TokenUnavailableError(where, TokenFault.MISSING)
    with suppress(TokenError):
        return Secret(check_token(text))
    raise TokenUnavailableError(where, TokenFault.MALFORMED)


def _file_text(path: Path) -> str | None:
    """The text of a plain file that only its owner may read. Rights are asked of the opened file, so no race is left.

    A link is followed: secret managers lay tokens out as links, and what counts is the file that is read.
    """
    fault = TokenFault.UNREADABLE
    with suppress(OSError):
        try:
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        except FileNotFoundError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                fault = TokenFault.UNREADABLE
            elif os.name == "posix" and found.st_mode & _OTHERS:
                fault = TokenFault.EXPOSED
            else:
                return file.read(_MAX_FILE + 1).decode("ascii", "replace")
    raise TokenUnavailableError("file", fault)


def _keyring_text(policy: KeyringToken) -> str | None:
    try:
        import keyring
    except ImportError:
        keyring = None
    if keyring is None:
        raise MissingExtraError("keyring")
    with suppress(Exception):  # a keyring's own errors may name what it holds
        text: str | None = keyring.get_password(policy.service, policy.username)
        return text
    raise TokenUnavailableError("keyring", TokenFault.UNREADABLE)
