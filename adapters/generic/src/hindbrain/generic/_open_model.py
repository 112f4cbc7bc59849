"""The workers' model that the settings name, where no host gives one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from attrs import frozen

from hindbrain.contracts import Endpoint
from hindbrain.generic._config import Settings
from hindbrain.generic._endpoint_model import EndpointModel
from hindbrain.generic._open import refuse_doubtful, token_policy
from hindbrain.observe import WorkerModel


@frozen
class OneModel:
    """Implements the ``ModelSource`` port: always the same model, or none."""

    worker: WorkerModel | None

    async def resolve(self) -> WorkerModel | None:
        """The model."""
        return self.worker


@asynccontextmanager
async def open_model(settings: Settings) -> AsyncIterator[OneModel]:
    """The model of ``observe.endpoint.*``, closed at the end; none where no address or no model is named.

    Raises:
        SettingsError: the address, the model or its key was named in a way that cannot be read; nothing was sent.
        InvalidValueError: the address is refused.
    """
    refuse_doubtful(path for path in settings.doubtful if path.startswith("observe.endpoint."))
    address, name = settings["observe.endpoint.baseUrl"], settings["observe.endpoint.model"]
    if not (address and name):
        yield OneModel(None)
        return
    model = EndpointModel(
        Endpoint.parse(address, field="observe.endpoint.baseUrl"),
        name,
        token=token_policy(settings["observe.endpoint.apiKeyRef"]),
    )
    try:
        yield OneModel(WorkerModel(model=model, window=settings["observe.endpoint.window"], name=name))
    finally:
        await model.close()
