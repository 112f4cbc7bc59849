"""Where the settings of a host's session lie."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from hindbrain.generic._config import Settings, host_places, load_settings
from hindbrain.generic._observe import local_zone


def zone_here() -> str:
    """The zone of whoever sits at the host."""
    return local_zone(os.environ.get("TZ", ""))


async def settings_at(host: str, agent_dir: str, cwd: str) -> Settings:
    """The effective settings of a session in this directory."""
    return await asyncio.to_thread(lambda: load_settings(host_places(host, Path(agent_dir), Path(cwd)), os.environ))
