"""A host that may be killed at any moment: it writes a session file turn by turn, and each turn goes to memory.

``python walk.py FILE TEXTS SETTINGS`` says one of the texts in each turn, goes on where the file ends, and tells on
stdout what it has done, line by line.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from hindbrain.generic import InProcessHost, Layer, SessionPlace, live_session, merge
from hindbrain.memory.sessions import read_session


def _say(what: str, number: int) -> None:
    sys.stdout.write(f"{what} {number}\n")
    sys.stdout.flush()


def _write(file: Path, lines: list[dict[str, Any]]) -> None:
    with file.open("a", encoding="utf-8") as out:
        out.write("".join(json.dumps(line) + "\n" for line in lines))


def _turn(number: int, text: str) -> list[dict[str, Any]]:
    said = {"role": "user", "content": text, "timestamp": 1_764_547_200_000 + number}
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Noted."}]}
    above = f"a{number - 1}" if number else None
    return [
        {"type": "message", "id": f"u{number}", "parentId": above, "message": said},
        {"type": "message", "id": f"a{number}", "parentId": f"u{number}", "message": answer},
    ]


async def _walk(file: Path, texts: list[str], values: dict[str, Any]) -> None:
    if not file.exists():
        _write(file, [{"type": "session", "version": 3, "id": "walk", "cwd": str(file.parent)}])
    host = InProcessHost()
    settings = merge([Layer(origin="test", values=values)])
    async with live_session(host, settings, SessionPlace(host="pi", cwd=str(file.parent), file=str(file))) as session:
        for number in range(len(read_session(file).entries) // 2, len(texts)):
            _write(file, _turn(number, texts[number]))
            _say("written", number)
            for entry in read_session(file).entries:
                host.add(entry)
            turn = await session.settled(send=False)
            _say("kept" if turn.skipped is None else "failed", number)
            flush = await session.send()
            _say("sent" if flush.code is None else "failed", number)


if __name__ == "__main__":
    asyncio.run(_walk(Path(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3])))
