"""The options that stand on every command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from hindbrain.generic._cli._run import Options
from hindbrain.generic._cli._usage import JSON

_F = TypeVar("_F", bound=Callable[..., Any])


T = TypeVar("T", str | None, tuple[str, ...])


def as_text(_ctx: click.Context, _param: click.Parameter, value: T) -> T:
    """A callback for words that are kept or asked for: bytes that are no UTF-8 arrive as halves of characters.

    Raises:
        click.BadParameter: they did; nothing is done.
    """
    try:
        "".join(value or ()).encode()
    except UnicodeEncodeError:
        pass  # what it says holds the text
    else:
        return value
    raise click.BadParameter("is not UTF-8 text; nothing was done.")


EPILOG = (
    "Exit codes: 0 ok, 1 failed or nothing found, 2 usage, 3 configuration or credentials, 4 unreachable, 5 partial."
)


def common(command: _F) -> _F:
    """Add the options every command takes."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print one JSON envelope on stdout."),
        click.option("--backend", type=click.Choice(["local", "hindsight"]), help="Where memory lives."),
        click.option("--data-dir", help="Folder of the embedded banks."),
        click.option("--config-dir", help="Folder of the global settings file."),
    ):
        command = option(command)
    return command


def of_host_settings(command: _F) -> _F:
    """Whose settings are meant, and the options every command takes."""
    host = click.option(
        "--host", type=click.Choice(["generic", "pi", "omp"]), default="generic", help="Whose settings."
    )
    return common(host(command))


def options_of(kwargs: dict[str, Any]) -> Options:
    """The common options, taken out of a command's arguments; ``--json`` may also stand before the command."""
    said_before = click.get_current_context().meta.get(JSON, False)
    as_json = kwargs.pop("as_json") or said_before
    said = {name: kwargs.pop(name) for name in ("backend", "data_dir", "config_dir")}
    return Options(as_json=as_json, host=_host(), **said)


def _host() -> str | None:
    """The host of the command's ``--host``; ``generic`` is the command line's own."""
    context = click.get_current_context()
    options = {each.name for each in context.command.params if isinstance(each, click.Option)}
    said = context.params.get("host") if "host" in options else None
    return None if said == "generic" else said
