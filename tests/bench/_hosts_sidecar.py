"""The sidecar of pi over a memory that answers at once, so that a bench measures the path and not a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hindbrain.bridge import serve
from hindbrain.pi import VERSION
from hindbrain.pi.__main__ import load, surface

if TYPE_CHECKING:
    from hindbrain.bridge import Handlers, Peer


def load_with_memory(peer: Peer) -> Handlers:
    """The application as it is, but for where it asks."""
    from contextlib import asynccontextmanager

    from hindbrain.contracts import Fact, FactType, Recall, Retained
    from hindbrain.generic import _live

    found = Recall(
        facts=tuple(Fact(id=f"f{n}", text=f"The harbour has {n} cranes.", type=FactType.WORLD) for n in range(8))
    )

    class AtOnce:
        """Takes everything and knows eight facts."""

        async def retain(self, _bank: str, _item: Any, *, operation_id: str) -> Retained:
            return Retained(operation_id=operation_id)

        async def recall(self, _bank: str, _query: Any) -> Recall:
            return found

    @asynccontextmanager
    async def at_once(_settings: Any) -> Any:
        yield AtOnce()

    setattr(_live, "open_backend", at_once)  # noqa: B010  (the module does not export it)
    return load(peer)


if __name__ == "__main__":
    serve(surface(), load_with_memory, VERSION)
