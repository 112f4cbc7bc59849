"""What can go wrong with session records."""

from __future__ import annotations

from hindbrain.contracts import InvalidValueError, Outcome
from hindbrain.store._errors import StoreError


class RecordValueError(InvalidValueError):
    """A mode, tag or session id does not have its form; the session's record was not changed."""

    code = "session-record-value"


class RecordDistrustedError(StoreError):
    """This session's record cannot be believed and everything is off for it; nothing was changed."""

    code = "session-record-distrusted"
    outcome = Outcome.NOT_SENT
    advice = "Set a mode for the session first: a new record then takes the place of the broken one."


class RecordNewerError(StoreError):
    """A newer version of hindbrain wrote this session's record; it was not changed, and the session stays ignored."""

    code = "session-record-newer"
    outcome = Outcome.NOT_SENT
    advice = "Upgrade hindbrain on this machine."
