"""``/om``: what a user asks of observational memory in the host.

Source: 004_d1a6c9e182f889a8.txt, "Commands and agent tool"; spec/observe.md section 7.1.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable

from hindbrain.contracts import HindbrainError
from hindbrain.generic._config import Settings
from hindbrain.generic._observe import Observing, Told
from hindbrain.generic.sidecar._report import report
from hindbrain.generic.sidecar._sitting import Sitting

USAGE = "Say /om, or /om on | off | status | consolidate | compact | view [full]."
VERBS = ("on", "off", "status", "consolidate", "compact", "view")
_FULL = "view full"
_NOT_COPIED = "Warning: it could not be copied to the clipboard."
_NO_TOOL = "Warning: it could not be copied; a clipboard takes wl-clipboard, xclip or xsel here."


async def om(sitting: Sitting, args: str, width: int = 80) -> Told:
    """Run ``/om`` with what stood behind it. Nothing is raised for a broken memory.

    Args:
        sitting: the session.
        args: the words behind the command; how they are capitalised does not matter.
        width: of the terminal, in cells.
    """
    words = args.lower().split()
    command = _COMMANDS.get(" ".join(words))
    if command is None:
        return Told(text=USAGE, level="warning")
    observing = await sitting.observing()
    if observing is None:
        return Told(text="This session is not observed (observe.enabled, observe.subagents).", level="warning")
    try:
        return await command(sitting, observing, width)
    except HindbrainError as error:
        return Told(text=str(error), level="error")
    except Exception as error:  # noqa: BLE001  (the border to the host: a command that fails says so)
        text = f"The host did not do its part ({type(error).__name__}); nothing was done. Try again."
        return Told(text=text, level="error")


def om_completions(prefix: str) -> list[str]:
    """What may stand behind ``/om``, of what begins with ``prefix``; the last word is new."""
    typed = prefix.lstrip().lower()
    offered = (_FULL,) if " " in typed else VERBS
    return [each for each in offered if each.startswith(typed)]


async def _state(_sitting: Sitting, observing: Observing, _width: int) -> Told:
    return await observing.state()


async def _on(_sitting: Sitting, observing: Observing, _width: int) -> Told:
    return await observing.set_gate(on=True)


async def _off(_sitting: Sitting, observing: Observing, _width: int) -> Told:
    return await observing.set_gate(on=False)


async def _status(sitting: Sitting, observing: Observing, width: int) -> Told:
    return await observing.status(width, hindsight=await _hindsight(sitting))


async def _hindsight(sitting: Sitting) -> tuple[str, ...]:
    """The memory that outlives the session: where it goes and what waits, never a key."""
    session, settings = await sitting.session(), sitting.settings
    if session is None or settings is None or not settings["enabled"]:
        return ("off in this session",)
    try:
        return (_backend(settings), *(await report(session)).lines())
    except HindbrainError as error:
        return (str(error),)


def _backend(settings: Settings) -> str:
    where = settings["backend"]
    if where != "hindsight":
        return f"backend   {where}"
    key = "with a key" if settings["hindsight.apiKeyRef"] else "without a key"
    return f"backend   {where} at {settings['hindsight.baseUrl'] or 'no address'}, {key}"


async def _consolidate(_sitting: Sitting, observing: Observing, _width: int) -> Told:
    return await observing.consolidate_now()


async def _compact(_sitting: Sitting, observing: Observing, _width: int) -> Told:
    return await observing.compact_now()


async def _view(sitting: Sitting, observing: Observing, _width: int) -> Told:
    return await _copied(sitting, await observing.view())


async def _view_full(sitting: Sitting, observing: Observing, _width: int) -> Told:
    return await _copied(sitting, await observing.view(whole=True))


async def _copied(sitting: Sitting, shown: Told) -> Told:
    """Put what is to be copied on the clipboard and say below what became of it; a terminal alone has one."""
    if not shown.copy or sitting.opened.mode != "tui":
        return shown
    try:
        how = await sitting.host.copy(shown.copy)
    except Exception:  # noqa: BLE001  (the border to the host: what is shown is shown all the same)
        how = None
    line = "Copied to the clipboard." if how else _NO_TOOL if sys.platform == "linux" else _NOT_COPIED
    return Told(text=f"{shown.text}\n\n{line}", level=shown.level)


_COMMANDS: dict[str, Callable[[Sitting, Observing, int], Awaitable[Told]]] = {
    "": _state,
    "on": _on,
    "off": _off,
    "status": _status,
    "consolidate": _consolidate,
    "compact": _compact,
    "view": _view,
    _FULL: _view_full,
}
