"""Waits that always end: by success, by their deadline, or by a signal."""

import signal
import time
from collections.abc import Callable
from types import FrameType

PAUSE = 0.05


class LiveError(Exception):
    """The live server cannot be had. The message says what happened, where to look, and what to do."""


class StoppedError(LiveError):
    """A signal asked for the end."""

    def __init__(self, signum: int) -> None:
        super().__init__(f"Stopped by {signal.Signals(signum).name}.")
        self.signum = signum


class StopRequest:
    """Remembers the first INT, TERM or HUP.

    The handler only takes a note and every wait looks at it, so that a signal is never an exception in the middle of
    a start (a process not yet on the list of things to stop) or of a cleanup.
    """

    def __init__(self) -> None:
        self.signum: int | None = None

    def listen(self) -> None:
        """Take the signals over. Main thread only."""
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, self._note)

    def _note(self, signum: int, _frame: FrameType | None) -> None:
        self.signum = self.signum or signum

    def check(self) -> None:
        """Raise StoppedError if a signal has come."""
        if self.signum is not None:
            raise StoppedError(self.signum)


def holds_within(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether ``condition`` came true within ``seconds``. Never interrupted: made for cleanup."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= end:
            return False
        time.sleep(PAUSE)
    return True


def wait_until(condition: Callable[[], bool], seconds: float, what: str, stop: StopRequest) -> None:
    """Wait for ``condition``.

    Raises:
        StoppedError: a signal came first.
        LiveError: it did not come true within ``seconds``; ``what`` names it in the message.
    """

    def ready() -> bool:
        stop.check()
        return condition()

    if not holds_within(ready, seconds):
        raise LiveError(f"{what} took more than {seconds:.0f} s, so the start was given up and undone.")
