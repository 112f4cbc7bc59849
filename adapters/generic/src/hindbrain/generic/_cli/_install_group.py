"""The commands about hosts as click sees them."""

from __future__ import annotations

from typing import Any

import click

from hindbrain.generic._cli._common import EPILOG, common, options_of

_PROJECT = click.option("--project", is_flag=True, help="For this project alone, in its own folder of the host.")
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Only say what would be done.")


@click.command("install", epilog=EPILOG)
@click.argument("host")
@_PROJECT
@click.option("--print-path", is_flag=True, help="Write it to our own data folder and print where, for `pi -e PATH`.")
@_DRY_RUN
@common
def install(host: str, project: bool, print_path: bool, dry_run: bool, **kwargs: Any) -> None:
    """Give HOST (pi or omp) its memory: one folder among its extensions. No settings of yours are edited."""
    from hindbrain.generic._cli._install import put

    if project and print_path:
        raise click.UsageError("--project and --print-path name two places; nothing was done.")
    put(options_of(kwargs), host, project=project, print_path=print_path, dry_run=dry_run)


@click.command("uninstall", epilog=EPILOG)
@click.argument("host")
@_PROJECT
@_DRY_RUN
@common
def uninstall(host: str, project: bool, dry_run: bool, **kwargs: Any) -> None:
    """Take the folder away from HOST again. Settings and memories stay."""
    from hindbrain.generic._cli._install import take_away

    take_away(options_of(kwargs), host, project=project, dry_run=dry_run)


@click.command("hosts", epilog=EPILOG)
@common
def hosts(**kwargs: Any) -> None:
    """Say what is installed where, in which version, and what is in its way."""
    from hindbrain.generic._cli._install import show

    show(options_of(kwargs))
