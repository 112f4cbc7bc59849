"""The shim of one host as it is installed: its two files in one folder, and the file that names the sidecar."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from _pinned.install import ROOT

CORE = ROOT / "packages/bridge/src/hindbrain/bridge/shim/core.ts"


def index_of(host: str) -> Path:
    """The file of the shim that only this host has."""
    return ROOT / f"adapters/{host}/src/hindbrain/{host}/shim/index.ts"


def assemble(host: str, folder: Path, command: Sequence[str], version: str = "0") -> Path:
    """Write the extension's folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in (CORE, index_of(host)):
        shutil.copyfile(source, folder / source.name)
    manifest = {"extensions": ["./index.ts"]}
    package = {"name": "hindbrain", "version": version, "private": True, "type": "module", host: manifest}
    (folder / "package.json").write_text(json.dumps(package), "utf-8")
    config = {"command": list(command), "version": version, "protocol": 1}
    (folder / "shim.json").write_text(json.dumps(config), "utf-8")
    return folder
