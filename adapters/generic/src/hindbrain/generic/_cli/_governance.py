"""``hindbrain mode | opt-out | tag``: what the user decides about one session.

Source: seed 000, "Session governance".
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from attrs import frozen

from hindbrain.contracts import HindbrainError
from hindbrain.generic._cli._run import Options, run
from hindbrain.generic._cli._state import with_state, with_view
from hindbrain.generic._config import Settings
from hindbrain.generic._envelope import Envelope
from hindbrain.memory import session_key
from hindbrain.memory.sessions import SessionNames, names_of
from hindbrain.store import HostState, SessionRecord, SessionRecords, StateView

Change = Callable[[SessionRecords, str], SessionRecord]
_NO_FILE = "There is no session file at that path yet: this is about the session that is recorded there later."


class NotASessionError(HindbrainError):
    """What lies at the path is no session's file, so nobody's record was changed or shown."""

    code = "no-session"

    def __init__(self) -> None:
        super().__init__(
            "What lies at that path is no session file of pi or omp; nothing was changed.",
            next_step="Name the session's .jsonl file.",
        )


def with_mode(mode: str | None, retain: str | None) -> Change:
    """The change to a mode, and of automatic retain to on or off; None leaves what it names as it is."""

    def how(records: SessionRecords, sid: str) -> SessionRecord:
        if mode is not None:
            records.set_mode(sid, mode)
        if retain is not None:
            records.set_retain(sid, on=retain == "on")
        return records.read(sid)

    return how


@frozen(kw_only=True)
class _Named:
    """A session as a command names it: its path's key, what its file says it is called, and what is to be warned of."""

    key: str
    names: SessionNames | None
    warnings: tuple[str, ...]


def _named(session: Path) -> _Named:
    """The session at a path.

    Raises:
        NotASessionError: something else lies there.
    """
    path = session.resolve()
    names = names_of(path)
    if names is None and path.exists():
        raise NotASessionError
    return _Named(key=session_key(str(path)), names=names, warnings=() if names else (_NO_FILE,))


def _told(command: str, session: _Named, sid: str, record: SessionRecord) -> Envelope:
    data = {
        "session": sid,
        "mode": record.mode.value,
        "retain": "on" if record.retained else "off",
        "next_opt_out": record.next_retain_mode.value == "off",
        "tags": list(record.tags),
    }
    text = "\n".join(f"{name:13s} {value}" for name, value in data.items())
    return Envelope(command=command, data=data, text=text, warnings=session.warnings)


def show(command: str, options: Options, session: Path, *, host: str, state_dir: str | None) -> None:
    """Show the record of a session; nothing is changed or made. See ``change`` for the arguments."""

    async def work(settings: Settings) -> Envelope:
        named = _named(session)
        return await with_view(settings, host, state_dir, lambda view: look(named, view))

    def look(named: _Named, view: StateView | None) -> Envelope:
        if view is None:
            return _told(command, named, named.key, SessionRecord())
        names = named.names
        sid = named.key if names is None else view.document_key(names.lineage, names.session_id, named.key)
        return _told(command, named, sid, view.records.read(sid))

    run(command, options, work)


def change(command: str, options: Options, session: Path, how: Change, *, host: str, state_dir: str | None) -> None:
    """Change the record of a session, and show it.

    Args:
        command: the command's name, for the envelope.
        options: the common options.
        session: the session's file. It keeps the id it was given first in its state folder, wherever it lies now.
        how: gives the record as it is afterwards.
        host: whose state folder is meant.
        state_dir: the state folder itself, in place of the project's.
    """

    async def work(settings: Settings) -> Envelope:
        named = _named(session)
        return await with_state(settings, host, state_dir, lambda state: use(named, state))

    async def use(named: _Named, state: HostState) -> Envelope:
        names = named.names
        sid = named.key if names is None else await state.document_key(names.lineage, names.session_id, named.key)
        return _told(command, named, sid, await state.run(lambda: how(state.records, sid)))

    run(command, options, work)
