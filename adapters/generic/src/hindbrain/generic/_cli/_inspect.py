"""``hindbrain doctor | config show`` and the versions: commands that only look."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import attrs

from hindbrain.contracts import Endpoint, InvalidValueError
from hindbrain.generic._cli._run import Options, finish, run, settings_for
from hindbrain.generic._config import Settings
from hindbrain.generic._doctor import examine
from hindbrain.generic._envelope import Envelope, Exit

DISTS = ("hindbrain-contracts", "hindbrain-client", "hindbrain-store", "hindbrain-memory", "hindbrain-generic")


def versions() -> dict[str, str]:
    """The installed version of every hindbrain dist, by name."""
    return {name: importlib.metadata.version(name) for name in DISTS}


def show_versions(*, as_json: bool) -> None:
    """Print the versions and leave."""
    found = versions()
    text = "\n".join(f"{name} {version}" for name, version in found.items())
    finish(Envelope(command="version", data={"versions": found}, text=text), Options(as_json=as_json))


def doctor(options: Options, *, online: bool) -> None:
    """Examine the set-up."""

    async def work(settings: Settings) -> Envelope:
        findings = await examine(settings, online=online)
        bad = any(finding.level == "problem" for finding in findings)
        lines = [f"{f.level:8s} {f.check:9s} {f.text}{f'  → {f.advice}' if f.advice else ''}" for f in findings]
        return Envelope(
            command="doctor",
            data={"findings": [attrs.asdict(f) for f in findings], "versions": versions()},
            text="\n".join(lines),
            exit=Exit.FAILED if bad else Exit.OK,
        )

    run("doctor", options, work)


def _plain(value: object) -> Any:
    return list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value


def _refusals(settings: Settings) -> dict[str, str]:
    """What is wrong with each address that is refused. Such a one may hold a password, so it is never shown."""
    found: dict[str, str] = {}
    for path in ("hindsight.baseUrl", "embedder.baseUrl"):
        if settings[path] is not None:
            try:
                Endpoint.parse(settings[path], field=path)
            except InvalidValueError as error:
                found[path] = str(error)
    return found


def config_show(options: Options, *, origin: bool) -> None:
    """Print every effective setting as it would stand in a file; ``origin`` adds where it came from."""
    settings = settings_for(options)
    refusals = _refusals(settings)
    shown = {p: "(refused)" if p in refusals else _plain(setting.value) for p, setting in settings.values.items()}
    data: dict[str, Any] = {"settings": shown}
    if origin:
        data["origins"] = {path: setting.origin for path, setting in settings.values.items()}
    lines = [
        f"{path} = {json.dumps(shown[path], ensure_ascii=False)}" + (f"    ({setting.origin})" if origin else "")
        for path, setting in settings.values.items()
    ]
    warnings = (*settings.warnings, *refusals.values())
    finish(Envelope(command="config show", data=data, text="\n".join(lines), warnings=warnings), options)
