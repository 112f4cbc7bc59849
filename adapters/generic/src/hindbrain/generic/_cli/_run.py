"""What every command shares: reading settings, running the work, printing the envelope."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import click
from attrs import evolve, frozen

from hindbrain.contracts import Backend, HindbrainError
from hindbrain.generic._command import INTERRUPTED
from hindbrain.generic._config import Layer, Places, Settings, host_places, load_settings, merge
from hindbrain.generic._envelope import Envelope, Exit, exit_for


@frozen(kw_only=True)
class Options:
    """The options that stand on every command. None means the settings decide.

    ``host`` is the host whose settings count; None means the command line's own.
    """

    as_json: bool = False
    backend: str | None = None
    data_dir: str | None = None
    config_dir: str | None = None
    host: str | None = None


def places(options: Options, project: Path | None = None) -> Places:
    """Where this command looks for settings: the platform's folder, and a project's.

    That is the one whose root is ``project``, or else the one around the present directory. A host has its own two.

    Raises:
        NoSuchHostError: the host that is named has no adapter here.
    """
    import platformdirs

    here = Path.cwd() if project is None else project
    if options.host is not None:
        from hindbrain.generic.hosts import kind_of

        agent_dir = options.config_dir or kind_of(options.host).agent_dir(os.environ, Path.home())
        return host_places(options.host, Path(agent_dir), here)
    around = (p for p in (here, *here.parents) if (p / ".git").exists() or (p / ".hindbrain").is_dir())
    root = next(around, None) if project is None else project
    config_dir = options.config_dir or platformdirs.user_config_dir("hindbrain", appauthor=False)
    return Places(home=Path.home(), config_dir=Path(config_dir), project_dir=root / ".hindbrain" if root else None)


def ecosystem_file(where: Places) -> Path:
    """The settings file that the official integrations share, which a variable may name."""
    return where.ecosystem_file(os.environ)


def session_folders() -> tuple[Path, ...]:
    """Where the hosts keep their sessions, which PI_CODING_AGENT_DIR moves.

    Source: spec/pi-host.md section 4; spec/omp-host.md section 4.
    """
    moved = os.environ.get("PI_CODING_AGENT_DIR")
    agents = [Path(moved).expanduser()] if moved else []
    agents += [Path.home() / name / "agent" for name in (".pi", ".omp")]
    return tuple(agent / "sessions" for agent in agents)


def settings_for(options: Options, project: Path | None = None) -> Settings:
    """The settings in effect in a project, as ``places`` finds it; what stands on the command line wins."""
    settings = load_settings(places(options, project), os.environ)
    folder = None if options.data_dir is None else str(Path(options.data_dir).expanduser().absolute())
    said = {"backend": options.backend, "dataDir": folder}
    given = merge([Layer(origin="command line", values={k: v for k, v in said.items() if v is not None})])
    over = {path: setting for path, setting in given.values.items() if setting.origin == "command line"}
    return evolve(settings, values={**settings.values, **over}, warnings=(*settings.warnings, *given.warnings))


def finish(envelope: Envelope, options: Options) -> None:
    """Print data on stdout, warnings on stderr, and leave with the envelope's exit code."""
    if options.as_json:
        click.echo(envelope.as_json())
    else:
        for warning in envelope.warnings:
            click.echo(f"warning: {warning}", err=True)
        if envelope.text:
            click.echo(envelope.text)
        if envelope.error is not None:
            click.echo(f"error: {envelope.error}", err=True)
    sys.exit(envelope.exit)


Work = Callable[[Settings], Awaitable[Envelope]]


def run(command: str, options: Options, work: Work) -> None:
    """Run a command's work and finish; a typed error becomes the envelope's error and an exit code."""
    warnings: tuple[str, ...] = ()
    try:
        settings = settings_for(options)
        warnings = settings.warnings
        envelope = asyncio.run(_awaited(work(settings)))
        envelope = evolve(envelope, warnings=(*warnings, *envelope.warnings))
    except HindbrainError as error:
        envelope = Envelope(command=command, warnings=warnings, error=error, exit=exit_for(error.code))
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        sys.exit(INTERRUPTED)
    finish(envelope, options)


async def _awaited(work: Awaitable[Envelope]) -> Envelope:
    return await work


async def with_backend(settings: Settings, use: Callable[[Backend], Awaitable[Envelope]]) -> Envelope:
    """Open the selected backend, use it, and close it whatever happens."""
    from hindbrain.generic._open import open_backend

    async with open_backend(settings) as backend:
        return await use(backend)


def fail(command: str, error: HindbrainError, **data: object) -> Envelope:
    """An envelope for an error that was met in the middle of the work."""
    return Envelope(command=command, data=data, error=error, exit=exit_for(error.code))


__all__ = ["Envelope", "Exit", "Options", "fail", "finish", "run", "settings_for", "with_backend"]
