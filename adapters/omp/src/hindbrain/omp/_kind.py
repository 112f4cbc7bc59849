"""omp, as the commands that install its shim know it. Source: spec/omp-host.md sections 2 and 8."""

from __future__ import annotations

from pathlib import Path

import hindbrain.bridge
from hindbrain.generic.hosts import HostKind
from hindbrain.omp import VERSION

KIND = HostKind(
    name="omp",
    version=VERSION,
    module="hindbrain.omp",
    shim=Path(__file__).with_name("shim") / "index.ts",
    core=Path(hindbrain.bridge.__file__).with_name("shim") / "core.ts",
    protocol=hindbrain.bridge.PROTOCOL,
    home=".omp/agent",
    profiles=("OMP_PROFILE", ".omp/profiles"),
    manifest="omp",
    settings="config.yml",
)
