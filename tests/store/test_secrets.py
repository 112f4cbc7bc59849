"""Nothing reaches the disk unscrubbed, and what was deleted is in no file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.store import EmbeddedBackend

if TYPE_CHECKING:
    from store.conftest import Ask, Keep

PLANTED = (
    "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "sk-ant-api03-" + "x9Y8z7W6v5U4t3S2r1Q0p9O8n7M6l5K4j3I2h1G0",
    "AKIA" + "Q4ZJ5XKLM3N2P7RT",
)


def files_holding(root: Path, needle: str) -> list[str]:
    return [p.name for p in root.iterdir() if needle.lower().encode() in p.read_bytes().lower()]


async def test_planted_secrets_are_in_no_file(root: Path, backend: EmbeddedBackend, keep: Keep) -> None:
    turns = [{"role": "user", "content": [{"type": "text", "text": f"use {secret} to log in"}]} for secret in PLANTED]
    call = {"type": "toolCall", "name": "bash", "arguments": {"command": f"export TOKEN={PLANTED[0]}"}}
    turns.append({"role": "assistant", "content": [call]})
    await keep(json.dumps(turns), context=f"context {PLANTED[0]}", metadata={"note": f"key {PLANTED[1]}"})
    await keep(" ".join(PLANTED), document_id="plain")
    for secret in PLANTED:
        assert not files_holding(root, secret), "while open"
    await backend.close()
    for secret in PLANTED:
        assert not files_holding(root, secret), "after close"


async def test_a_secret_that_a_cut_would_halve_is_scrubbed_whole(root: Path, keep: Keep) -> None:
    await keep("w " * 290 + PLANTED[0] + " end of it")
    for length in (len(PLANTED[0]), 16):
        assert not files_holding(root, PLANTED[0][:length])


async def test_deleted_words_are_in_no_file(root: Path, backend: EmbeddedBackend, keep: Keep, ask: Ask) -> None:
    for n in range(5):
        await keep(f"The tide turns at hour {n}.", document_id=f"d{n}")
    await keep("The password is zanzibarquux, said 黒猫.", document_id="gone")
    assert files_holding(root, "zanzibarquux")
    await backend.delete("bank", "gone")
    assert not files_holding(root, "zanzibarquux")
    assert not files_holding(root, "黒猫")
    assert not (await ask("zanzibarquux")).facts
    assert len((await ask("tide")).facts) == 5
