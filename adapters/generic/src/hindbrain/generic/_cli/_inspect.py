"""``hindbrain doctor`` and the versions: commands that only look."""

from __future__ import annotations

import asyncio
import importlib.metadata
from pathlib import Path

import attrs

from hindbrain.generic._cli._run import Options, finish, places, run
from hindbrain.generic._config import Settings
from hindbrain.generic._doctor import Finding, examine
from hindbrain.generic._doctor._finding import ok, problem
from hindbrain.generic._envelope import Envelope, Exit

DISTS = tuple(f"hindbrain-{room}" for room in ("contracts", "client", "store", "memory", "observe", "generic"))


def versions() -> dict[str, str]:
    """The installed version of every hindbrain dist, by name."""
    return {name: importlib.metadata.version(name) for name in DISTS}


def show_versions(*, as_json: bool) -> None:
    """Print the versions and leave."""
    found = versions()
    text = "\n".join(f"{name} {version}" for name, version in found.items())
    finish(Envelope(command="version", data={"versions": found}, text=text), Options(as_json=as_json))


def doctor(options: Options, *, online: bool, start: bool, host: str, state_dir: str | None) -> None:
    """Examine the set-up; with ``start`` the host, too."""

    async def work(settings: Settings) -> Envelope:
        folder = None if state_dir is None else Path(state_dir)
        found = await examine(settings, online=online, places=places(options), host=host, state_dir=folder)
        found += await _started(host) if start else []
        counts = {level: sum(each.level == level for each in found) for level in ("problem", "warning")}
        lines = [f"{f.level:8s} {f.check:13s} {f.text}{f'  → {f.advice}' if f.advice else ''}" for f in found]
        lines.append(f"problems: {counts['problem']}, warnings: {counts['warning']}")
        return Envelope(
            command="doctor",
            data={
                "findings": [attrs.asdict(each, recurse=False) for each in found],
                "problems": counts["problem"],
                "warnings": counts["warning"],
                "versions": versions(),
            },
            text="\n".join(lines),
            exit=Exit.FAILED if counts["problem"] else Exit.OK,
        )

    run("doctor", options, work)


async def _started(host: str) -> list[Finding]:
    """Each seam of the real host, as a finding."""
    from hindbrain.generic.hosts import kind_of, try_host

    seams = await asyncio.to_thread(try_host, kind_of(host))
    return [
        ok(f"{host} {seam.name}", seam.text) if seam.holds else problem(f"{host} {seam.name}", seam.text, seam.advice)
        for seam in seams
    ]
