"""The real sidecar, which dies by SIGKILL where a file tells it to.

``python -I killed_sidecar.py HOST FILE``: FILE holds ``METHOD before`` or ``METHOD after``; the process that meets that
call first takes the file away and is killed: before the call is served, or when it has been and nobody has heard.
"""

import importlib
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from hindbrain.bridge import serve

Serve = Callable[[Any], Awaitable[Any]]


def deadly(method: str, handler: Serve, file: Path) -> Serve:
    async def serve_or_die(params: Any) -> Any:
        die(f"{method} before", file)
        answer = await handler(params)
        die(f"{method} after", file)
        return answer

    return serve_or_die


def die(moment: str, file: Path) -> None:
    if file.exists() and file.read_text("utf-8") == moment:
        file.unlink()
        os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    host, file = sys.argv[1], Path(sys.argv[2])
    real = importlib.import_module(f"hindbrain.{host}.__main__")

    def load(peer: Any) -> Any:
        return {method: deadly(method, handler, file) for method, handler in real.load(peer).items()}

    serve(real.surface(), load, "0")


if __name__ == "__main__":
    main()
