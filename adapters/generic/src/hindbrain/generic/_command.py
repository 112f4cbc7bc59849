"""Where the ``hindbrain`` command begins: nothing is loaded yet, so that an interrupt is told as such at any moment."""

from __future__ import annotations

import sys

INTERRUPTED = 130
"""The exit code of a command that was interrupted, as a shell gives it."""


def main() -> None:
    """Run the command line."""
    try:
        from hindbrain.generic._cli import main as commands

        commands()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(INTERRUPTED) from None
