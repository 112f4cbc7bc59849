"""Which model of the host the workers ask, and what is known of it.

Source: spec/observe.md section 3.2 (model choice); docs/protocol.md, ``host/model``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from attrs import frozen

from hindbrain.generic.sidecar._model import PeerModel, count, mapping
from hindbrain.generic.sidecar._peer import Peer
from hindbrain.observe import ModelChoice, Thinking, WorkerModel

_QUICK = 5.0
Notify = Callable[[str, str], Awaitable[None]]
"""Shows one line to the user; the second argument is its level."""


@frozen(kw_only=True)
class ModelInfo:
    """A model as the host knows it. ``window`` and ``max_tokens`` are None where it does not know them."""

    provider: str
    id: str
    window: int | None = None
    max_tokens: int | None = None
    reasoning: bool = False

    @property
    def name(self) -> str:
        """Provider and id."""
        return f"{self.provider}/{self.id}"


class PeerModels:
    """Implements the ``ModelSource`` port: the chosen model of the host, else the session's own.

    Args:
        peer: the host.
        session: the host's own id of the session.
        choice: what the settings name; None is the session's own model.
        notify: tells the user that a model is not there.
    """

    def __init__(self, peer: Peer, session: str, choice: ModelChoice | None, notify: Notify) -> None:
        self._peer = peer
        self._session = session
        self._choice = choice
        self._notify = notify
        self._told_none = False

    async def resolve(self) -> WorkerModel | None:
        """The model of the next run.

        Where the chosen one is not there, the user is told so each time; where there is none at all, once until there
        is one again.

        Raises:
            Exception: the host refused, or did not answer in time.
        """
        choice = self._choice
        thinking = Thinking.LOW if choice is None else choice.thinking
        if choice is not None:
            named = {"provider": choice.provider, "id": choice.id}
            if (info := await self._info(named)) is not None:
                return self._worker(info, named, thinking)
        info = await self._info(None)
        if info is None:
            await self._tell_none()
            return None
        if choice is not None:
            text = f"memory: the model {choice.provider}/{choice.id} is not available; {info.name} works in its place."
            await self._notify(text, "warning")
        return self._worker(info, None, thinking)

    async def _info(self, named: Mapping[str, str] | None) -> ModelInfo | None:
        params = {"session": self._session, "model": None if named is None else dict(named)}
        found = mapping(await self._peer.call("host/model", params, _QUICK))
        provider, key = found.get("provider"), found.get("id")
        if not (isinstance(provider, str) and provider and isinstance(key, str) and key):
            return None
        return ModelInfo(
            provider=provider,
            id=key,
            window=count(found.get("window")) or None,
            max_tokens=count(found.get("maxTokens")) or None,
            reasoning=found.get("reasoning") is True,
        )

    def _worker(self, info: ModelInfo, named: Mapping[str, str] | None, thinking: Thinking) -> WorkerModel:
        self._told_none = False
        level = thinking.value if info.reasoning else None
        model = PeerModel(self._peer, self._session, named, level)
        return WorkerModel(model=model, window=info.window, max_tokens=info.max_tokens, name=info.name)

    async def _tell_none(self) -> None:
        if not self._told_none:
            self._told_none = True
            text = (
                "memory: there is no model for its workers, so nothing is observed. Choose one, or set observe.model."
            )
            await self._notify(text, "warning")
