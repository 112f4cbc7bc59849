"""The commands about settings as click sees them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from hindbrain.generic._cli._common import EPILOG, Place, common, of_host_settings, options_of


@click.group()
def config() -> None:
    """Look at the settings, check them, change them."""


@config.command("show", epilog=EPILOG)
@click.option("--origin", is_flag=True, help="Say where each value came from.")
@of_host_settings
def config_show(origin: bool, **kwargs: Any) -> None:
    """Print every effective setting."""
    from hindbrain.generic._cli import _settings

    _settings.config_show(options_of(kwargs), origin=origin)


@config.command("check", epilog=EPILOG)
@of_host_settings
def config_check(**kwargs: Any) -> None:
    """Say what is wrong with the settings."""
    from hindbrain.generic._cli import _settings

    _settings.config_check(options_of(kwargs))


@config.command("set", epilog=EPILOG)
@click.argument("key")
@click.argument("value")
@click.option("--project", is_flag=True, help="In the project's own file, in place of yours for every project.")
@of_host_settings
def config_set(key: str, value: str, project: bool, **kwargs: Any) -> None:
    """Set KEY to VALUE: JSON, or plain text. A file with comments is left as it is."""
    from hindbrain.generic._cli import _settings_change

    _settings_change.config_set(options_of(kwargs), key, value, project=project)


@config.command("import", epilog=EPILOG)
@click.option(
    "--from",
    "sources",
    multiple=True,
    type=Place(),
    help="A file to read, in place of the known places; repeatable, the last wins.",
)
@click.option("--project", is_flag=True, help="From the project's files into the project's own file.")
@click.option("--yes", is_flag=True, help="Write it.")
@common
def config_import(sources: tuple[Path, ...], project: bool, yes: bool, **kwargs: Any) -> None:
    """Show what the settings of other tools would change in yours: hindsight.json and the like. Write it with --yes."""
    from hindbrain.generic._cli import _settings_change

    _settings_change.config_import(options_of(kwargs), sources, project=project, yes=yes)


@config.command("schema", epilog=EPILOG)
@common
def config_schema(**kwargs: Any) -> None:
    """Print the JSON schema of a settings file, for editors."""
    from hindbrain.generic._cli import _settings

    _settings.config_schema(options_of(kwargs))


@click.command("trust", epilog=EPILOG)
@click.option("--yes", is_flag=True, help="Do not ask first.")
@of_host_settings
def trust(yes: bool, **kwargs: Any) -> None:
    """Show what the project's settings file says, and let it count as it is now."""
    from hindbrain.generic._cli import _trust

    def ask(text: str) -> bool:
        click.echo(text, err=True)
        return click.confirm("Trust it as it is?", err=True)

    options = options_of(kwargs)
    _trust.trust(options, yes=yes, ask=ask if sys.stdin.isatty() and not options.as_json else None)


@click.command("untrust", epilog=EPILOG)
@of_host_settings
def untrust(**kwargs: Any) -> None:
    """Let the project's settings file say only what is harmless again."""
    from hindbrain.generic._cli import _trust

    _trust.untrust(options_of(kwargs))
