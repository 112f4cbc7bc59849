"""Wrong usage, told to a program as to a person: where ``--json`` was said, it is an envelope too."""

from __future__ import annotations

from typing import Any

import click

from hindbrain.contracts import HindbrainError
from hindbrain.generic._envelope import Envelope, Exit

JSON = "hindbrain.generic.json"
"""Where a context's ``meta`` notes that ``--json`` stood before the command."""


class WrongUsageError(HindbrainError):
    """The command line is not one the command takes; nothing was done."""

    code = "usage"


def _envelope(error: click.UsageError) -> Envelope:
    path = error.ctx.command_path if error.ctx else "hindbrain"
    problem = WrongUsageError(error.format_message(), next_step=f"See `{path} --help`.")
    return Envelope(command=path.partition(" ")[2], error=problem, exit=Exit.USAGE)


class Commands(click.Group):
    """A group of commands whose wrong usage is printed as an envelope where ``--json`` was asked for."""

    def invoke(self, ctx: click.Context) -> Any:
        """Invoke the command that was named."""
        as_json = ctx.meta.get(JSON) or "--json" in ctx.args
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            if not as_json:
                raise
            click.echo(_envelope(error).as_json())
            ctx.exit(Exit.USAGE)
