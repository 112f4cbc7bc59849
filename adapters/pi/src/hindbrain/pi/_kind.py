"""pi, as the commands that install its shim know it. Source: spec/pi-host.md section 6."""

from __future__ import annotations

from pathlib import Path

import hindbrain.bridge
from hindbrain.generic.hosts import HostKind
from hindbrain.pi import VERSION

KIND = HostKind(
    name="pi",
    version=VERSION,
    module="hindbrain.pi",
    shim=Path(__file__).with_name("shim") / "index.ts",
    core=Path(hindbrain.bridge.__file__).with_name("shim") / "core.ts",
    protocol=hindbrain.bridge.PROTOCOL,
    home=".pi/agent",
    manifest="pi",
)
