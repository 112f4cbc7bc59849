"""The session commands as click sees them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hindbrain.generic._cli._common import EPILOG, Place, as_text, options_of
from hindbrain.generic._cli._queue_group import of_host

_SESSION = click.argument("session", type=Place())


@click.command("mode", epilog=EPILOG)
@_SESSION
@click.argument("mode", required=False)
@click.option("--retain", type=click.Choice(["on", "off"]), help="Also turn its automatic retain on or off.")
@of_host
def mode(session: Path, mode: str | None, retain: str | None, host: str, state_dir: str | None, **kwargs: Any) -> None:
    """Set what SESSION does by itself: normal, read-only (recall only) or ignored. Without MODE it is shown."""
    from hindbrain.generic._cli._governance import change, show, with_mode

    options = options_of(kwargs)
    if mode is None and retain is None:
        show("mode", options, session, host=host, state_dir=state_dir)
    else:
        change("mode", options, session, with_mode(mode, retain), host=host, state_dir=state_dir)


@click.command("opt-out", epilog=EPILOG)
@_SESSION
@of_host
def opt_out(session: Path, host: str, state_dir: str | None, **kwargs: Any) -> None:
    """Keep the next completed run of SESSION out of memory, for good."""
    from hindbrain.generic._cli._governance import change

    options = options_of(kwargs)
    change("opt-out", options, session, lambda r, sid: r.skip_next(sid), host=host, state_dir=state_dir)


@click.group("tag")
def tag() -> None:
    """Tags on what a session retains from now on."""


@tag.command("add", epilog=EPILOG)
@_SESSION
@click.argument("tag", callback=as_text)
@of_host
def tag_add(session: Path, tag: str, host: str, state_dir: str | None, **kwargs: Any) -> None:
    """Add TAG to what SESSION retains from now on."""
    from hindbrain.generic._cli._governance import change

    options = options_of(kwargs)
    change("tag add", options, session, lambda r, sid: r.add_tag(sid, tag), host=host, state_dir=state_dir)


@tag.command("remove", epilog=EPILOG)
@_SESSION
@click.argument("tag", callback=as_text)
@of_host
def tag_remove(session: Path, tag: str, host: str, state_dir: str | None, **kwargs: Any) -> None:
    """Remove TAG again."""
    from hindbrain.generic._cli._governance import change

    options = options_of(kwargs)
    change("tag remove", options, session, lambda r, sid: r.remove_tag(sid, tag), host=host, state_dir=state_dir)
