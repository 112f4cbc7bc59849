"""Several processes share a folder."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from hindbrain.contracts import RecallQuery
from hindbrain.store import EmbeddedBackend

WRITERS, TEXTS = 3, 6
WRITER = """
import asyncio, sys, uuid
from pathlib import Path
from hindbrain.contracts import RetainItem
from hindbrain.store import EmbeddedBackend

async def main(root, name, count):
    backend = EmbeddedBackend(Path(root))
    for n in range(int(count)):
        own = RetainItem(content=f"The {name} lighthouse flashed {name}x{n}.", document_id=f"{name}-{n}")
        await backend.retain("bank", own, operation_id=str(uuid.uuid4()))
        shared = RetainItem(content=f"Everyone wrote line {n}.", document_id="shared", update_mode="append")
        await backend.retain("bank", shared, operation_id=str(uuid.uuid5(uuid.NAMESPACE_OID, str(n))))
    await backend.close()

asyncio.run(main(*sys.argv[1:]))
"""


async def test_writers_in_several_processes_lose_and_repeat_nothing(root: Path) -> None:
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", WRITER, str(root), f"w{n}", str(TEXTS))
        for n in range(WRITERS)
    ]
    async with asyncio.timeout(50):
        assert [await process.wait() for process in processes] == [0] * WRITERS
    backend = EmbeddedBackend(root)
    for writer in range(WRITERS):
        for n in range(TEXTS):
            found = await backend.recall("bank", RecallQuery(text=f"w{writer}x{n}"))
            assert f"w{writer}x{n}" in found.facts[0].text
    once = await backend.delete("bank", "shared")
    assert once.facts == TEXTS, "the same operation id in several processes is one operation"
    await backend.close()
