"""Where the settings of a host's session lie. Source: architecture.md, "Files a user sees"."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from hindbrain.generic._config import Places, Settings, load_settings


def host_places(host: str, agent_dir: str, cwd: str) -> Places:
    """The host's own folder for the user's settings, and the project's ``.pi`` or ``.omp`` for its own."""
    here = Path(cwd)
    folder = f".{host}"
    root = next((each for each in (here, *here.parents) if (each / ".git").exists() or (each / folder).is_dir()), None)
    if root == Path.home():
        root = None  # the host's own folder lies there, and is no project's
    return Places(home=Path.home(), config_dir=Path(agent_dir), project_dir=root / folder if root else None)


async def settings_at(host: str, agent_dir: str, cwd: str) -> Settings:
    """The effective settings of a session in this directory."""
    return await asyncio.to_thread(lambda: load_settings(host_places(host, agent_dir, cwd), os.environ))
