"""The sidecar of pi: what the shim starts."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from hindbrain.bridge import serve
from hindbrain.pi import VERSION

if TYPE_CHECKING:
    from hindbrain.bridge import Handlers, Peer

NAME = "pi"


def surface() -> str:
    """The file of tools and commands. It lies in generic, which is found but not imported before the first answer."""
    generic = find_spec("hindbrain.generic")
    door = generic.origin if generic is not None else None
    return f"{(door or '').removesuffix('__init__.py')}sidecar/surface.json"


def load(peer: Peer) -> Handlers:
    """Bring the application up, once the host has its first answer."""
    from hindbrain.generic.sidecar import Application, settings_at

    agent_dir = str(peer.hello.get("agentDir") or os.path.expanduser("~/.pi/agent"))  # noqa: PTH111 - pathlib comes later
    return Application(peer, NAME, lambda cwd: settings_at(NAME, agent_dir, cwd), agent_dir).handlers()


def main() -> None:
    """Serve the host on standard input and output until it is gone."""
    serve(surface(), load, VERSION)


if __name__ == "__main__":
    main()
