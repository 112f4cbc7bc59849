"""``hindbrain mode | opt-out | tag``: what the user decides about one session.

Source: seed 000, "Session governance".
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hindbrain.generic._cli._run import Options, run
from hindbrain.generic._cli._state import with_state
from hindbrain.generic._config import Settings
from hindbrain.generic._envelope import Envelope
from hindbrain.memory import session_key
from hindbrain.memory.sessions import names_of
from hindbrain.store import HostState, SessionRecord, SessionRecords

Change = Callable[[SessionRecords, str], SessionRecord]


def with_mode(mode: str | None, retain: str | None) -> Change:
    """The change to a mode, and of automatic retain to on or off; None leaves what it names as it is."""

    def how(records: SessionRecords, sid: str) -> SessionRecord:
        if mode is not None:
            records.set_mode(sid, mode)
        if retain is not None:
            records.set_retain(sid, on=retain == "on")
        return records.read(sid)

    return how


async def _sid(state: HostState, file: str) -> str:
    """The session's id in its state folder: the one it was given first, wherever its file lies now."""
    names = names_of(file)
    key = session_key(file)
    return key if names is None else await state.document_key(names.lineage, names.session_id, key)


def change(command: str, options: Options, session: Path, how: Change, *, host: str, state_dir: str | None) -> None:
    """Change, or only show, the record of a session.

    Args:
        command: the command's name, for the envelope.
        options: the common options.
        session: the session's file.
        how: gives the record as it is afterwards.
        host: whose state folder is meant.
        state_dir: the state folder itself, in place of the project's.
    """
    file = str(session.resolve())

    async def work(settings: Settings) -> Envelope:
        return await with_state(settings, host, state_dir, use)

    async def use(state: HostState) -> Envelope:
        sid = await _sid(state, file)
        record = await state.run(lambda: how(state.records, sid))
        data = {
            "session": sid,
            "mode": record.mode.value,
            "retain": "on" if record.retained else "off",
            "next_opt_out": record.next_retain_mode.value == "off",
            "tags": list(record.tags),
        }
        text = "\n".join(f"{name:13s} {value}" for name, value in data.items())
        return Envelope(command=command, data=data, text=text)

    run(command, options, work)
