"""``hindbrain status OPERATION``: where a retain stands."""

from __future__ import annotations

from pathlib import Path

import attrs

from hindbrain.contracts import Backend
from hindbrain.generic._cli._run import Options, run, with_backend
from hindbrain.generic._config import Settings, memory_config
from hindbrain.generic._envelope import Envelope, Exit
from hindbrain.generic._open import find_project
from hindbrain.memory import (
    MemoryConfig,
    Project,
    project_bank,
)


async def _project(settings: Settings) -> tuple[Project, MemoryConfig, str]:
    config = memory_config(settings)
    project = await find_project(str(Path.cwd()), settings)
    return project, config, project_bank(config, project)


def status(options: Options, operation: str, bank: str | None) -> None:
    """Say where a retain stands."""

    async def work(settings: Settings) -> Envelope:
        own_bank = (await _project(settings))[2] if bank is None else bank

        async def use(backend: Backend) -> Envelope:
            state = await backend.status(own_bank, operation)
            data = {"bank": own_bank, **attrs.asdict(state), "status": state.status.value}
            bad = state.status.value in {"failed", "cancelled", "not_found"}
            return Envelope(command="status", data=data, text=state.status.value, exit=Exit.FAILED if bad else Exit.OK)

        return await with_backend(settings, use)

    run("status", options, work)
