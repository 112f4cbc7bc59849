"""The sidecars of pi and omp as their hosts start them."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest

from hindbrain.generic.hosts import kinds, shim_files
from hindbrain.generic.sidecar._commands import COMMANDS
from hindbrain.generic.sidecar._tools import TOOLS

HOSTS = ("pi", "omp")
LATE = ("attrs", "attr", "pydantic", "msgspec", "httpx", "sqlite3", "click", "hindbrain.contracts", "hindbrain.generic")
HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
RECALLS = {"pi": ["om_recall", "recall"], "omp": ["om_recall"]}
"""omp has a tool named recall."""


@pytest.mark.parametrize("host", HOSTS)
def test_the_first_answer_comes_before_anything_heavy_is_imported(host: str) -> None:
    program = (
        "import sys, runpy, hindbrain.bridge as bridge\n"
        f"bridge.serve = lambda *a: print([n for n in {LATE!r} if n in sys.modules])\n"
        f"runpy.run_module('hindbrain.{host}', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("host", HOSTS)
def test_what_the_host_is_told_of_is_what_is_served(host: str) -> None:
    run = [sys.executable, "-I", "-m", f"hindbrain.{host}"]
    with subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as sidecar:
        said, _ = sidecar.communicate(json.dumps({**HELLO, "params": {"protocol": 1, "host": host}}) + "\n", timeout=30)
    answer = json.loads(said.splitlines()[0])["result"]
    assert [tool["name"] for tool in answer["tools"]] == [*TOOLS, *RECALLS[host]]
    assert not [tool for tool in answer["tools"] if "hosts" in tool]
    assert [command["name"] for command in answer["commands"]] == list(COMMANDS)
    assert answer["version"] == version(f"hindbrain-{host}")


def test_no_schema_of_a_tool_refers_to_itself() -> None:
    surface = Path(str(import_module("hindbrain.generic").__file__)).with_name("sidecar") / "surface.json"
    text = surface.read_text("utf-8")
    assert "$ref" not in text
    recall = next(tool for tool in json.loads(text)["tools"] if tool["name"] == "hindsight_recall")
    assert {"tagGroups", "minScores"} <= set(recall["parameters"]["properties"])
    assert recall["parameters"]["required"] == ["query"]


@pytest.mark.parametrize("host", HOSTS)
def test_the_adapter_is_found_by_the_commands_that_install_it(host: str) -> None:
    kind = kinds()[host]
    assert (kind.name, kind.module, kind.version) == (host, f"hindbrain.{host}", version(f"hindbrain-{host}"))
    files = shim_files(kind, sys.executable)
    assert set(files) == {"core.ts", "index.ts", "shim.json", "package.json"}
