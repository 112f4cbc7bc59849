"""What a receipt is filed under."""

from __future__ import annotations

import hashlib

from attrs import frozen

_KEY_LENGTH = 32


@frozen(kw_only=True)
class Target:
    """A server and a bank. ``base_url`` is the endpoint as ``Endpoint`` normalises it."""

    base_url: str
    bank_id: str


@frozen(kw_only=True)
class Scope:
    """A project's part of a target."""

    base_url: str
    bank_id: str
    project_id: str


@frozen(kw_only=True)
class Document:
    """One document of one project on one server: what a generation is counted for."""

    base_url: str
    bank_id: str
    project_id: str
    document_id: str

    @property
    def key(self) -> str:
        """Its name among the generations: 32 hex digits."""
        return _digest(self.base_url, self.bank_id, self.project_id, self.document_id)


def key_of(base_url: str, bank_id: str, project_id: str, document_id: str, revision: str) -> str:
    """The key of a receipt: SHA-256 over the five parts, joined by NUL, cut to 32 hex digits.

    Source: spec/facts.md section 3; S2-receipts-003.
    """
    return _digest(base_url, bank_id, project_id, document_id, revision)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_KEY_LENGTH]
