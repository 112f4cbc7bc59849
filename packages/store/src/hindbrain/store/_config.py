"""What can be set about the embedded backend."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import Factory, frozen

from hindbrain.contracts import Budget


def _depths() -> Mapping[Budget, int]:
    return {Budget.LOW: 100, Budget.MID: 200, Budget.HIGH: 600}


@frozen(kw_only=True)
class EmbeddedConfig:
    """Settings of an :class:`~hindbrain.store.EmbeddedBackend`.

    Attributes:
        busy_timeout: seconds to wait for another process before :class:`~hindbrain.store.StoreBusyError`.
        depth: how many facts each budget looks at closely.
        postings: how many index entries one question may walk through; the rarest words are taken first.
        most_banks: how many databases stay open at once.
    """

    busy_timeout: float = 5.0
    depth: Mapping[Budget, int] = Factory(_depths)
    postings: int = 8_000
    most_banks: int = 16
