"""The bar of an import: how far it is, how fast, and how long it will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

import click


def rate_text(done: int, seconds: float, unit: str) -> str:
    """How fast it goes, as ``12.3 MB/s``; nothing where no time has passed."""
    if seconds <= 0:
        return ""
    amount = done / 1_000_000 if unit == "MB" else done
    return f"{amount / seconds:.1f} {unit}/s"


class Bar:
    """A bar on stderr with percent, time left and rate.

    Args:
        label: what is going on.
        length: how much there is to do.
        unit: what the rate is in: ``MB`` for a length in bytes, else what is counted.
        clock: seconds.
    """

    def __init__(self, label: str, length: int, unit: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._unit = unit
        self._clock = clock
        self._begun = clock()
        self._done = 0
        self._bar = click.progressbar(
            length=length,
            label=label,
            file=sys.stderr,
            width=30,
            show_percent=True,
            show_eta=True,
            item_show_func=lambda rate: rate,
        )

    def __enter__(self) -> Self:
        self._bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.__exit__(kind, error, trace)

    def add(self, done: int) -> None:
        """So much more is done."""
        self._done += done
        self._bar.update(done, rate_text(self._done, self._clock() - self._begun, self._unit))
