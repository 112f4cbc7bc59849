"""``/hindsight``: a list with keys over the session's memory. Source: seed 000, the hub and its keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hindbrain.contracts import neutralise
from hindbrain.generic._session import Session
from hindbrain.generic.sidecar._footer import waiting
from hindbrain.generic.sidecar._report import Report, report, state_of
from hindbrain.generic.sidecar._sitting import Sitting
from hindbrain.store import Mode

_TITLE = "Hindsight memory"
_KEYS = {"f": "flush", "m": "mode", "x": "keep the next run out", "o": "doctor"}
_MOST_ROWS = 12


async def hub(sitting: Sitting, session: Session) -> str:
    """Show it until the user leaves; the last thing that was done, in words.

    Where the host cannot show a list, the status is what is said.
    """
    said = ""
    while True:
        found = await report(session)
        lines = [*found.head(), *found.queue_lines()]
        pages = [*_PAGES]
        key, index = await sitting.host.view_list(_TITLE, [*lines, "", said] if said else lines, pages, _KEYS)
        if key is None and index is None:
            return said or ("" if sitting.opened.mode == "tui" else "\n".join(found.lines()))
        if key is not None:
            said = await _ACTIONS[key](sitting, session) or said
        elif index is not None:
            page = pages[index]
            await sitting.host.view_list(f"{_TITLE}: {page}", await _PAGES[page](sitting, session, found), [], {})


async def send_now(sitting: Sitting, session: Session) -> str:
    """Send what waits, also where that was to wait longer after an outage, and say what came of it."""
    session.outbox.answered()
    flush = await session.send()
    sitting.voice.show(waiting(flush.waiting))
    rest = f", {flush.waiting} waiting ({flush.code})" if flush.code else f", {flush.waiting} waiting"
    return f"{flush.sent} sent{rest}."


async def _mode(sitting: Sitting, session: Session) -> str:
    modes = [str(mode) for mode in Mode]
    chosen = await sitting.host.select("Mode of this session", modes)
    if chosen is None:
        return "The mode stays as it is."
    record = await session.governance.set_mode(modes[chosen])
    return f"The mode is {record.mode} now."


async def _opt_out(_sitting: Sitting, session: Session) -> str:
    await session.governance.opt_out()
    return "The next run is kept out of memory, for good."


async def _doctor(sitting: Sitting, _session: Session) -> str:
    lines = await sitting.doctor()
    await sitting.host.view_list(f"{_TITLE}: doctor", lines, [], {})
    return ""


_ACTIONS: dict[str, Callable[[Sitting, Session], Awaitable[str]]] = {
    "f": send_now,
    "m": _mode,
    "x": _opt_out,
    "o": _doctor,
}


async def _status(_sitting: Sitting, _session: Session, found: Report) -> list[str]:
    return found.lines()


async def _queue(_sitting: Sitting, session: Session, found: Report) -> list[str]:
    state = state_of(session)
    jobs = () if state is None else await state.ask(lambda queue: queue.waiting(_MOST_ROWS))
    return [*found.queue_lines(), *(f"{job.created_at}  {job.document_id}  tries {job.retries}" for job in jobs)]


async def _receipts(_sitting: Sitting, _session: Session, found: Report) -> list[str]:
    rows = found.receipts[:_MOST_ROWS]
    return [*found.receipt_lines(), *(f"{each.created_at}  {each.document_id}  {each.update_mode}" for each in rows)]


async def _last_recall(_sitting: Sitting, session: Session, _found: Report) -> list[str]:
    patch = session.last_patch
    if patch is None:
        return ["Nothing was recalled in this session yet."]
    if not patch.text:
        return [f"The last recall showed nothing ({patch.skipped or 'nothing was found'})."]
    return [f"- {neutralise(item.fact.text)}" for item in patch.outcome.block.items]


async def _observation(sitting: Sitting, _session: Session, _found: Report) -> list[str]:
    observing = await sitting.observing()
    return ["This session is not observed."] if observing is None else (await observing.status()).text.splitlines()


_PAGES: dict[str, Callable[[Sitting, Session, Report], Awaitable[list[str]]]] = {
    "status": _status,
    "queue": _queue,
    "receipts": _receipts,
    "last recall": _last_recall,
    "observation": _observation,
}
