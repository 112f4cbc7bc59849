"""``hindbrain doctor`` and the versions: commands that only look."""

from __future__ import annotations

import importlib.metadata

import attrs

from hindbrain.generic._cli._run import Options, finish, run
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
