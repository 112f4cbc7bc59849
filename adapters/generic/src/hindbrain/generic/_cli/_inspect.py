"""``hindbrain doctor | config show`` and the versions: commands that only look."""

from __future__ import annotations

import importlib.metadata
import json
from typing import Any

import attrs

from hindbrain.generic._cli._run import Options, finish, run, settings_for
from hindbrain.generic._config import Settings, plain
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


def config_show(options: Options, *, origin: bool) -> None:
    """Print every effective setting as it would stand in a file; ``origin`` adds where it came from."""
    settings = settings_for(options)
    doubtful = settings.doubtful
    shown = {p: "(refused)" if p in doubtful else plain(setting.value) for p, setting in settings.values.items()}
    origins = {path: doubtful.get(path, setting.origin) for path, setting in settings.values.items()}
    data: dict[str, Any] = {"settings": shown}
    if origin:
        data["origins"] = origins
    lines = [
        f"{path} = {json.dumps(value, ensure_ascii=False)}" + (f"    ({origins[path]})" if origin else "")
        for path, value in shown.items()
    ]
    finish(Envelope(command="config show", data=data, text="\n".join(lines), warnings=settings.warnings), options)
