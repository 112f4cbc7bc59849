"""``hindbrain install``, ``uninstall`` and ``hosts``."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from hindbrain.generic._cli._run import Options, run
from hindbrain.generic._config import Settings
from hindbrain.generic._envelope import Envelope, Exit
from hindbrain.generic._open import data_dir
from hindbrain.generic.hosts import HostKind, Installed, install, kind_of, kinds, shim_files, survey, uninstall
from hindbrain.memory import read_checkout

_TRUST = {"pi": "pi loads it once you trust this project in pi."}
"""What a host asks for before it loads what a project brings."""


def _folder(kind: HostKind, *, project: bool) -> Path:
    if project:
        root = Path(read_checkout(str(Path.cwd()), home=str(Path.home())).root)
        return kind.project_folder(root)
    return kind.user_folder(os.environ, Path.home())


def _look(kind: HostKind, folder: Path) -> Installed:
    settings = None if kind.settings is None else kind.agent_dir(os.environ, Path.home()) / kind.settings
    return survey(kind, folder, settings=settings)


def put(options: Options, host: str, *, project: bool, print_path: bool, dry_run: bool) -> None:
    """Install the shim; with ``print_path`` in our own data folder, for a host that is told of it by hand."""

    async def work(settings: Settings) -> Envelope:
        kind = kind_of(host)
        own = data_dir(settings) / "shims" / kind.name / "extensions" / "hindbrain"
        folder = own if print_path else _folder(kind, project=project)
        files = shim_files(kind, sys.executable)
        placed = install(folder, files, dry_run=dry_run)
        data = {"host": kind.name, "folder": str(folder), "version": kind.version, "result": placed.value}
        if dry_run:
            data["result"] = f"would be {placed.value}"
        text = str(folder) if print_path else f"{data['result']}: {folder} (version {kind.version})"
        warnings = list(_look(kind, folder).problems) if not dry_run and not print_path else []
        if project and kind.name in _TRUST:
            warnings.append(_TRUST[kind.name])
        return Envelope(command="install", data={**data, "files": sorted(files)}, text=text, warnings=warnings)

    run("install", options, work)


def take_away(options: Options, host: str, *, project: bool, dry_run: bool) -> None:
    """Remove the shim. Settings and memories stay."""

    async def work(_settings: Settings) -> Envelope:
        kind = kind_of(host)
        folder = _folder(kind, project=project)
        placed = uninstall(folder, dry_run=dry_run)
        result = f"would be {placed.value}" if dry_run else placed.value
        data = {"host": kind.name, "folder": str(folder), "result": result}
        return Envelope(command="uninstall", data=data, text=f"{result}: {folder}")

    run("uninstall", options, work)


def show(options: Options) -> None:
    """Say what is installed where, and what is in its way."""

    async def work(_settings: Settings) -> Envelope:
        found = [_look(kind, folder) for kind in kinds().values() for folder in _folders(kind)]
        rows = [
            {
                "host": each.host,
                "folder": str(each.folder),
                "version": each.version,
                "problems": list(each.problems),
            }
            for each in found
        ]
        lines = [f"{each.host:4s} {each.version or '-':8s} {each.folder}" for each in found]
        text = "\n".join(lines) or "No adapter is installed in this environment; see hindbrain-pi and hindbrain-omp."
        problems = [f"{each.host}: {problem}" for each in found if each.version for problem in each.problems]
        exit_ = Exit.FAILED if problems else Exit.OK
        return Envelope(command="hosts", data={"hosts": rows}, text=text, warnings=problems, exit=exit_)

    run("hosts", options, work)


def _folders(kind: HostKind) -> list[Path]:
    from hindbrain.memory import NoProjectError

    folders = [_folder(kind, project=False)]
    with contextlib.suppress(NoProjectError):
        folders.append(_folder(kind, project=True))
    return folders
