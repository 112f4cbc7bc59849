"""bridge alone: a sidecar answers the first request, loads, answers the second, and ends with its input."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import hindbrain.bridge

SIDECAR = """
from hindbrain.bridge import serve
async def add(params): return sum(params["numbers"])
serve({surface!r}, lambda peer: {{"add": add}}, "1.2.3")
"""
FRAMES = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocol": 1}},
    {"jsonrpc": "2.0", "id": 2, "method": "add", "params": {"numbers": [1, 2, 3]}},
]

assert Path(hindbrain.bridge.__file__).is_relative_to(sys.prefix)
with tempfile.TemporaryDirectory() as folder:
    surface = Path(folder) / "surface.json"
    surface.write_text('{"tools": [], "commands": []}', encoding="utf-8")
    run = [sys.executable, "-I", "-c", SIDECAR.format(surface=str(surface))]
    with subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as sidecar:
        assert sidecar.stdin is not None
        assert sidecar.stdout is not None
        sidecar.stdin.write(b"".join(json.dumps(frame).encode() + b"\n" for frame in FRAMES))
        sidecar.stdin.flush()
        answers = [json.loads(sidecar.stdout.readline()) for _ in FRAMES]
        sidecar.stdin.close()
        assert sidecar.wait(timeout=20) == 0
assert [answer["result"] for answer in answers] == [
    {"protocol": 1, "version": "1.2.3", "tools": [], "commands": []},
    6,
]
