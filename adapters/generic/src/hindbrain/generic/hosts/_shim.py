"""The files of an installed shim."""

from __future__ import annotations

import json
from pathlib import Path

from hindbrain.generic.hosts._kinds import HostKind

MARKER = "package.json"
"""Says whose folder it is, and which version."""


def shim_files(kind: HostKind, python: str) -> dict[str, bytes]:
    """What is written, by name.

    Args:
        kind: the host.
        python: the absolute path of the interpreter that runs the sidecar.
    """
    package = {
        "name": f"hindbrain-{kind.name}",
        "version": kind.version,
        "private": True,
        "type": "module",
        kind.manifest: {"extensions": ["./index.ts"]},
    }
    command = {"command": [python, "-I", "-m", kind.module], "version": kind.version, "protocol": kind.protocol}
    return {
        "core.ts": kind.core.read_bytes(),
        "index.ts": kind.shim.read_bytes(),
        "shim.json": _json(command),
        MARKER: _json(package),
    }


def marked_version(folder: Path) -> str | None:
    """The version of the shim in a folder, None where there is none of ours."""
    try:
        marker = json.loads((folder / MARKER).read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(marker, dict) or not str(marker.get("name", "")).startswith("hindbrain-"):
        return None
    return str(marker.get("version", ""))


def _json(value: object) -> bytes:
    return json.dumps(value, indent=2).encode() + b"\n"
