"""Write what the documents show of the program's own output and tables; ``--check`` says where they are out of date."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from hindbrain.generic._config import ALIASES, KEYS, Key, plain, schema

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
SETTINGS_INTRODUCTION = """\
# Settings

Settings are read from these places; a later one wins, key by key, and a list is replaced whole:

1. the defaults below,
2. `~/.hindsight/coding-agent.json` (or the file that `HINDSIGHT_CONFIG` names): its `apiUrl` and `bankId`,
3. the variables that begin with `HINDSIGHT_`,
4. your own file, `hindbrain.json` or `hindbrain.jsonc` in the configuration folder of your platform (or of the host),
5. the project's file, `.hindbrain/hindbrain.json` or `.jsonc` at its root,
6. the variables that begin with `PI_` or `HINDBRAIN_`.

Files may hold comments and trailing commas. `hindbrain config show --origin` says where each value comes from, and
`hindbrain config check` what is wrong. A value of the wrong form is dropped with a warning, and the place before it
keeps the word; where that would send memory to another server or bank than was meant, nothing is sent at all.

A project's file comes with the repository, so of it only the settings marked *safe in a project* count until you have
looked at it and said `hindbrain trust`. That holds for the file as it was then: any change ends it.

A key or password never stands in a settings file. `hindsight.apiKeyRef` names where it is kept: `env:NAME`,
`file:PATH` or `keyring:SERVICE/USER`. What is retained is always cleared of secrets; no setting switches that off.

`docs/hindbrain.schema.json` (also printed by `hindbrain config schema`) lets an editor complete and check the file.
Settings of other tools are taken over by `hindbrain config import`, which shows the changes first.

The tables are written by `scripts/docs`. An empty default means that nothing is set; such a setting takes `null`, too.

## Banks as a list

In place of the two slots `banks.project` and `banks.user`, `banks` may be a list:

```json
{
  "banks": [
    {"role": "coding", "retain": {"mode": "always"}},
    {"id": "me", "role": "user"},
    {"id": "team-notes", "role": "notes", "access": "read"}
  ]
}
```

| field | what it is | default |
|---|---|---|
| `id` | the bank; only the coding bank may go without, and is then the one that the project's identity gives | |
| `role` | `coding`, `user` (or `life`), or a word of your own | `coding` |
| `enabled` | whether it is used | `true` |
| `access` | `read`, `write` or `read-write` | `read-write` |
| `retain.mode` | `always`: every turn; `decision`: where the decision model says so; `explicit-only` | by role |

A coding bank has the mode `always`, any other `explicit-only`. An entry that has the wrong form is not used at all; a
wrong `retain.mode` alone gives way to that of the role.
"""
SECTIONS = {
    "General": ("enabled", "backend", "dataDir", "hindsight.", "embedder.", "facts."),
    "Banks": ("banks",),
    "Scope and observations": ("scope.", "observations."),
    "Recall": ("recall.",),
    "Retain": ("retain.",),
    "Observation": ("observe.",),
    "What the host shows": ("status.", "notifications."),
}


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


def _row(key: Key) -> str:
    """One setting as a row of the page."""
    default = "" if key.nullable else f"`{json.dumps(plain(key.default), ensure_ascii=False)}`"
    names = " ".join(f"`{name}`" for name in (*key.env, *([] if key.alias_of else [key.own_env])))
    about = f"{key.about} **Nothing reads it yet.**" if key.waits else key.about
    bounds = "" if key.project_bounds is None else f", from {key.project_bounds[0]} to {key.project_bounds[1]}"
    cells = (f"`{key.path}`", about, key.form.words, default, f"yes{bounds}" if key.project_safe else "", names)
    return f"| {' | '.join(cells)} |\n"


def settings_page() -> str:
    """``docs/settings.md`` as it should be."""
    head = "| setting | what it does | form | default | safe in a project | variables |\n|---|---|---|---|---|---|\n"
    parts = [SETTINGS_INTRODUCTION]
    for title, beginnings in SECTIONS.items():
        rows = [_row(key) for key in KEYS if key.path.startswith(beginnings)]
        parts.append(f"\n## {title}\n\n{head}{''.join(rows)}")
    parts.append(f"\n## Older names\n\n{head}{''.join(map(_row, ALIASES))}")
    return "".join(parts)


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
    """Write the documents; with ``check`` only compare, and say how to mend them."""
    page, readme = ROOT / "docs/cli.md", ROOT / "README.md"
    shown = readme.read_text(encoding="utf-8")
    wanted = {
        page: cli_page(),
        ROOT / "docs/settings.md": settings_page(),
        ROOT / "docs/hindbrain.schema.json": json.dumps(schema(), indent=2, ensure_ascii=False) + "\n",
        readme: DEMO.sub(lambda _: demo(), shown, count=1),
    }
    stale = [p for p, text in wanted.items() if not p.exists() or steady(p.read_text("utf-8")) != steady(text)]
    for path in stale:
        if check:
            print(f"{path.relative_to(ROOT)} does not show what the program prints. Run scripts/docs.")
        else:
            path.write_text(wanted[path], encoding="utf-8")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
