"""The commands a user types in the host: ``/hindsight`` and its short ways, and ``/om``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hindbrain.contracts import HindbrainError
from hindbrain.generic._observe import Told
from hindbrain.generic._session import Session
from hindbrain.generic.sidecar._hub import hub, send_now
from hindbrain.generic.sidecar._om import om, om_completions
from hindbrain.generic.sidecar._report import report
from hindbrain.generic.sidecar._sitting import Sitting

OM = "om"


async def run_command(name: str, sitting: Sitting, args: str, width: int = 80) -> Told:
    """Run a command by its name. Nothing is raised for what the user or the memory got wrong."""
    if name == OM:
        return await om(sitting, args, width)
    command = _COMMANDS.get(name)
    if command is None:
        return Told(text=f"There is no command /{name}.", level="error")
    session = await sitting.session()
    if session is None:
        return Told(text="Memory is off in this session; see `hindbrain doctor`.", level="warning")
    try:
        return await command(sitting, session, args.strip())
    except HindbrainError as error:
        return Told(text=str(error), level="error")


def completions(name: str, prefix: str) -> list[str]:
    """What may be typed behind a command, of what begins with ``prefix``."""
    if name == OM:
        return om_completions(prefix)
    return [each for each in _ARGUMENTS.get(name, ()) if each.startswith(prefix.lstrip())]


async def _hindsight(sitting: Sitting, session: Session, args: str) -> Told:
    if args == "status" or not sitting.opened.ui:
        return Told(text="\n".join((await report(session)).lines()))
    return Told(text=await hub(sitting, session))


async def _retain(_sitting: Sitting, session: Session, args: str) -> Told:
    if args not in {"on", "off"}:
        return Told(text="Say /hindsight:retain on, or off.", level="warning")
    await session.governance.set_retain(on=args == "on")
    if args == "on":
        return Told(text="Turns are retained again. Those that were kept out stay out.")
    return Told(text="Turns of this session are not retained, and will not be later.")


async def _opt_out(_sitting: Sitting, session: Session, _args: str) -> Told:
    await session.governance.opt_out()
    return Told(text="The next run is kept out of memory, for good.")


async def _tag(_sitting: Sitting, session: Session, args: str) -> Told:
    what, _, tag = args.partition(" ")
    if what not in {"add", "remove"} or not tag.strip():
        return Told(text="Say /hindsight:tag add TAG, or remove TAG.", level="warning")
    change = session.governance.add_tag if what == "add" else session.governance.remove_tag
    record = await change(tag.strip())
    return Told(text=f"Tags of this session: {', '.join(record.tags) or 'none'}.")


async def _queue(sitting: Sitting, session: Session, args: str) -> Told:
    if args == "flush":
        return Told(text=await send_now(sitting, session))
    if args not in {"", "status"}:
        return Told(text="Say /hindsight:queue, or /hindsight:queue flush.", level="warning")
    found = await report(session)
    return Told(text="\n".join([*found.queue_lines(), *found.receipt_lines()]))


_Command = Callable[[Sitting, Session, str], Awaitable[Told]]
_COMMANDS: dict[str, _Command] = {
    "hindsight": _hindsight,
    "hindsight:retain": _retain,
    "hindsight:next-opt-out": _opt_out,
    "hindsight:tag": _tag,
    "hindsight:queue": _queue,
}
COMMANDS = (*_COMMANDS, OM)
"""The names that ``run_command`` knows."""
_ARGUMENTS = {
    "hindsight": ("status",),
    "hindsight:retain": ("on", "off"),
    "hindsight:tag": ("add ", "remove "),
    "hindsight:queue": ("status", "flush"),
}
