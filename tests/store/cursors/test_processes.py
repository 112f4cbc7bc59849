"""Two sessions in one repository, each in a process of its own."""

from __future__ import annotations

import asyncio
import sys

from hindbrain.store._cursors import Cursors
from hindbrain.store._files import StateDir
from hindbrain.store._seal import SealKey

TURNS = 25
WRITER = """
import sys
from pathlib import Path
from hindbrain.contracts import Branch, Entry, Message, TextPart
from hindbrain.store._cursors import Cursors
from hindbrain.store._files import OsFileLayer, StateDir
from hindbrain.store._seal import SealKey

folder, name, turns = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
cursors = Cursors(StateDir.open(OsFileLayer(), folder), SealKey(bytes(range(32))), wait=20)
entries = []
for turn in range(turns):
    message = Message(role="user", parts=(TextPart(f"{name} {turn}"),))
    parent = entries[-1].id if entries else None
    entries.append(Entry(id=f"{name}{turn}", parent_id=parent, kind="message", message=message))
    for lineage in (name, "shared"):
        branch = Branch.of(entries)
        new = cursors.new_entries(lineage, "bank", branch)
        assert [entry.id for entry in new] == [f"{name}{turn}"], new
        cursors.advance(lineage, "bank", branch, new)
"""


async def test_two_sessions_in_one_repository_lose_nothing_of_each_other(state: StateDir, key: SealKey) -> None:
    names = ("a", "b")
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", WRITER, str(state.path), name, str(TURNS))
        for name in names
    ]
    async with asyncio.timeout(50):
        assert [await process.wait() for process in processes] == [0, 0]
    cursors = Cursors(state, key)
    for name in names:
        assert [head.last_id for head in cursors.cursor(name, "bank").heads] == [f"{name}{TURNS - 1}"]
    shared = cursors.cursor("shared", "bank")
    assert {head.last_id for head in shared.heads} == {f"{name}{TURNS - 1}" for name in names}
    assert {each.entry_id for each in shared.tail} == {f"{name}{turn}" for name in names for turn in range(TURNS)}
    assert {name for name in state.layer.listdir(state.path) if name.endswith(".tmp") or ".broken-" in name} == set()
