"""Make a recorded file fit to share: no path of the machine that recorded it, none of the hosts' own prompts.

Every line that needs neither change stays byte for byte as the host wrote it.
"""

import json
import re
import socket
import sys
from pathlib import Path
from typing import Any

from _pinned.install import ROOT

OMITTED = "<omitted>"
TITLE_SLOT = 256
"""Bytes of omp's first line, newline included; omp rewrites it in place."""


class NotNeutralError(RuntimeError):
    """A file still names something of this machine, or lost its shape; nothing was written."""


def neutral(data: bytes, machine_root: str) -> bytes:
    """Return the file as a machine whose root is `/` would have written it; NotNeutralError when that fails."""
    lines = [_without_prompts(line) for line in data.decode().splitlines(keepends=True)]
    text = "".join(lines)
    for found, shown in _replacements(machine_root):
        text = text.replace(found, shown)
    if trace := re.search("|".join(map(re.escape, _traces(machine_root))), text):
        raise NotNeutralError(f"the recording still names this machine: {text[trace.start() - 80 : trace.end() + 80]}")
    result = text.encode()
    first = result.split(b"\n", 1)[0]
    if b'"type":"title"' in first and len(first) + 1 != TITLE_SLOT:
        raise NotNeutralError(f"the title slot has {len(first) + 1} bytes instead of {TITLE_SLOT}")
    return result


def _replacements(machine_root: str) -> list[tuple[str, str]]:
    # The hosts name a session's folder after the working directory, with dashes for the slashes.
    dashed = machine_root.strip("/").replace("/", "-")
    return [(machine_root, ""), (f"{dashed}-", ""), (str(Path(sys.base_prefix, "lib")), "/usr/lib")]


def _traces(machine_root: str) -> list[str]:
    names = {machine_root, Path(machine_root).name, str(ROOT), str(Path.home()), f'"{socket.gethostname()}"'}
    return sorted(name for name in names if name not in {"", "/"})


def _without_prompts(line: str) -> str:
    entry = json.loads(line)
    if not _omit(entry):
        return line
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n"


def _omit(entry: dict[str, Any]) -> bool:
    """Blank the host's own words in place and tell whether there were any."""
    message = entry.get("message", {})
    if message.get("role") == "system":
        return _omit_system(message)
    if message.get("role") == "developer":
        message["content"] = [{"type": "text", "text": OMITTED}]
        return True
    if entry["type"] == "compaction" and "systemMessage" in entry:
        return _omit_system(entry["systemMessage"])
    if entry["type"] == "session_init":
        entry["systemPrompt"] = OMITTED
        return True
    return False


def _omit_system(message: dict[str, Any]) -> bool:
    message["content"] = OMITTED if message.get("content") else ""
    message["sections"] = dict.fromkeys(message.get("sections", {}), OMITTED)
    for tool in message.get("toolsAdded", []):
        tool.update(description=OMITTED, parameters={})
    return True
