"""One host process in RPC mode: JSON lines both ways, and a deadline on every wait."""

import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

Frame = dict[str, Any]

ANSWER_SECONDS = 120.0
"""A whole prompt with its tool calls; real ones take a few seconds."""
EXIT_SECONDS = 15.0


class HostFailedError(RuntimeError):
    """The host left, hung, or refused; the message holds the end of its stderr."""


class RpcHost:
    """A running host; leaving the context ends it, politely first."""

    def __init__(self, argv: list[str], cwd: Path, env: Mapping[str, str]) -> None:
        self.frames: list[Frame] = []
        self._inbox: queue.Queue[Frame | None] = queue.Queue()
        self._stderr: list[str] = []
        self._sent = 0
        pipe = subprocess.PIPE
        # A session of its own, so that ending the group reaches whatever the host has started and nothing else.
        self._process = subprocess.Popen(
            argv, cwd=cwd, env=env, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
        self._readers = [threading.Thread(target=read, daemon=True) for read in (self._read, self._read_errors)]
        for reader in self._readers:
            reader.start()

    def request(self, kind: str, **fields: Any) -> Any:
        """Send one command and return the `data` of its response; HostFailedError when it is refused."""
        identity = self.send(kind, **fields)
        found = self.wait(lambda f: f.get("type") == "response" and f.get("id") == identity)
        if not found.get("success"):
            raise HostFailedError(f"{kind} was refused: {found.get('error')}")
        return found.get("data")

    def send(self, kind: str, **fields: Any) -> str:
        """Send one command without waiting and return its id."""
        self._sent += 1
        frame = {"id": f"r{self._sent}", "type": kind, **fields}
        stdin = self._process.stdin
        if stdin is None:
            raise HostFailedError("the host has no stdin")
        stdin.write(json.dumps(frame).encode() + b"\n")
        stdin.flush()
        return str(frame["id"])

    def wait(self, wanted: Callable[[Frame], bool], seconds: float = ANSWER_SECONDS) -> Frame:
        """Return the next frame that is wanted, dropping the others."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                frame = self._inbox.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                raise HostFailedError(f"no answer within {seconds:.0f} s. {self._last_words()}") from None
            if frame is None:
                raise HostFailedError(f"the host left early. {self._last_words()}")
            if wanted(frame):
                return frame

    def close(self) -> None:
        """Close stdin, wait for the host to leave by itself, and end its group if it does not."""
        if self._process.stdin is not None:
            # A host that left early has broken the pipe already.
            with suppress(BrokenPipeError):
                self._process.stdin.close()
        for ending in (signal.SIGTERM, signal.SIGKILL):
            if self._has_left():
                break
            os.killpg(self._process.pid, ending)
        self._process.wait(EXIT_SECONDS)
        for reader, pipe in zip(self._readers, (self._process.stdout, self._process.stderr), strict=True):
            # What the host has started may hold the pipe a little longer than the host.
            reader.join(EXIT_SECONDS)
            if pipe is not None and not reader.is_alive():
                pipe.close()

    def kill(self) -> None:
        """Kill the host alone, as a user or the kernel may: nothing it has started is told."""
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait(EXIT_SECONDS)

    def _has_left(self) -> bool:
        try:
            self._process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            return False
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            if line.startswith(b"{"):
                frame = json.loads(line)
                self.frames.append(frame)
                self._inbox.put(frame)
        self._inbox.put(None)

    def _read_errors(self) -> None:
        for line in self._process.stderr or ():
            self._stderr.append(line.decode(errors="replace"))

    def _last_words(self) -> str:
        return "stderr ends with: " + "".join(self._stderr)[-800:]
