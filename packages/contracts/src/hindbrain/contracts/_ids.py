"""Full-match checks of every identifier, done before a byte is sent or stored.

Source: decisions.md, "Four verbs and the client".
"""

from __future__ import annotations

import uuid

from hindbrain.contracts._checks import is_plain
from hindbrain.contracts._errors import BackendRequestError
from hindbrain.contracts._patterns import compiled

_BANK = r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}"
_STRICT_BANK = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"
_OPERATION = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_MAX_DOCUMENT = 512


def check_bank(bank: str, *, strict: bool = False) -> str:
    """Return ``bank`` unchanged if it is a bank id.

    Args:
        bank: 1 to 128 characters of ``A-Z a-z 0-9 . _ : -``, the first a letter or digit.
        strict: refuse ``:`` too (the confirmed-facts rule of seed 002).

    Raises:
        BackendRequestError: it is not; the value is not repeated in the message.
    """
    if isinstance(bank, str) and compiled(_STRICT_BANK if strict else _BANK).fullmatch(bank):
        return bank
    raise BackendRequestError(
        "The bank id is refused and nothing was sent.",
        next_step=f"Use 1 to 128 letters, digits or ._{'' if strict else ':'}- and begin with a letter or digit.",
    )


def check_operation_id(operation_id: str) -> str:
    """Return ``operation_id`` in lower case if it is a UUID in its canonical 36-character form.

    Raises:
        BackendRequestError: it is not.
    """
    if isinstance(operation_id, str) and compiled(_OPERATION).fullmatch(operation_id):
        return str(uuid.UUID(operation_id))
    raise BackendRequestError(
        "The operation id is refused and nothing was sent.",
        next_step="Use a UUID such as 93e33487-6c92-5880-9b29-dc86689d9c26.",
    )


def check_document_id(document_id: str) -> str:
    """Return ``document_id`` unchanged if it can name one document.

    Args:
        document_id: 1 to 512 characters, no control characters or lone surrogates, not ``.`` or ``..``.

    Raises:
        BackendRequestError: it is not.
    """
    if (
        isinstance(document_id, str)
        and document_id.strip()
        and document_id not in {".", ".."}
        and len(document_id) <= _MAX_DOCUMENT
        and is_plain(document_id)
    ):
        return document_id
    raise BackendRequestError(
        "The document id is refused and nothing was sent.",
        next_step="Use 1 to 512 characters without control characters, and not '.' or '..'.",
    )
