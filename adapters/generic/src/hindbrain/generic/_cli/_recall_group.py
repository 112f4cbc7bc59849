"""The commands that show recall and correct it, as click sees them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hindbrain.generic._cli._common import EPILOG, Place, options_of
from hindbrain.generic._cli._queue_group import of_host


@click.command("last-recall", epilog=EPILOG)
@of_host
def last_recall(host: str, state_dir: str | None, **kwargs: Any) -> None:
    """Show what the last recall found, with scores and verdicts. It is stored where recall.storeLastRecall is true."""
    from hindbrain.generic._cli import _last_recall, _stored

    _last_recall.show(options_of(kwargs), _stored.Where(host=host, state_dir=state_dir))


@click.command("suppress", epilog=EPILOG)
@click.argument("memory", required=False, metavar="[ID]")
@click.option("--list", "listing", is_flag=True, help="List what is suppressed.")
@click.option("--remove", is_flag=True, help="Let ID be shown again.")
@of_host
def suppress(memory: str | None, listing: bool, remove: bool, host: str, state_dir: str | None, **kwargs: Any) -> None:
    """Never show the memory with this ID again. It stays in memory; `last-recall` tells ids."""
    from hindbrain.generic._cli import _stored, _suppress

    options, where = options_of(kwargs), _stored.Where(host=host, state_dir=state_dir)
    if listing and (remove or memory is not None):
        raise click.UsageError("--list stands alone.")
    if listing:
        _suppress.listing(options, where)
    elif memory is None:
        raise click.UsageError("Name the ID of a memory, or say --list.")
    elif remove:
        _suppress.remove(options, where, memory)
    else:
        _suppress.add(options, where, memory)


@click.command("why", epilog=EPILOG)
@click.argument("memory", metavar="ID-OR-LINE")
@click.option("--session", type=Place(), help="The file of the session it came from.")
@click.option("--ask", is_flag=True, help="Ask memory once more for the facts that an observation rests on.")
@of_host
def why(memory: str, session: Path | None, ask: bool, host: str, state_dir: str | None, **kwargs: Any) -> None:
    """Say where a line of the last recall came from: document, job, session and entry, as far as it is known.

    ID-OR-LINE is the id of a memory, the number of its line, or its words.
    """
    from hindbrain.generic._cli import _stored, _why

    _why.why(options_of(kwargs), _stored.Where(host=host, state_dir=state_dir), memory, session, ask=ask)
