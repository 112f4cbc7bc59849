"""The banks of a user: what each is for, and who may read and write it.

Source: seed 000, "Global memory routing"; spec/memory.md section 1.3.
"""

from __future__ import annotations

from enum import StrEnum

from attrs import Factory, field, frozen

CODING = "coding"
"""The role of the bank a project's turns go to."""
USER_ROLES = frozenset({"user", "life"})
"""The roles of the bank that knows the person and not the project."""


class Access(StrEnum):
    """What may be done with a bank."""

    READ = "read"
    WRITE = "write"
    READ_WRITE = "read-write"


class RetainMode(StrEnum):
    """When a turn is retained in a bank without being asked to."""

    ALWAYS = "always"
    DECISION = "decision"
    """Where the decision model picks the bank."""
    EXPLICIT_ONLY = "explicit-only"


def default_mode(role: str) -> RetainMode:
    """The mode of an entry that names none: a coding bank gets every turn, any other only what is meant for it."""
    return RetainMode.ALWAYS if role == CODING else RetainMode.EXPLICIT_ONLY


@frozen(kw_only=True)
class BankEntry:
    """One bank of the settings. ``id`` None, for the coding role, means the bank that the project's identity gives.

    ``role`` is a free word; ``coding`` and the two of ``USER_ROLES`` have a meaning of their own.
    """

    id: str | None
    role: str = CODING
    enabled: bool = True
    access: Access = Access.READ_WRITE
    retain_mode: RetainMode = field(default=Factory(lambda self: default_mode(self.role), takes_self=True))

    @property
    def is_user(self) -> bool:
        """Whether it is the bank that knows the person."""
        return self.role in USER_ROLES

    @property
    def readable(self) -> bool:
        """Whether recall may ask it."""
        return self.enabled and self.access is not Access.WRITE

    @property
    def writable(self) -> bool:
        """Whether anything may be retained in it, by hand or automatically."""
        return self.enabled and self.access is not Access.READ

    @property
    def retained_always(self) -> bool:
        """Whether every retained turn goes to it."""
        return self.writable and self.retain_mode is RetainMode.ALWAYS

    @property
    def retained_by_decision(self) -> bool:
        """Whether a turn goes to it where the decision model says so."""
        return self.writable and self.retain_mode is RetainMode.DECISION
