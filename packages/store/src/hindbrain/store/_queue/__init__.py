"""Where decided retains wait, durably, until a memory has taken them."""

from hindbrain.store._queue._async import AsyncQueue
from hindbrain.store._queue._errors import JobDamagedError, JobRefusedError, UnknownJobError
from hindbrain.store._queue._merge import candidate, may_merge
from hindbrain.store._queue._queue import BeforeDrop, DurableQueue
from hindbrain.store._queue._values import (
    DeadLetter,
    Head,
    QueueCounts,
    QueuedJob,
    Reason,
    SetAside,
    TakenJob,
    Verification,
)

__all__ = [
    "AsyncQueue",
    "BeforeDrop",
    "DeadLetter",
    "DurableQueue",
    "Head",
    "JobDamagedError",
    "JobRefusedError",
    "QueueCounts",
    "QueuedJob",
    "Reason",
    "SetAside",
    "TakenJob",
    "UnknownJobError",
    "Verification",
    "candidate",
    "may_merge",
]
