"""The ``hindbrain observe`` commands as click sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from hindbrain.generic._cli._common import EPILOG, Place, common, options_of

_F = TypeVar("_F", bound=Callable[..., Any])
_OBSERVERS = click.Choice(["extractive"])


def _of_replay(command: _F) -> _F:
    """What a replay goes by, and the options every command takes."""
    size = click.IntRange(min=1)
    for option in (
        common,
        click.option(
            "--keep-recent",
            type=click.IntRange(min=0),
            default=20_000,
            show_default=True,
            help="Tokens of conversation that a compaction leaves as they are.",
        ),
        click.option(
            "--compact-after",
            type=size,
            default=81_000,
            show_default=True,
            help="Tokens of conversation after which a compaction is due.",
        ),
        click.option(
            "--observe-after",
            type=size,
            default=10_000,
            show_default=True,
            help="Tokens of conversation after which the observer looks at it.",
        ),
        click.option("--window", type=size, help="The model's window in tokens; by default unknown."),
        click.argument("session", type=Place()),
    ):
        command = option(command)
    return command


def _of_session(command: _F) -> _F:
    """Whose memory is looked at: that in the file, or that of a replay."""
    told = "Replay the session first, in place of the memory that lies in it."
    return click.option("--observer", type=_OBSERVERS, help=told)(_of_replay(command))


@click.group()
def observe() -> None:
    """Look at the memory of one session: what was observed in it, and what a compaction would show."""


@observe.command("replay", epilog=EPILOG)
@click.option(
    "--observer",
    type=click.Choice(["extractive", "model"]),
    help="What looks at the session: extractive works by rules, and is what works where no model is named.",
)
@click.option("--model", help="A model by its name at --base-url; observes, reflects and drops in place of the rules.")
@click.option("--base-url", help="The OpenAI-compatible address of the model; by default observe.endpoint.baseUrl.")
@click.option("--api-key-ref", help="Where its key is kept: env:NAME, file:PATH or keyring:SERVICE/USER.")
@click.option("--model-window", type=click.IntRange(min=1_024), help="The model's window in tokens.")
@_of_replay
def replay(
    observer: str | None,
    model: str | None,
    base_url: str | None,
    api_key_ref: str | None,
    model_window: int | None,
    **kwargs: Any,
) -> None:
    """Live through a recorded pi or omp SESSION file: what would be remembered, and what compactions would show."""
    from hindbrain.generic._cli import _observe, _observe_replay

    named = _observe_replay.Named(model=model, base_url=base_url, api_key_ref=api_key_ref, model_window=model_window)
    options = options_of(kwargs)
    observer = observer or ("extractive" if model is None else "model")
    _observe_replay.replay(options, _observe.Wish(**kwargs, observer=observer), named)


@observe.command("view", epilog=EPILOG)
@click.option("--full", "whole", is_flag=True, help="All that is remembered, not only what the model sees.")
@_of_session
def view(whole: bool, **kwargs: Any) -> None:
    """Show the memory that lies in a SESSION file."""
    from hindbrain.generic._cli import _observe

    options = options_of(kwargs)
    _observe.view(options, _observe.Wish(**kwargs), whole=whole)


@observe.command("status", epilog=EPILOG)
@_of_session
def status(**kwargs: Any) -> None:
    """Count what a SESSION file remembers, and say how far it is to the next observation and compaction."""
    from hindbrain.generic._cli import _observe

    options = options_of(kwargs)
    _observe.status(options, _observe.Wish(**kwargs))


@observe.command("recall", epilog=EPILOG)
@click.option("--page", type=click.IntRange(min=1), default=1, show_default=True, help="Which page of the passages.")
@_of_session
@click.argument("record", metavar="ID")
def recall(record: str, page: int, **kwargs: Any) -> None:
    """Show the passages of a SESSION file that the observation or reflection with this ID rests on."""
    from hindbrain.generic._cli import _observe

    options = options_of(kwargs)
    _observe.recall(options, _observe.Wish(**kwargs), record, page)
