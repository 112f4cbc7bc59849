"""contracts alone: a memory in this process takes a text and finds it again."""

import asyncio
import sys
import uuid
from pathlib import Path

import hindbrain.contracts
from hindbrain.contracts import RecallQuery, RetainItem
from hindbrain.contracts.in_memory import InMemoryBackend


async def main() -> None:
    backend = InMemoryBackend()
    item = RetainItem(content="The tests run with one command.", document_id="notes", tags=("project:demo",))
    await backend.retain("demo", item, operation_id=str(uuid.uuid4()))
    found = await backend.recall("demo", RecallQuery(text="how do the tests run?", tags=("project:demo",)))
    assert "one command" in found.facts[0].text
    assert (await backend.delete("demo", "notes")).found


assert Path(hindbrain.contracts.__file__).is_relative_to(sys.prefix)
asyncio.run(main())
