"""``hindbrain observe``: the memory of one session, from its file."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import attrs
import click
from attrs import frozen

from hindbrain.generic._cli import _observe_text as texts
from hindbrain.generic._cli._run import Options, run
from hindbrain.generic._config import Settings
from hindbrain.generic._envelope import Envelope, Exit
from hindbrain.memory.sessions import SessionFile, read_session
from hindbrain.observe import (
    Found,
    LedgerIndex,
    ObserveConfig,
    Progress,
    Replayed,
    extract,
    recall_page,
    status_lines,
)
from hindbrain.observe import recall as recall_record
from hindbrain.observe import replay as live_through
from hindbrain.observe import status as state_of
from hindbrain.observe import view as view_of

_EXITS = {Found.OK: Exit.OK, Found.PARTIAL: Exit.PARTIAL}


@frozen(kw_only=True)
class Wish:
    """Which session, and how it is to be looked at. Without an observer the memory in the file counts."""

    session: Path
    observer: str | None
    window: int | None
    observe_after: int
    compact_after: int
    keep_recent: int

    @property
    def config(self) -> ObserveConfig:
        """The engine's settings."""
        return ObserveConfig(observe_after_tokens=self.observe_after, compact_after_tokens=self.compact_after)


def view(options: Options, wish: Wish, *, whole: bool) -> None:
    """Show both lists."""

    def show(session: SessionFile) -> Envelope:
        shown = view_of(_index(wish, session, options), whole=whole)
        data = {"full": whole, "reflections": list(shown.reflections), "observations": list(shown.observations)}
        return Envelope(command="observe view", data=data, text=shown.text)

    _with_session("observe view", options, wish, show)


def status(options: Options, wish: Wish) -> None:
    """Say what stands where."""

    def show(session: SessionFile) -> Envelope:
        index = _index(wish, session, options)
        width = shutil.get_terminal_size().columns
        lines = status_lines(index, wish.config, wish.window, width=width)
        state = attrs.asdict(state_of(index, wish.config, wish.window))
        return Envelope(command="observe status", data=state, text="\n".join(lines))

    _with_session("observe status", options, wish, show)


def recall(options: Options, wish: Wish, record: str, page: int) -> None:
    """Show what a record rests on."""

    def show(session: SessionFile) -> Envelope:
        index = _index(wish, session, options)
        found = recall_record(index, record)
        shown = recall_page(found, page=page, zone=index.zone or "UTC")
        data = texts.recall_data(found, shown)
        return Envelope(command="observe recall", data=data, text=shown.text, exit=_EXITS.get(found.found, Exit.FAILED))

    _with_session("observe recall", options, wish, show)


def _with_session(command: str, options: Options, wish: Wish, show: Callable[[SessionFile], Envelope]) -> None:
    async def work(_settings: Settings) -> Envelope:
        return show(read_session(wish.session))

    run(command, options, work)


def _index(wish: Wish, session: SessionFile, options: Options) -> LedgerIndex:
    if wish.observer is not None:
        return lived(wish, session, quiet=options.as_json).index
    return LedgerIndex(session.branch().path())


def lived(wish: Wish, session: SessionFile, *, quiet: bool) -> Replayed:
    """The session, lived through by rules."""
    with ExitStack() as stack:
        return live_through(
            session.branch().path(),
            extract,
            wish.config,
            window=wish.window,
            keep=wish.keep_recent,
            progress=progress(stack, quiet=quiet),
        )


def progress(stack: ExitStack, *, quiet: bool) -> Progress:
    """A bar with the time that is left, on stderr, only where a person watches."""
    if quiet or not sys.stderr.isatty():
        return lambda _done, _all: None
    bar = stack.enter_context(click.progressbar(length=1, label="observing", show_pos=True, file=sys.stderr, width=30))

    def show(done: int, total: int) -> None:
        bar.length = total
        bar.update(done - bar.pos)

    return show
