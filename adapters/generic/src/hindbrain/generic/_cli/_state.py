"""The state folder a command works on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import attrs

from hindbrain.generic._config import Settings
from hindbrain.generic._disk_outbox import state_folder
from hindbrain.generic._envelope import Envelope
from hindbrain.generic._open import data_dir
from hindbrain.memory import read_checkout
from hindbrain.store import HostState, StateView

HOSTS = ("generic", "pi", "omp")


def folder_for(host: str, state_dir: str | None) -> tuple[Path, Path | None]:
    """The state folder meant, and the project's root it must lie in; None where it was named outright."""
    if state_dir is not None:
        return Path(state_dir), None
    root = Path(read_checkout(str(Path.cwd()), home=str(Path.home())).root)
    return state_folder(host, root), root


async def with_view(
    settings: Settings, host: str, state_dir: str | None, ask: Callable[[StateView | None], Envelope]
) -> Envelope:
    """Look at the state folder that is meant and change nothing; ``ask`` is given None where there is none yet."""
    notices: list[str] = []
    folder, within = folder_for(host, state_dir)
    seal_file = data_dir(settings) / "seal.key"
    view = StateView.open(folder, seal_file=seal_file, within=within, notify=notices.append)
    if view is None:
        return ask(None)
    with closing(view):
        envelope = ask(view)
    return attrs.evolve(envelope, warnings=[*notices, *envelope.warnings])


@asynccontextmanager
async def opened(
    settings: Settings, folder: Path, within: Path | None, notify: Callable[[str], None]
) -> AsyncIterator[HostState]:
    """A state folder, closed at the end; ``notify`` is told what was put aside."""
    state = await HostState.open(folder, seal_file=data_dir(settings) / "seal.key", within=within, notify=notify)
    try:
        yield state
    finally:
        await state.close()


async def with_state(
    settings: Settings, host: str, state_dir: str | None, use: Callable[[HostState], Awaitable[Envelope]]
) -> Envelope:
    """Use the state folder that is meant; what was put aside on opening it is warned of."""
    notices: list[str] = []
    folder, within = folder_for(host, state_dir)
    async with opened(settings, folder, within, notices.append) as state:
        envelope = await use(state)
    return attrs.evolve(envelope, warnings=[*notices, *envelope.warnings])
