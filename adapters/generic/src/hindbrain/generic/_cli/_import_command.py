"""``hindbrain import`` as click sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hindbrain.generic._cli._common import EPILOG, Place, common, options_of


@click.command("import", epilog=EPILOG)
@click.argument("sessions", nargs=-1, required=True, type=Place())
@click.option(
    "--mode",
    type=click.Choice(["curated", "raw", "forensic"]),
    default="curated",
    show_default=True,
    help="Keep what automatic retain would keep; or everything but recalled memory; or that, too.",
)
@click.option("--branches", is_flag=True, help="Import the branches that a conversation has left, too.")
@click.option("--again", is_flag=True, help="Import what was retained while a session ran, too.")
@click.option("--dry-run", is_flag=True, help="Only show what would be imported.")
@click.option("--yes", is_flag=True, help="Do not ask first.")
@click.option("--queue-only", is_flag=True, help="Leave the sending to the next flush of the queue.")
@click.option("--project", type=Place(), help="Count all sessions as this directory's project.")
@click.option("--here", is_flag=True, help="Only sessions of the project around the present directory.")
@click.option("--bank", help="The bank to write to; each project's own by default.")
@click.option("--tag", "tags", multiple=True, help="A tag to add; repeatable.")
@click.option(
    "--turns", type=click.IntRange(min=1), default=20, show_default=True, help="Turns in a document of curated mode."
)
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1000),
    default=100_000,
    show_default=True,
    help="Bytes of such a document; one longer turn is one all the same.",
)
@click.option("--state-dir", type=Place(), help="The state folder, in place of the project's.")
@common
def import_(sessions: tuple[Path, ...], **kwargs: Any) -> None:
    """Give memory what old pi and omp SESSIONS hold.

    SESSIONS are files, or folders with all session files below them. What would be imported is shown first, with counts
    of what is kept and dropped; nothing is sent until that is confirmed, or --yes was said. An import that was
    interrupted goes on when it is run again, and one that is repeated sends nothing twice. Each session goes to the
    memory of the project it ran in.
    """
    from hindbrain.generic._cli._import import Wish, import_sessions

    options = options_of(kwargs)
    import_sessions(options, Wish(places=sessions, **kwargs))
