"""Read-only checks that say why memory is or is not working."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import stat
import uuid
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

from attrs import frozen

from hindbrain.contracts import BackendError, Endpoint, EnvToken, HindbrainError, InvalidValueError
from hindbrain.generic._config import Settings, memory_config
from hindbrain.generic._open import check_destination, data_dir, find_project, open_backend, token_policy
from hindbrain.memory import MemoryConfig, Project, observation_scopes, project_bank, recall_scopes


@frozen(kw_only=True)
class Finding:
    """One check. ``level`` is ok, warning or problem; a problem makes the command fail."""

    check: str
    level: str
    text: str
    advice: str = ""


async def _identity(settings: Settings) -> list[Finding]:
    config = memory_config(settings)
    project = await find_project(str(Path.cwd()), settings)
    banks = ", ".join(scope.bank for scope in recall_scopes(config, project, "cli"))
    return [
        Finding(check="project", level="ok", text=f"{project.id} (by {project.how}), root {project.root}"),
        Finding(check="banks", level="ok", text=banks),
        *_observations(config, project),
    ]


def _observations(config: MemoryConfig, project: Project) -> list[Finding]:
    """The observation scopes as a turn's job would carry them; the session's own id is left as its placeholder."""
    bank = project_bank(config, project)
    scopes = observation_scopes(config, project, host="cli", session="<sessionId>", bank=bank)
    advice = "Mend observations.scopes; `hindbrain config show` says which file sets it."
    problems = [Finding(check="observations", level="problem", text=text, advice=advice) for text in scopes.problems]
    if scopes.rows is None:
        text = "jobs name no observation scopes; the server chooses"
    else:
        text = json.dumps(scopes.rows, ensure_ascii=False)
    return [*problems, Finding(check="observations", level="ok", text=text)]


def _fts5() -> Finding:
    try:
        sqlite3.connect(":memory:").execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='trigram')")
    except sqlite3.Error:
        return Finding(
            check="sqlite",
            level="problem",
            text=f"SQLite {sqlite3.sqlite_version} has no FTS5 with trigrams.",
            advice="Use a Python whose SQLite is 3.34 or newer with FTS5.",
        )
    return Finding(check="sqlite", level="ok", text=f"SQLite {sqlite3.sqlite_version} with FTS5")


def _folder(settings: Settings) -> Finding:
    banks = data_dir(settings) / "banks"
    if not banks.exists():
        return Finding(check="store", level="ok", text=f"{banks} does not exist yet; the first retain makes it")
    mode = stat.S_IMODE(banks.stat().st_mode)
    if mode & 0o077:
        return Finding(
            check="store",
            level="problem",
            text=f"{banks} can be read by others (mode {mode:04o}).",
            advice=f"Run: chmod 700 {banks}",
        )
    return Finding(check="store", level="ok", text=f"{banks}, {len(_databases(settings))} databases")


def _databases(settings: Settings) -> list[Path]:
    return sorted((data_dir(settings) / "banks").glob("*.sqlite"))


def _database(path: Path) -> Finding | None:
    """What is wrong with a database, or None. It is opened to be read only."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=1)) as connection:
            sound = connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
    except sqlite3.OperationalError:
        return Finding(
            check="database",
            level="problem",
            text=f"{path.name} could not be opened and read.",
            advice="Look for a process that holds it, and check the rights and the disk.",
        )
    except sqlite3.DatabaseError:
        sound = False
    if sound:
        return None
    return Finding(
        check="database",
        level="problem",
        text=f"{path.name} is damaged, or no database.",
        advice="Move it away to begin anew, or restore a copy; hindbrain never deletes it.",
    )


async def _local(settings: Settings) -> list[Finding]:
    looked = [await asyncio.to_thread(_database, path) for path in _databases(settings)]
    return [_fts5(), _folder(settings), *filter(None, looked)]


async def _server(settings: Settings, *, online: bool) -> list[Finding]:
    check_destination(settings)
    endpoint = Endpoint.parse(settings["hindsight.baseUrl"])
    policy = token_policy(settings["hindsight.apiKeyRef"])
    found = [Finding(check="server", level="ok", text=f"{endpoint.url}, token by {type(policy).__name__}")]
    if isinstance(policy, EnvToken) and not os.environ.get(policy.name, "").strip():
        advice = f"Export {policy.name} before the agent starts."
        found.append(Finding(check="token", level="problem", text="The named variable is not set.", advice=advice))
    elif online:
        found.append(await _reach(settings))
    return found


async def _reach(settings: Settings) -> Finding:
    """A status call on a random id: reachable and authorised if it answers ``not_found``."""
    async with open_backend(settings) as backend:
        try:
            state = await backend.status("hindbrain-doctor", str(uuid.uuid4()))
        except BackendError as error:
            return Finding(check="reach", level="problem", text=error.what, advice=error.next_step)
    return Finding(check="reach", level="ok", text=f"answers, and knows no such operation ({state.status.value})")


async def examine(settings: Settings, *, online: bool) -> list[Finding]:
    """Run every check; one that raises becomes a problem of its own and stops no other.

    Args:
        settings: the effective settings.
        online: also contact the selected server. Without it nothing leaves this machine.
    """
    findings = [Finding(check="settings", level="warning", text=warning) for warning in settings.warnings]
    checks: dict[str, Callable[[], Awaitable[list[Finding]]]] = {"project": lambda: _identity(settings)}
    if settings["backend"] == "local":
        checks["store"] = lambda: _local(settings)
    else:
        checks["server"] = lambda: _server(settings, online=online)
    for name, check in checks.items():
        try:
            findings += await check()
        except HindbrainError as error:
            next_step = error.next_step or (error.expected if isinstance(error, InvalidValueError) else "")
            findings.append(Finding(check=name, level="problem", text=error.what, advice=next_step))
    return findings
