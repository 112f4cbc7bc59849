"""The recordings benches measure with; they are not part of the repository, and rows that need them are left out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

HERE = Path(__file__).parent
DATA = HERE.parents[2] / "shared" / "data"
PI_SESSIONS = ("pi-before-compaction.jsonl", "pi-large-session.jsonl")
LOCOMO = DATA / "locomo10.json"
_SESSION = re.compile(r"session_\d+")

Turn = dict[str, Any]


@frozen
class Question:
    """A question and the ids of the turns that answer it."""

    text: str
    evidence: frozenset[str]


@frozen
class Conversation:
    """Documents of turns by name, and questions about them. Each turn has an ``id``."""

    name: str
    documents: dict[str, list[Turn]]
    questions: tuple[Question, ...]


def pi_turns(path: Path) -> list[Turn]:
    """A pi session as turns: everything said, called and returned; ``id`` is the line's number."""
    turns = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        entry = json.loads(line)
        message = entry.get("message") or {}
        if entry.get("type") != "message" or "content" not in message:
            continue
        content = message["content"]
        if isinstance(content, list):
            content = [part for part in content if part["type"] in {"text", "toolCall"}]
        turn = {"role": message["role"], "id": str(number), "timestamp": entry["timestamp"], "content": content}
        turns.append(turn | ({"toolName": message["toolName"]} if "toolName" in message else {}))
    return turns


def pi() -> Iterator[Conversation]:
    """The two sessions with the questions that were written before the ranking."""
    asked = json.loads((HERE / "data" / "pi-questions.json").read_text("utf-8"))
    for name in PI_SESSIONS:
        questions = [q for q in asked if q["session"] == name]
        yield Conversation(
            name,
            {name: pi_turns(DATA / name)},
            tuple(Question(q["question"], frozenset(map(str, q["evidence"]))) for q in questions),
        )


def locomo() -> Iterator[Conversation]:
    """LoCoMo-10: each of its sessions is a document, each turn has its ``dia_id``."""
    for number, sample in enumerate(json.loads(LOCOMO.read_text("utf-8"))):
        talk = sample["conversation"]
        documents = {
            key: [
                {
                    "role": turn["speaker"],
                    "id": turn["dia_id"],
                    "timestamp": _moment(talk[f"{key}_date_time"]),
                    "content": f"{turn['text']} {turn.get('blip_caption', '')}".strip(),
                }
                for turn in turns
            ]
            for key, turns in talk.items()
            if _SESSION.fullmatch(key)
        }
        known = {turn["id"] for turns in documents.values() for turn in turns}
        questions = (Question(q["question"], frozenset(q.get("evidence", [])) & known) for q in sample["qa"])
        yield Conversation(f"locomo-{number}", documents, tuple(q for q in questions if q.evidence))


def _moment(text: str) -> str:
    """``1:56 pm on 8 May, 2023`` as ISO 8601."""
    from datetime import UTC, datetime

    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC).isoformat()
