"""Which model the workers ask: the one that the settings name, else the session's own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from hindbrain.observe import ModelChoice, WorkerModel

Tell = Callable[[str, str], Awaitable[None]]
"""Shows a line to the user, with its level."""


class Models(Protocol):
    """The models that a host knows."""

    async def find(self, choice: ModelChoice | None) -> WorkerModel | None:
        """The model of this name, or with None the session's own; None where it cannot be asked."""
        ...


class ToldModels:
    """Finds the workers' model, and says where it is another one than was meant.

    Args:
        models: what the host knows.
        choice: what the settings name.
        tell: shows a line.
    """

    def __init__(self, models: Models, choice: ModelChoice | None, tell: Tell) -> None:
        self._models = models
        self._choice = choice
        self._tell = tell
        self._missed = False

    async def resolve(self) -> WorkerModel | None:
        """The model of the next run. That there is none is told once, until there is one again."""
        choice = self._choice
        if choice is not None:
            found = await self._models.find(choice)
            if found is not None:
                self._missed = False
                return found
            await self._tell(
                f"The model {choice.provider}/{choice.id} of observe.model is not available; the session's own works.",
                "warning",
            )
        found = await self._models.find(None)
        if found is None and not self._missed:
            await self._tell("No model is available, so nothing is observed until there is one.", "warning")
        self._missed = found is None
        return found
