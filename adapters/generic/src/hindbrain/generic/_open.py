"""Looking up what a session needs: the project of a directory, the names of a session, the backend of the settings."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from attrs import frozen

from hindbrain.contracts import Backend, Endpoint, EnvToken, HindbrainError, NoAuth, TokenFile, TokenPolicy
from hindbrain.generic._config import BY_PATH, Settings, memory_config
from hindbrain.generic._embedder import OpenAIEmbedder
from hindbrain.memory import Project, SessionIdentity, identify, read_checkout, session_key


class SettingsError(HindbrainError):
    """The settings name a backend that cannot be used as they stand; nothing was sent."""

    code = "config"


@frozen(kw_only=True)
class SessionPlace:
    """Where a session lives.

    ``file`` is None for an ephemeral session. ``session_id`` is the host's own id and ``parent`` the path or id of what
    the session was forked from: hosts know both before the file is there.
    """

    host: str
    cwd: str
    file: str | None = None
    session_id: str | None = None
    parent: str | None = None


def token_policy(ref: str | None) -> TokenPolicy:
    """The token policy of an ``apiKeyRef`` setting.

    Raises:
        SettingsError: the reference is of no known kind.
    """
    kind, _, rest = (ref or "none:").partition(":")
    match kind:
        case "none":
            return NoAuth()
        case "env":
            return EnvToken(rest)
        case "file":
            return TokenFile(Path(rest).expanduser())
        case "keyring":
            from hindbrain.contracts import KeyringToken

            service, _, user = rest.partition("/")
            return KeyringToken(service, user)
        case _:
            raise SettingsError(
                "hindsight.apiKeyRef is of no known kind; nothing was sent.",
                next_step="Use env:NAME, file:PATH or keyring:SERVICE/USER.",
            )


def data_dir(settings: Settings) -> Path:
    """The folder of the embedded banks: ``dataDir``, else the platform's data folder."""
    if settings["dataDir"]:
        return Path(settings["dataDir"]).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("hindbrain", appauthor=False))


def check_destination(settings: Settings) -> None:
    """Refuse where the server, its key or a bank was named in a way that cannot be read: a guess might be another's.

    Raises:
        SettingsError: it was; the value is not repeated.
    """
    refuse_doubtful(path for path in settings.doubtful if not path.startswith(("embedder.", "observe.")))


def refuse_doubtful(paths: Iterable[str]) -> None:
    """Refuse where there are any of these settings, none of which could be read.

    Raises:
        SettingsError: there are; no value is repeated.
    """
    if doubtful := sorted(paths):
        raise SettingsError(
            f"{doubtful[0]} is refused and nothing was sent: expected {BY_PATH[doubtful[0]].form.words}.",
            next_step="See `hindbrain config check`.",
        )


def origin_of(settings: Settings) -> str:
    """The address that operation ids are bound to: the server's URL, or ``local``.

    Raises:
        SettingsError: the server is named in a way that is refused.
    """
    if settings["backend"] == "local":
        return "local"
    check_destination(settings)
    return Endpoint.parse(settings["hindsight.baseUrl"]).url


def open_embedder(settings: Settings) -> OpenAIEmbedder | None:
    """The embedder of the banks on this machine, None where the settings name none. The caller closes it."""
    if not (settings["embedder.baseUrl"] and settings["embedder.model"]):
        return None
    return OpenAIEmbedder(
        Endpoint.parse(settings["embedder.baseUrl"], field="embedder.baseUrl"),
        settings["embedder.model"],
        token=token_policy(settings["embedder.apiKeyRef"]),
        deadline=settings["hindsight.timeoutMs"] / 1000,
    )


@asynccontextmanager
async def open_backend(settings: Settings) -> AsyncIterator[Backend]:
    """The one backend the settings select, closed at the end; the other is never contacted.

    Raises:
        SettingsError, InvalidValueError: an address, bank or token reference is refused.
    """
    if settings["backend"] == "local":
        from hindbrain.store import EmbeddedBackend

        embedder = open_embedder(settings)
        backend: Backend = EmbeddedBackend(data_dir(settings) / "banks", embedder=embedder)
    else:
        from hindbrain.client import ClientConfig, HindsightClient

        check_destination(settings)
        embedder = None
        backend = HindsightClient(
            Endpoint.parse(settings["hindsight.baseUrl"]),
            token=token_policy(settings["hindsight.apiKeyRef"]),
            config=ClientConfig(deadline=settings["hindsight.timeoutMs"] / 1000),
        )
    try:
        yield backend
    finally:
        await backend.close()
        if embedder is not None:
            await embedder.close()


async def find_project(cwd: str, settings: Settings) -> Project:
    """The project of a directory, looked up once; git runs beside the event loop."""
    checkout = await asyncio.to_thread(read_checkout, cwd, home=str(Path.home()))
    return identify(checkout, memory_config(settings).scope)


def name_session(place: SessionPlace, origin: str) -> SessionIdentity:
    """The names of a session, from its file, or made up for an ephemeral one."""
    token = place.file or f"ephemeral:{place.cwd}:{uuid.uuid4()}"
    key = session_key(token)
    label = Path(place.file).name if place.file else "ephemeral session"
    return SessionIdentity(host=place.host, key=key, lineage=place.session_id or key, label=label, origin=origin)
