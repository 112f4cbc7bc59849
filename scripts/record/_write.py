"""Write the recordings and the table of questions into `examples/sessions`."""

import json
import signal
import sys
from pathlib import Path
from typing import Any

from _hosts import Host
from _neutral import neutral
from _pinned.install import ROOT
from _record import entries_of, record, user_entry
from _story import Story, load_story

SESSIONS = ROOT / "examples" / "sessions"
QUESTIONS = SESSIONS / "questions.json"


def main(host: Host) -> None:
    """Record the story on one host; nothing is written unless all of it went well."""
    # So that the host and the folders of a recording that is ended from outside go too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    story = load_story()
    print(f"recording {host.name} {host.version}", file=sys.stderr)
    recording = record(host, story)
    files = {name: neutral(data, recording.machine_root) for name, data in recording.files.items()}
    for name, data in files.items():
        path = SESSIONS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        print(f"wrote {path.relative_to(ROOT)}: {len(data)} bytes", file=sys.stderr)
    _write_questions(host, story)


def _write_questions(host: Host, story: Story) -> None:
    """Note for each question the entry of this host's session that answers it, leaving the other host's as it is."""
    session = f"{host.name}-{host.version}"
    entries = entries_of(SESSIONS / f"{session}.jsonl")
    known = json.loads(QUESTIONS.read_text("utf-8")) if QUESTIONS.exists() else []
    old: dict[str, dict[str, str]] = {question["ask"]: question["entries"] for question in known}
    rows: list[dict[str, Any]] = []
    for question in story.questions:
        answer = {session: user_entry(entries, story.said(question.step))}
        found = {**old.get(question.ask, {}), **answer}
        rows.append({"ask": question.ask, "words": question.words, "entries": dict(sorted(found.items()))})
    QUESTIONS.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", "utf-8")
    _write_table(SESSIONS / "README.md", rows)


def _write_table(readme: Path, rows: list[dict[str, Any]]) -> None:
    """Replace the table between the two marks of the README."""
    begin, end = "<!-- questions -->\n", "<!-- /questions -->\n"
    head, rest = readme.read_text("utf-8").split(begin)
    tail = rest.split(end)[1]
    names = sorted({name for row in rows for name in row["entries"]})
    lines = [["question", "the user's words", *names], ["---"] * (2 + len(names))]
    lines += [[row["ask"], row["words"], *(f"`{row['entries'].get(name, '')}`" for name in names)] for row in rows]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    readme.write_text(f"{head}{begin}{table}{end}{tail}", "utf-8")
