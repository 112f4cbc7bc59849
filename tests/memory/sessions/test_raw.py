from __future__ import annotations

from pathlib import Path

from hindbrain.memory.sessions import raw_messages, read_session

EXAMPLES = Path(__file__).parents[3] / "examples" / "sessions"


def test_the_ids_are_those_of_the_reader() -> None:
    for path in sorted(EXAMPLES.rglob("*.jsonl")):
        messages = dict(raw_messages(path))
        read = {e.id: e for e in read_session(path).entries if e.kind == "message"}
        assert messages.keys() == read.keys()
        assert all(entry.message is None or entry.message.role == messages[id_]["role"] for id_, entry in read.items())


def test_lines_without_ids_are_named_by_their_number_and_broken_ones_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(
        '{"type":"session","id":"s"}\n{"type":"message","message":{"role":"user"}}\n{broken\n[]\n'
        '{"type":"message","message":7}\n{"type":"message","id":7,"message":{"role":"assistant"}}\n',
        "utf-8",
    )
    assert [(entry_id, message["role"]) for entry_id, message in raw_messages(path)] == [
        ("line-2", "user"),
        ("line-6", "assistant"),
    ]
