"""``hindbrain suppress``: memories of this project that are not to be shown any more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import attrs

from hindbrain.generic._cli._run import Options, run
from hindbrain.generic._cli._state import folder_for, with_state, with_view
from hindbrain.generic._cli._stored import Where
from hindbrain.generic._config import Settings
from hindbrain.generic._disk_outbox import STATE_FOLDERS, state_folder
from hindbrain.generic._envelope import Envelope, Exit
from hindbrain.store import HostState, StateView


def _elsewhere(where: Where) -> list[str]:
    """A word for who forgot that the hosts of a project have a list each."""
    _, root = folder_for(where.host, where.state_dir)
    if root is None or where.host in STATE_FOLDERS:
        return []
    hosts = [host for host in STATE_FOLDERS if state_folder(host, Path(root)).is_dir()]
    return [f"This concerns the command line; for {' and '.join(hosts)} say --host, too."] if hosts else []


def _run(options: Options, where: Where, use: Callable[[HostState], Awaitable[Envelope]]) -> None:
    async def work(settings: Settings) -> Envelope:
        return await with_state(settings, where.host, where.state_dir, use)

    run("suppress", options, work)


def add(options: Options, where: Where, memory_id: str) -> None:
    """Suppress a memory."""

    async def use(state: HostState) -> Envelope:
        changed = await state.run(lambda: state.suppressed.add(memory_id))
        said = "is not shown any more" if changed else "was suppressed already"
        return Envelope(
            command="suppress",
            data={"id": memory_id.strip(), "suppressed": True, "changed": changed},
            text=f"{memory_id.strip()} {said}. Memory still holds it; `hindbrain delete DOCUMENT` forgets.",
            warnings=_elsewhere(where),
        )

    _run(options, where, use)


def remove(options: Options, where: Where, memory_id: str) -> None:
    """Show a memory again."""

    async def use(state: HostState) -> Envelope:
        changed = await state.run(lambda: state.suppressed.remove(memory_id))
        return Envelope(
            command="suppress",
            data={"id": memory_id.strip(), "suppressed": False, "changed": changed},
            text=f"{memory_id.strip()} {'may be shown again' if changed else 'was not suppressed'}.",
            warnings=[] if changed else _elsewhere(where),
            exit=Exit.OK if changed else Exit.FAILED,
        )

    _run(options, where, use)


def listing(options: Options, where: Where) -> None:
    """List what is suppressed, oldest first."""

    def ask(view: StateView | None) -> Envelope:
        found = () if view is None else view.suppressed.all()
        text = "\n".join(f"{each.at}  {each.id}" for each in found)
        data = {"suppressed": [attrs.asdict(each) for each in found]}
        return Envelope(command="suppress", data=data, text=text or "(nothing is suppressed)")

    run("suppress", options, lambda settings: with_view(settings, where.host, where.state_dir, ask))
