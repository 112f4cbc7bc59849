"""What memory keeps of what was said: each message of every session file, once."""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

from hosts.machine import Machine


def kept(machine: Machine) -> Counter[str]:
    """How often each text stands in memory: as a fact of the embedded store."""
    found: Counter[str] = Counter()
    for bank in (machine.root / "data" / "banks").glob("[!_]*.sqlite"):
        with closing(sqlite3.connect(bank)) as store:
            found.update(text for (text,) in store.execute("SELECT text FROM fact"))
    return found


def said(machine: Machine) -> set[str]:
    """The texts of one line that stand in a session file: prompts, and the model's repetitions of them.

    The text that makes a tool call is left out: it holds quotes, which a store may cut at.
    """
    messages = [entry["message"] for path in machine.sessions() for entry in entries(path) if "message" in entry]
    texts = [text_of(message) for message in messages if message["role"] in ("user", "assistant")]
    return {text for text in texts if text and "\n" not in text and not text.startswith(("CALL ", "tool said"))}


def twice_or_never(machine: Machine) -> dict[str, int]:
    """What was said and is not in memory exactly once, and how often it is; empty where all is well."""
    found = kept(machine)
    return {text: found[text] for text in sorted(said(machine)) if found[text] != 1}


def entries(path: Path) -> list[dict[str, dict[str, object]]]:
    """The lines of a session file; one that a kill has cut off is none."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        try:
            found.append(json.loads(line.rstrip("\0 ")))
        except ValueError:
            continue
    return found


def text_of(message: dict[str, object]) -> str:
    """A stored message's text."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    assert isinstance(content, list)
    return "".join(part.get("text", "") for part in content)
