"""The ``hindbrain queue`` commands as click sees them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from hindbrain.generic._cli._common import EPILOG, Place, common, options_of

_F = TypeVar("_F", bound=Callable[..., Any])


def of_host(command: _F) -> _F:
    """Whose state folder is meant, and the options every command takes."""
    for option in (
        click.option(
            "--host", type=click.Choice(["generic", "pi", "omp"]), default="generic", help="Whose state folder."
        ),
        click.option("--state-dir", type=Place(None), help="The state folder itself, in place of the project's."),
    ):
        command = option(command)
    return common(command)


@click.group()
def queue() -> None:
    """Look after turns that wait to be retained."""


@queue.command("status", epilog=EPILOG)
@of_host
def status(host: str, state_dir: str | None, **kwargs: Any) -> None:
    """Count what waits, what was given up and what was set aside."""
    from hindbrain.generic._cli import _queue_look

    _queue_look.status(options_of(kwargs), host, state_dir)


@queue.command("flush", epilog=EPILOG)
@click.option("--max-jobs", type=click.IntRange(min=1), help="Send at most so many.")
@of_host
def flush(max_jobs: int | None, host: str, state_dir: str | None, **kwargs: Any) -> None:
    """Send what waits, now."""
    from hindbrain.generic._cli import _queue

    _queue.flush(options_of(kwargs), host, state_dir, max_jobs)


@queue.command("list", epilog=EPILOG)
@of_host
def listing(host: str, state_dir: str | None, **kwargs: Any) -> None:
    """List what waits, in order, without content."""
    from hindbrain.generic._cli import _queue_look

    _queue_look.listing(options_of(kwargs), host, state_dir)


@queue.command("verify", epilog=EPILOG)
@of_host
def verify(host: str, state_dir: str | None, **kwargs: Any) -> None:
    """Check the seal of every line."""
    from hindbrain.generic._cli import _queue_look

    _queue_look.verify(options_of(kwargs), host, state_dir)


@queue.command("adopt", epilog=EPILOG)
@click.option("--yes", is_flag=True, help="Take the lines for your own.")
@click.option("--content", is_flag=True, help="Show what they say.")
@of_host
def adopt(yes: bool, content: bool, host: str, state_dir: str | None, **kwargs: Any) -> None:
    """Look at lines without your seal, such as those a cloned repository brought."""
    from hindbrain.generic._cli import _queue

    _queue.adopt(options_of(kwargs), host, state_dir, yes=yes, content=content)


@queue.group("dead")
def dead() -> None:
    """Look after jobs that were refused too often."""


@dead.command("list", epilog=EPILOG)
@of_host
def dead_list(host: str, state_dir: str | None, **kwargs: Any) -> None:
    """List the dead letters without content."""
    from hindbrain.generic._cli import _queue_look

    _queue_look.dead_list(options_of(kwargs), host, state_dir)


@dead.command("show", epilog=EPILOG)
@click.argument("job")
@click.option("--content", is_flag=True, help="Show what it says, too.")
@of_host
def dead_show(job: str, content: bool, host: str, state_dir: str | None, **kwargs: Any) -> None:
    """Show the dead letter with id JOB."""
    from hindbrain.generic._cli import _queue_look

    _queue_look.dead_show(options_of(kwargs), host, state_dir, job, content=content)


@dead.command("requeue", epilog=EPILOG)
@click.argument("job")
@of_host
def dead_requeue(job: str, host: str, state_dir: str | None, **kwargs: Any) -> None:
    """Let the dead letter with id JOB wait again."""
    from hindbrain.generic._cli import _queue

    _queue.dead_requeue(options_of(kwargs), host, state_dir, job)


@dead.command("drop", epilog=EPILOG)
@click.argument("job")
@click.option("--yes", is_flag=True, help="Do not ask first.")
@of_host
def dead_drop(job: str, yes: bool, host: str, state_dir: str | None, **kwargs: Any) -> None:
    """Forget the dead letter with id JOB for good."""
    from hindbrain.generic._cli import _queue

    options = options_of(kwargs)
    if not yes:
        if options.as_json or not sys.stdin.isatty():
            raise click.UsageError("Nothing was dropped: say --yes where nobody can be asked.")
        click.confirm(f"Drop {job} for good?", abort=True, err=True)
    _queue.dead_drop(options, host, state_dir, job)
