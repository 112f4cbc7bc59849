"""How patient the flusher is."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge


@frozen(kw_only=True)
class FlushPolicy:
    """Settings of the flusher.

    Attributes:
        max_attempts: definite refusals before a job is given up.
        base_backoff: seconds to wait after the first failure; it doubles with each further one.
        max_backoff: the longest wait, in seconds.
        coalesce: send several waiting appends to one document as one.
        max_merge: the most jobs that become one.
        max_merge_length: the most characters they may have together.

    Source: seed "Flush"; spec/memory.md section 7.4 (attempts); the backoff is ours (decisions.md, "Durability").
    """

    max_attempts: int = field(default=5, validator=ge(1))
    base_backoff: float = field(default=1.0, validator=ge(0))
    max_backoff: float = field(default=300.0, validator=ge(0))
    coalesce: bool = False
    max_merge: int = field(default=50, validator=ge(1))
    max_merge_length: int = field(default=500_000, validator=ge(1))
