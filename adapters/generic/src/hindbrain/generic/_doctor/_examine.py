"""All checks, in the order in which they explain one another."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from attrs import evolve

from hindbrain.contracts import HindbrainError, InvalidValueError
from hindbrain.generic._config import Places, Settings, memory_config
from hindbrain.generic._doctor._case import Case
from hindbrain.generic._doctor._finding import Finding, problem
from hindbrain.generic._doctor._local import local
from hindbrain.generic._doctor._online import online as ask
from hindbrain.generic._doctor._project import identity
from hindbrain.generic._doctor._server import server
from hindbrain.generic._doctor._settings import settings as settings_findings
from hindbrain.generic._doctor._state import state
from hindbrain.generic._open import find_project
from hindbrain.memory import NoProjectError

Check = Callable[[Case], Awaitable[Iterable[Finding]]]


async def examine(
    settings: Settings,
    *,
    online: bool,
    places: Places | None = None,
    host: str = "generic",
    state_dir: Path | None = None,
    cwd: str | None = None,
) -> list[Finding]:
    """Run every check; one that raises becomes a problem of its own and stops no other. Nothing is changed or made.

    Args:
        settings: the effective settings.
        online: also contact the selected server, or the embedder. Without it nothing leaves this machine.
        places: where the settings lie, for what is said of their files.
        host: generic, pi or omp: whose tags and state folder are meant.
        state_dir: the state folder itself, in place of the project's.
        cwd: the directory whose project is meant; None is the present one.
    """
    here = cwd or str(Path.cwd())
    config = memory_config(settings)
    case = Case(settings=settings, config=config, host=host, places=places, state_dir=state_dir, cwd=here)
    findings = [*await _guarded("settings", _in_thread(settings_findings), case)]
    try:
        case = evolve(case, project=await find_project(here, settings))
    except (NoProjectError, OSError) as error:
        findings.append(_failure("project", error))
    checks: dict[str, Check] = {"project": _in_thread(identity), "state": _in_thread(state)}
    checks |= {"store": _in_thread(local)} if settings["backend"] == "local" else {"server": server}
    if online:
        checks["online"] = ask
    for name, check in checks.items():
        # What cannot be used offline is not asked either: that would send to a doubtful place, or say the same twice.
        if name != "online" or not any(f.check in {"server", "token"} and f.level == "problem" for f in findings):
            findings += await _guarded(name, check, case)
    return findings


def _in_thread(check: Callable[[Case], Iterable[Finding]]) -> Check:
    """A check that blocks, beside the event loop."""
    return lambda case: asyncio.to_thread(lambda: list(check(case)))


async def _guarded(name: str, check: Check, case: Case) -> list[Finding]:
    try:
        return list(await check(case))
    except Exception as error:  # noqa: BLE001  (whatever is broken, the rest is looked at)
        return [_failure(name, error)]


def _failure(name: str, error: Exception) -> Finding:
    if not isinstance(error, HindbrainError):
        return problem(name, f"It could not be looked at ({type(error).__name__}).", "Check the rights and the disk.")
    next_step = error.next_step or (error.expected if isinstance(error, InvalidValueError) else "")
    return problem(name, error.what, next_step, code=error.code)
