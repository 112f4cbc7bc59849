"""What a run says on standard error."""

import contextlib
import sys
import time
from collections.abc import Iterator


def say(text: str) -> None:
    """One line for the person who waits."""
    print(f"[live] {text}", file=sys.stderr, flush=True)


class Stopwatch:
    """Times a step that begins at one place of the code and ends at another."""

    def __init__(self, step: str) -> None:
        self._step = step
        self._begin: float | None = None

    def start(self) -> None:
        self._begin = time.monotonic()

    def report(self, remark: str = "") -> None:
        """Say how long it took; nothing if it never began."""
        if self._begin is not None:
            say(f"{self._step:<10} {time.monotonic() - self._begin:6.1f} s{remark and f' ({remark})'}")


@contextlib.contextmanager
def timed(step: str) -> Iterator[None]:
    """Say what the block took, if it succeeded."""
    watch = Stopwatch(step)
    watch.start()
    yield
    watch.report()
