"""What can go wrong with a queue that is not the disk's doing."""

from __future__ import annotations

from hindbrain.contracts import Outcome
from hindbrain.store._errors import StoreError


class JobRefusedError(StoreError):
    """The job holds a value that the queue's file cannot carry; nothing of it was kept."""

    code = "job-refused"
    outcome = Outcome.NOT_SENT
    advice = "Give it well-formed text, and ids of at most 512 characters."


class UnknownJobError(StoreError):
    """No job with this id waits or lies among the dead letters; nothing was changed."""

    code = "job-unknown"
    outcome = Outcome.NOT_SENT
    advice = "List the queue; another process may have delivered or moved it."


class JobDamagedError(StoreError):
    """The job's line does not bear this user's seal, so it was set aside and is not sent."""

    code = "job-damaged"
    outcome = Outcome.NOT_SENT
    advice = "Look at what was set aside, and adopt it if it is yours: `hindbrain queue adopt`."
