"""store alone: a text outlives the backend that took it."""

import asyncio
import sys
import tempfile
import uuid
from pathlib import Path

import hindbrain.store
from hindbrain.contracts import RecallQuery, RetainItem
from hindbrain.store import EmbeddedBackend


async def main(folder: Path) -> None:
    backend = EmbeddedBackend(folder)
    item = RetainItem(content="The tests run with one command.", document_id="notes")
    await backend.retain("demo", item, operation_id=str(uuid.uuid4()))
    await backend.close()
    backend = EmbeddedBackend(folder)
    found = await backend.recall("demo", RecallQuery(text="how do the tests run?"))
    await backend.close()
    assert "one command" in found.facts[0].text


assert Path(hindbrain.store.__file__).is_relative_to(sys.prefix)
with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(Path(folder) / "banks"))
