"""A host in a terminal: in tmux, which can show the screen, or in a bare pseudo-terminal where there is no tmux."""

import fcntl
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

WIDTH, HEIGHT = 100, 30
WAIT_SECONDS = 30.0
KEYS = {"Enter": b"\r", "Escape": b"\x1b", "Tab": b"\t", "Up": b"\x1b[A", "Down": b"\x1b[B", "Space": b" "}
ESCAPES = re.compile(r"\x1b(?:\[[0-9;?<>=]*[ -/]*[@-~]|[\]_P^][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


class Screen(Protocol):
    """What a terminal is to a test."""

    def send(self, text: str) -> None: ...
    def press(self, key: str) -> None: ...
    def text(self) -> str: ...
    def resize(self, columns: int, rows: int) -> None: ...
    def end(self) -> None: ...


class Tmux:
    """A tmux server of its own, reached over a socket of its own."""

    def __init__(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], place: Path) -> None:
        # The socket's path must be short, and the machine's is not.
        self._socket = place / "tmux"
        size = ["-x", str(WIDTH), "-y", str(HEIGHT)]
        # The first command starts the server, whose environment the host inherits.
        self._env: Mapping[str, str] | None = env
        self._run("new-session", "-d", "-s", "host", *size, "-c", str(cwd), *argv)

    def send(self, text: str) -> None:
        self._run("send-keys", "-t", "host", "-l", text)

    def press(self, key: str) -> None:
        self._run("send-keys", "-t", "host", key)

    def text(self) -> str:
        return self._run("capture-pane", "-p", "-t", "host")

    def resize(self, columns: int, rows: int) -> None:
        self._run("resize-window", "-t", "host", "-x", str(columns), "-y", str(rows))

    def end(self) -> None:
        with suppress(subprocess.CalledProcessError):
            self._run("kill-server")

    def _run(self, *words: str) -> str:
        command = ["tmux", "-f", "/dev/null", "-S", str(self._socket), *words]
        done = subprocess.run(command, env=self._env, capture_output=True, text=True, check=True, timeout=20)
        return done.stdout


class Pty:
    """A pseudo-terminal; `text` is all that was written to it so far, without what moves and colours."""

    def __init__(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], _place: Path) -> None:
        self._parts: list[bytes] = []
        pid, self._fd = pty.fork()
        if pid == 0:
            self._fd = 0
            self.resize(WIDTH, HEIGHT)
            os.chdir(cwd)
            os.execvpe(argv[0], list(argv), dict(env))  # noqa: S606  (the program is the test's own)
        self._pid = pid
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def press(self, key: str) -> None:
        os.write(self._fd, KEYS.get(key, key.encode()))

    def text(self) -> str:
        return ESCAPES.sub("", self.written().decode(errors="replace"))

    def written(self) -> bytes:
        """All that was written, escapes and all."""
        return b"".join(self._parts)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def end(self) -> None:
        with suppress(OSError):
            os.killpg(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)

    def _read(self) -> None:
        with suppress(OSError):
            while data := os.read(self._fd, 65536):
                self._parts.append(data)


class Terminal:
    """A running host; leaving the context ends it."""

    def __init__(
        self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], place: Path, kind: type[Tmux | Pty] | None = None
    ) -> None:
        chosen = kind or (Tmux if shutil.which("tmux") else Pty)
        self._screen: Screen = chosen(argv, cwd, env, place)

    def written(self) -> bytes:
        """All that was written to a bare pseudo-terminal, escapes and all; nothing of tmux."""
        return self._screen.written() if isinstance(self._screen, Pty) else b""

    def say(self, text: str) -> None:
        """Type a line and send it."""
        self.write(text)
        self.press("Enter")

    def write(self, text: str) -> None:
        """Type, and wait until the terminal shows it: keys sent together are taken for a paste."""
        self._screen.send(text)
        self.wait(text)

    def press(self, key: str) -> None:
        """Press one key by its name: Enter, Escape, Tab, Up, Down, Space, or a letter."""
        self._screen.press(key)

    def wait(self, text: str, seconds: float = WAIT_SECONDS) -> str:
        """Wait until the screen shows a text, and return the screen."""
        until = time.monotonic() + seconds
        while text not in (screen := self._screen.text()):
            assert time.monotonic() < until, f"{text!r} did not appear on:\n{screen}"
            time.sleep(0.05)
        return screen

    def resize(self, columns: int, rows: int) -> None:
        """Make the terminal smaller or larger."""
        self._screen.resize(columns, rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._screen.end()
