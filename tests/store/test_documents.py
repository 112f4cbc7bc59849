"""What documents leave behind: the counts that ranking rests on stay true, whatever is written and deleted."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import uuid
from collections import Counter
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.contracts import RetainItem, UpdateMode
from hindbrain.store import EmbeddedBackend

DOCUMENTS = st.sampled_from(["a", "b", "c"])
TEXTS = st.lists(st.sampled_from(["tide", "moon", "mdLink", "黒猫", "..."]), min_size=1, max_size=4).map(" ".join)
RETAINS = st.tuples(DOCUMENTS, TEXTS, st.sampled_from(UpdateMode), st.sampled_from([(), ("t:1",), ("t:1", "t:2")]))


def check(path: Path) -> None:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT id, size, words, about, tagset, scope, document FROM fact").fetchall()
    stats = dict(connection.execute("SELECT name, value FROM stat"))
    assert stats == {"facts": len(rows), "words": sum(row[1] for row in rows)}
    words = Counter(word for row in rows for word in {*row[2].split(), *row[3].split()})
    assert dict(connection.execute("SELECT word, facts FROM term")) == words
    for word in ("tide", "moon"):
        found = connection.execute("SELECT rowid FROM view WHERE view MATCH ? ORDER BY rowid", (word,)).fetchall()
        assert [row[0] for row in found] == [row[0] for row in rows if word in row[2].split()]
    documents = {row[0]: row[1:] for row in connection.execute("SELECT id, tagset, scope, facts FROM document")}
    assert all(documents[row[6]][:2] == row[4:6] for row in rows)
    assert Counter(row[6] for row in rows) == Counter({number: row[2] for number, row in documents.items()})
    kept = {row[0] for row in connection.execute("SELECT id FROM tagset")}
    assert {row[0] for row in documents.values()} <= kept
    connection.close()


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(st.one_of(RETAINS, DOCUMENTS), max_size=8))
def test_counts_and_index_agree_with_the_facts(steps: list[tuple[str, str, UpdateMode, tuple[str, ...]] | str]) -> None:
    async def play(root: Path) -> None:
        backend = EmbeddedBackend(root)
        for step in steps:
            if isinstance(step, str):
                await backend.delete("bank", step)
            else:
                document, text, mode, tags = step
                item = RetainItem(content=text, document_id=document, update_mode=mode, tags=tags)
                await backend.retain("bank", item, operation_id=str(uuid.uuid4()))
        await backend.close()

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "banks"
        asyncio.run(play(root))
        if (root / "bank.sqlite").exists():
            check(root / "bank.sqlite")
