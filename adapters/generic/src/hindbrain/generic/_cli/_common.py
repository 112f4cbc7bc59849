"""The options that stand on every command."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
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


class Place(click.Path):
    """A path that something could lie at: not empty, not longer than this machine's, and no links that go in a circle.

    It is given on as ``path_type``, or as it was written.
    """

    def __init__(self, path_type: type[Path] | None = Path) -> None:
        super().__init__(path_type=path_type)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if not os.fspath(value):
            self.fail("The path is empty; nothing was done.", param, ctx)
        wrong = False
        try:
            os.stat(value)  # noqa: PTH116  (as it was written)
        except OSError as error:
            wrong = error.errno in {errno.ENAMETOOLONG, errno.ELOOP}
        if wrong:
            self.fail("The path is too long, or its links go in a circle; nothing was done.", param, ctx)
        return super().convert(value, param, ctx)


EPILOG = (
    "Exit codes: 0 ok, 1 failed or nothing found, 2 usage, 3 configuration or credentials, 4 unreachable, 5 partial."
)


def common(command: _F) -> _F:
    """Add the options every command takes."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print one JSON envelope on stdout."),
        click.option("--backend", type=click.Choice(["local", "hindsight"]), help="Where memory lives."),
        click.option("--data-dir", type=Place(None), help="Folder of the embedded banks."),
        click.option("--config-dir", type=Place(None), help="Folder of the global settings file."),
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
