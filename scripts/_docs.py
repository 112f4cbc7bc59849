"""Write what the documents show of the program's own output, or with ``--check`` say where they are out of date."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 100
SETTINGS = ("HINDBRAIN_", "HINDSIGHT_", "PI_")
DEMO = re.compile(r"(?<=<!-- demo -->\n).*?(?=<!-- /demo -->)", re.DOTALL)
TIMES = re.compile(r"\d+(\.\d+)?(?= m?s\b)")
MADE_UP = re.compile(r"\b[0-9a-f]{12,64}\b")
"""Ids made from where the session lies on this machine."""
INTRODUCTION = """\
# The hindbrain command

Data goes to stdout, progress and warnings to stderr. With `--json` a command prints one line: `schema` (the version of
this shape), `command`, `ok`, `data`, `warnings` and `error` (`code`, `message`, `next`).

| exit code | means |
|---|---|
| 0 | done |
| 1 | it failed, or nothing was found where something was asked for |
| 2 | wrong usage |
| 3 | the configuration or the credentials were refused |
| 4 | memory cannot be reached, or is busy |
| 5 | part of the work was done; the report says which |
| 130 | interrupted |

What follows is the help of each command, written by `scripts/docs`.
"""


def commands(command: click.Command, name: str, above: click.Context | None = None) -> Iterator[tuple[str, str]]:
    """Each command below this one, and itself first, with its help."""
    context = click.Context(command, info_name=name, parent=above, terminal_width=WIDTH, **command.context_settings)
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            below = command.get_command(context, inner)
            if below is not None:
                yield from commands(below, inner, context)


def cli_page() -> str:
    """``docs/cli.md`` as it should be."""
    from hindbrain.generic._cli import main

    parts = [f"\n## {path}\n\n```text\n{text}\n```\n" for path, text in commands(main, "hindbrain")]
    return INTRODUCTION + "".join(parts)


def demo() -> str:
    """What ``scripts/demo`` shows, on a session that ships with the repository; long lines are cut."""
    line = "hindbrain replay examples/sessions/pi-1.6.0.jsonl --ask 'which retry policy did we choose, and why?'"
    program, *arguments = shlex.split(line)
    with tempfile.TemporaryDirectory() as folder:
        run = [str(Path(sys.executable).with_name(program)), *arguments, "--data-dir", folder, "--config-dir", folder]
        # Without the settings of whoever writes the documents.
        clean = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)} | {"HOME": folder}
        done = subprocess.run(run, cwd=ROOT, env=clean, capture_output=True, text=True, timeout=50, check=True)
    shown = [text if len(text) <= WIDTH else text[: WIDTH - 1] + "…" for text in done.stdout.rstrip().splitlines()]
    return "\n".join(["```console", f"$ {line}", *shown, "```", ""])


def steady(text: str) -> str:
    """The text without what differs from run to run and from machine to machine."""
    return MADE_UP.sub("…", TIMES.sub("…", text))


def main(check: bool) -> int:
    """Write both documents; with ``check`` only compare, and say how to mend them."""
    page, readme = ROOT / "docs/cli.md", ROOT / "README.md"
    shown = readme.read_text(encoding="utf-8")
    wanted = {page: cli_page(), readme: DEMO.sub(lambda _: demo(), shown, count=1)}
    stale = [p for p, text in wanted.items() if not p.exists() or steady(p.read_text("utf-8")) != steady(text)]
    for path in stale:
        if check:
            print(f"{path.relative_to(ROOT)} does not show what the program prints. Run scripts/docs.")
        else:
            path.write_text(wanted[path], encoding="utf-8")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
