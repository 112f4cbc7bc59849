"""The ``hindbrain`` command. Data goes to stdout, everything else to stderr."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from hindbrain.generic._cli._common import EPILOG, Place, as_text, common, options_of
from hindbrain.generic._cli._governance_group import mode, opt_out, tag
from hindbrain.generic._cli._import_command import import_
from hindbrain.generic._cli._install_group import hosts, install, uninstall
from hindbrain.generic._cli._observe_group import observe
from hindbrain.generic._cli._queue_group import of_host, queue
from hindbrain.generic._cli._recall_group import last_recall, suppress, why
from hindbrain.generic._cli._settings_group import config, trust, untrust
from hindbrain.generic._cli._usage import JSON, Commands


def _note_json(ctx: click.Context, _param: click.Parameter, asked: bool) -> None:
    ctx.meta[JSON] = asked


def _show_versions(ctx: click.Context, _param: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        from hindbrain.generic._cli._inspect import show_versions

        show_versions(as_json=ctx.meta[JSON])


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    callback=_show_versions,
    help="Print the version of every dist.",
)
@click.option(
    "--json",
    is_flag=True,
    is_eager=True,  # before --version, wherever it stands
    expose_value=False,
    callback=_note_json,
    help="Print one JSON envelope on stdout; may stand behind the command as well.",
)
def main() -> None:
    """Long-term memory for coding agents."""


@main.command(epilog=EPILOG)
@click.argument("session", type=Place())
@click.option("--ask", "question", callback=as_text, help="Show what would be injected for this question.")
@common
def replay(session: Path, question: str | None, **kwargs: Any) -> None:
    """Give a recorded pi or omp SESSION file a memory, and ask it a question."""
    from hindbrain.generic._cli._replay import replay as command

    command(options_of(kwargs), session, question)


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        pass  # what it says may quote the bytes
    raise click.UsageError("Standard input is not UTF-8 text; nothing was retained.")


@main.command(epilog=EPILOG)
@click.argument("text", callback=as_text)
@click.option("--bank", help="The bank to write to; the project's own by default.")
@click.option("--tag", "tags", multiple=True, callback=as_text, help="A tag to add; repeatable.")
@common
def retain(text: str, bank: str | None, tags: tuple[str, ...], **kwargs: Any) -> None:
    """Retain TEXT as a document of its own; '-' reads it from standard input. It is queued before it is sent."""
    from hindbrain.generic._cli._explicit import retain as command

    command(options_of(kwargs), _standard_input() if text == "-" else text, bank, tags)


@main.command("retain-user", epilog=EPILOG)
@click.argument("text", callback=as_text)
@click.option("--tag", "tags", multiple=True, callback=as_text, help="A tag to add; repeatable.")
@common
def retain_user(text: str, tags: tuple[str, ...], **kwargs: Any) -> None:
    """Retain TEXT in the user's bank, for every project; '-' reads it from standard input."""
    from hindbrain.generic._cli._explicit import retain_user as command

    command(options_of(kwargs), _standard_input() if text == "-" else text, tags)


@main.command(epilog=EPILOG)
@click.argument("query", callback=as_text)
@click.option("--bank", help="The one bank to ask; by default all that a session reads.")
@click.option("--unscoped", is_flag=True, help="Drop the tag filter.")
@common
def recall(query: str, bank: str | None, unscoped: bool, **kwargs: Any) -> None:
    """Recall what bears on QUERY, from the banks that a session of this project reads."""
    from hindbrain.generic._cli._recall import recall as command

    command(options_of(kwargs), query, bank, unscoped=unscoped)


@main.command(epilog=EPILOG)
@click.argument("operation", required=False)
@click.option("--bank", help="The bank the operation belongs to; the project's own by default.")
@of_host
def status(operation: str | None, bank: str | None, host: str, state_dir: str | None, **kwargs: Any) -> None:
    """Say what waits and what was retained; with an id, where the retain OPERATION stands."""
    options = options_of(kwargs)
    if operation is None:
        from hindbrain.generic._cli._receipts import overview

        overview(options, host, state_dir)
    else:
        from hindbrain.generic._cli._verbs import status as command

        command(options, operation, bank)


@main.command(epilog=EPILOG)
@of_host
def receipts(host: str, state_dir: str | None, **kwargs: Any) -> None:
    """List what became of the newest retain of each document, in numbers only."""
    from hindbrain.generic._cli._receipts import receipts as command

    command(options_of(kwargs), host, state_dir)


@main.command(epilog=EPILOG)
@click.argument("document")
@click.option("--bank", help="The bank it is in; the project's own by default.")
@click.option("--yes", is_flag=True, help="Do not ask first.")
@common
def forget(document: str, bank: str | None, yes: bool, **kwargs: Any) -> None:
    """Delete one DOCUMENT, all that was learnt from it alone, and what waits for it."""
    from hindbrain.generic._cli._explicit import forget as command

    options = options_of(kwargs)
    if not yes:
        if options.as_json or not sys.stdin.isatty():
            raise click.UsageError("Nothing was deleted: say --yes where nobody can be asked.")
        click.confirm(f"Delete document {document}?", abort=True, err=True)
    command(options, document, bank)


@main.command(epilog=EPILOG)
@click.option("--online", is_flag=True, help="Also contact the server; otherwise nothing leaves this machine.")
@click.option("--start", is_flag=True, help="Also start the --host itself, in a home of its own; needs no network.")
@of_host
def doctor(online: bool, start: bool, host: str, state_dir: str | None, **kwargs: Any) -> None:
    """Say why memory is or is not working. Changes nothing."""
    from hindbrain.generic._cli._inspect import doctor as command

    command(options_of(kwargs), online=online, start=start, host=host, state_dir=state_dir)


for command in (config, trust, untrust, queue, import_, mode, opt_out, tag, install, uninstall, hosts):
    main.add_command(command)
for command in (last_recall, suppress, why, observe):
    main.add_command(command)
main.add_command(forget, "delete")
