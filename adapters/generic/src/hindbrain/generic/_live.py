"""A live session with everything it needs, opened and closed in the right order."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from attrs import evolve

from hindbrain.contracts import Host
from hindbrain.generic._config import Settings, memory_config
from hindbrain.generic._disk_outbox import DiskOutbox, state_folder
from hindbrain.generic._every import every
from hindbrain.generic._governance import RecordedGovernance
from hindbrain.generic._open import SessionPlace, data_dir, find_project, name_session, open_backend, origin_of
from hindbrain.generic._otel import record_span
from hindbrain.generic._recall_files import DiskRecallFiles
from hindbrain.generic._session import Session
from hindbrain.generic._telemetry import Listener
from hindbrain.memory import SessionIdentity, session_key
from hindbrain.memory.sessions import SessionFileError, names_of, names_of_new, raw_messages, read_session
from hindbrain.store import HostState


@asynccontextmanager
async def live_session(
    host: Host, settings: Settings, place: SessionPlace, *, on_event: Listener | None = record_span
) -> AsyncIterator[Session]:
    """Open a session whose turns survive this process; it is closed, with a bounded flush, at the end.

    Where the settings say so, what waits is sent by the clock, too, so that a host that stands idle sends it.

    The session's document key and its lineage come from what the host wrote in the session file, so that a file that
    moves keeps its document, and a fork retains only what is new.

    Args:
        host: where the conversation lives.
        settings: the effective settings.
        place: the host's name, the working directory and the session file.
        on_event: called for each telemetry event, beside the host's bus; by default OpenTelemetry, where its extra is
            installed and the process has set it up.

    Raises:
        NoProjectError: the directory is no project; memory must stay off.
        HindbrainError: the settings or the state folder are refused. Nothing was sent.
    """
    project = await find_project(place.cwd, settings)
    root = Path(project.root)
    notices: list[str] = []
    state = await HostState.open(
        state_folder(place.host, root),
        seal_file=data_dir(settings) / "seal.key",
        within=root,
        notify=notices.append,
    )
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(state.close)
        identity = await _identity(state, place, origin_of(settings))
        config = memory_config(settings)
        backend = await stack.enter_async_context(open_backend(settings))
        session = Session(
            host=host,
            backend=backend,
            config=config,
            project=project,
            identity=identity,
            outbox=DiskOutbox(state, backend, settings),
            governance=RecordedGovernance(state, identity.key),
            recall_files=DiskRecallFiles(state, config.recall, root),
            notices=notices,
            on_event=on_event,
        )
        await _take_over(state, place, session)
        for notice in (*settings.warnings, *notices):
            await host.notify(notice, "warning")
        notices.clear()
        stack.push_async_callback(session.close)
        await stack.enter_async_context(every(settings["retain.flushIntervalMs"] / 1000, session.tick))
        yield session


async def _take_over(state: HostState, place: SessionPlace, session: Session) -> None:
    """What the TypeScript extension retained of this session is not retained again."""
    file = place.file
    if file is None:
        return
    with contextlib.suppress(SessionFileError, OSError):  # a file that is not there yet has no past
        await state.take_over(
            session_key(file),
            session.identity.lineage,
            session.bank,
            lambda: (read_session(file).branch(), raw_messages(file)),
        )


async def _identity(state: HostState, place: SessionPlace, origin: str) -> SessionIdentity:
    identity = name_session(place, origin)
    names = await asyncio.to_thread(names_of, place.file) if place.file else None
    if names is None and place.session_id is not None:
        names = await asyncio.to_thread(names_of_new, place.session_id, place.parent)
    if names is None:
        return identity
    key = await state.document_key(names.lineage, names.session_id, identity.key)
    return evolve(identity, key=key, lineage=names.lineage)
