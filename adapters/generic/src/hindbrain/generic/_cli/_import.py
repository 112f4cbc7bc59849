"""``hindbrain import``: a look at what old sessions hold, the question, and the import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from attrs import frozen

from hindbrain.contracts import RetainItem
from hindbrain.generic._cli._import_bar import Bar
from hindbrain.generic._cli._import_text import as_data, as_text, exit_of, warnings_of
from hindbrain.generic._cli._run import Options, run, settings_for
from hindbrain.generic._config import Settings
from hindbrain.generic._envelope import Envelope
from hindbrain.generic._import import ImportReport, Mode, Profile, Survey, TreeImport, Where, survey


@frozen(kw_only=True)
class Wish:
    """What stood on the command line."""

    places: tuple[Path, ...]
    mode: str
    branches: bool
    again: bool
    dry_run: bool
    yes: bool
    queue_only: bool
    project: Path | None
    here: bool
    bank: str | None
    tags: tuple[str, ...]
    turns: int
    max_bytes: int
    state_dir: Path | None

    @property
    def profile(self) -> Profile:
        """What is imported, and in what pieces."""
        return Profile(
            mode=Mode(self.mode),
            branches=self.branches,
            turns=self.turns,
            max_bytes=self.max_bytes,
            again=self.again,
            tags=self.tags,
        )

    @property
    def where(self) -> Where:
        """Where it goes."""
        state_dir = None if self.state_dir is None else self.state_dir.absolute()
        only = Path.cwd() if self.here else None
        return Where(bank=self.bank, project=self.project, only=only, state_dir=state_dir)


@contextmanager
def _bar(label: str, length: int, unit: str, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar on stderr, only where a person watches."""
    if quiet or not length or not sys.stderr.isatty():
        yield lambda _: None
        return
    with Bar(label, length, unit) as bar:
        yield bar.add


async def _plan(tree: TreeImport, found: Survey, *, quiet: bool) -> list[ImportReport]:
    with _bar("looking", found.size, "MB", quiet=quiet) as progress:
        return await tree.plan(progress)


async def _import(tree: TreeImport, found: Survey, *, send: bool, quiet: bool) -> list[ImportReport]:
    with _bar("importing", found.size, "MB", quiet=quiet) as progress:
        reports = await tree.run(progress)
    if send:
        with _bar("sending", sum(report.waiting for report in reports), "documents", quiet=quiet) as progress:
            await tree.send(reports, progress)
    return reports


def _agreed(text: str) -> bool:
    """Show the plan and ask."""
    click.echo(text, err=True)
    return click.confirm("Import this?", err=True)


def import_sessions(options: Options, wish: Wish) -> None:
    """Run the command."""
    if wish.dry_run and wish.yes:
        raise click.UsageError("Say either --dry-run or --yes.")

    async def work(_settings: Settings) -> Envelope:
        RetainItem(content="-", document_id="-", tags=wish.tags)  # a tag that is refused is refused before all else
        found = await survey(wish.places, wish.where, lambda root: settings_for(options, root))
        notices: list[str] = []
        tree = TreeImport(found, wish.profile, notify=notices.append)
        if not wish.yes:
            planned = await _plan(tree, found, quiet=options.as_json)
            envelope = _envelope(planned, found, notices, dry=True)
            asks = not (wish.dry_run or options.as_json) and sys.stdin.isatty()
            if not asks or not any(report.to_send for report in planned):
                return envelope
            if not _agreed(envelope.text):
                return Envelope(command="import", text="Nothing was imported.")
        done = await _import(tree, found, send=not wish.queue_only, quiet=options.as_json)
        return _envelope(done, found, notices, dry=False)

    run("import", options, work)


def _envelope(reports: list[ImportReport], found: Survey, notices: list[str], *, dry: bool) -> Envelope:
    return Envelope(
        command="import",
        data=as_data(reports, found, dry=dry),
        text=as_text(reports, found, dry=dry),
        warnings=[*found.warnings, *notices, *warnings_of(reports, found)],
        exit=exit_of(reports, found),
    )
