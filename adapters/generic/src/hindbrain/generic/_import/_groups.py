"""Whose sessions they are: a tree of files, project by project and host by host, each with its own settings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import define, field, frozen

from hindbrain.contracts import HindbrainError, check_bank
from hindbrain.generic._config import Settings, memory_config
from hindbrain.generic._disk_outbox import state_folder
from hindbrain.generic._import._source import PassedOver, Source, read_source, session_files, without_copies
from hindbrain.generic._import._target import Target, import_bank
from hindbrain.generic._open import SettingsError, origin_of
from hindbrain.memory import Checkout, NoProjectError, identify, read_checkout

SettingsOf = Callable[[Path], Settings]
"""Gives the settings that hold in the project with this root."""


@frozen(kw_only=True)
class Where:
    """What the user said about where sessions go.

    ``project`` is a directory whose project all of them count as; None: each counts as the one it ran in. ``only`` is
    a directory too: sessions of other projects are passed over. ``bank`` takes the place of each project's own, and
    ``state_dir`` that of the project's state folder.
    """

    bank: str | None = None
    project: Path | None = None
    only: Path | None = None
    state_dir: Path | None = None


@frozen(kw_only=True)
class Group:
    """The sessions of one project on one host, parents before their forks, and where they go."""

    target: Target
    sources: tuple[Source, ...]


@define
class Survey:
    """What was found: groups, the files that are not imported, and the warnings of the settings."""

    groups: list[Group] = field(factory=list)
    passed_over: list[PassedOver] = field(factory=list)
    warnings: list[str] = field(factory=list)

    @property
    def size(self) -> int:
        """The bytes of all files that are to be imported."""
        return sum(source.size for group in self.groups for source in group.sources)


async def survey(places: Sequence[Path], where: Where, settings_of: SettingsOf) -> Survey:
    """Look into the files' first lines, and at the directories they name; nothing is written.

    Raises:
        NoProjectError: a directory that the user named is no project.
        HindbrainError: no session can go anywhere, and why. Where some can, the files of the others are passed over.
    """
    return await asyncio.to_thread(_Surveyor(where, settings_of).survey, places)


class _Surveyor:
    def __init__(self, where: Where, settings_of: SettingsOf) -> None:
        self._where = where
        self._settings_of = settings_of
        self._checkouts: dict[str, Checkout | str] = {}
        self._found = Survey()
        self._error: HindbrainError | None = None

    def survey(self, places: Sequence[Path]) -> Survey:
        if self._where.bank is not None:
            check_bank(self._where.bank)
        read = [read_source(path) for path in session_files(places)]
        self._found.passed_over += [each for each in read if isinstance(each, PassedOver)]
        sources, copies = without_copies([each for each in read if isinstance(each, Source)])
        self._found.passed_over += copies
        for (root, host), members in self._sorted(sources).items():
            self._add(root, host, members)
        if self._error is not None and not self._found.groups:
            raise self._error
        return self._found

    def _sorted(self, sources: Sequence[Source]) -> dict[tuple[str, str], list[Source]]:
        only = None if self._where.only is None else _named(self._where.only).root
        sorted_: dict[tuple[str, str], list[Source]] = {}
        for source in sources:
            checkout = self._checkout(source)
            if isinstance(checkout, Checkout) and only in {None, checkout.root}:
                sorted_.setdefault((checkout.root, source.host), []).append(source)
            else:
                reason = "other-project" if isinstance(checkout, Checkout) else checkout
                self._found.passed_over.append(PassedOver(path=source.path, reason=reason))
        if self._where.state_dir is not None and len({root for root, _ in sorted_}) > 1:
            raise SettingsError(
                "The sessions belong to several projects, and one state folder was named; nothing was imported.",
                next_step="Name one project with --project or --here, or leave --state-dir away.",
            )
        return sorted_

    def _checkout(self, source: Source) -> Checkout | str:
        """The project a session belongs to, or why it belongs to none."""
        cwd = source.cwd if self._where.project is None else str(self._where.project)
        if cwd is None:
            return "no-directory"
        if cwd not in self._checkouts:
            self._checkouts[cwd] = self._look(cwd)
        return self._checkouts[cwd]

    def _look(self, cwd: str) -> Checkout | str:
        if self._where.project is not None:
            return _named(Path(cwd))
        try:
            checkout = read_checkout(cwd, home=str(Path.home()))
        except NoProjectError:
            return NoProjectError.code
        return checkout if _is_dir(Path(checkout.root)) else "project-gone"

    def _add(self, root: str, host: str, members: Sequence[Source]) -> None:
        try:
            target = self._target(root, host)
        except HindbrainError as error:
            self._error = self._error or error
            self._found.passed_over += [PassedOver(path=source.path, reason=error.code) for source in members]
            return
        self._found.groups.append(Group(target=target, sources=tuple(members)))

    def _target(self, root: str, host: str) -> Target:
        settings = self._settings_of(Path(root))
        self._found.warnings += [each for each in settings.warnings if each not in self._found.warnings]
        config = memory_config(settings)
        found = (each for each in self._checkouts.values() if isinstance(each, Checkout) and each.root == root)
        project = identify(next(found), config.scope)
        return Target(
            project=project,
            settings=settings,
            config=config,
            host=host,
            folder=self._where.state_dir or state_folder(host, Path(root)),
            bank=check_bank(import_bank(config, project, self._where.bank)),
            origin=origin_of(settings),
        )


def _named(directory: Path) -> Checkout:
    return read_checkout(str(directory.resolve()), home=str(Path.home()))


def _is_dir(place: Path) -> bool:
    try:
        return place.is_dir()
    except OSError:  # a name that is too long, a folder that is closed to us
        return False
