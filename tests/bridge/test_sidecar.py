"""A sidecar as a process: the first answer, loading behind it, and nothing but frames on its output."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hindbrain.bridge import PROTOCOL, Rpc

if TYPE_CHECKING:
    from bridge.conftest import Start

LATE = {"attr", "attrs", "dataclasses", "httpx", "msgspec", "pathlib", "pydantic", "sqlite3", "ssl"}
ASYNCIO = "import asyncio, sys; print(*sys.modules)"


def test_the_first_answer_shows_what_the_data_file_says(start: Start) -> None:
    assert start().initialize() == {
        "protocol": 1,
        "version": "1.2.3",
        "tools": [{"name": "t"}],
        "commands": [{"name": "c"}],
    }


def test_the_first_answer_comes_before_anything_else_of_ours_is_imported(start: Start, tmp_path: Path) -> None:
    """The application notes the modules when its loading begins, and that is after the answer has left."""
    bare = subprocess.run([sys.executable, "-I", "-c", ASYNCIO], capture_output=True, text=True, timeout=50, check=True)
    sidecar = start("slow")
    sidecar.initialize()
    (tmp_path / "go").touch()
    assert sidecar.ask(1, "echo") == {}
    ours = set((tmp_path / "modules").read_text("utf-8").split()) - set(bare.stdout.split())
    app = {"ctypes", "logging", "pathlib", "subprocess"}  # what the little application itself imports at its top
    assert {name for name in ours if name.startswith("hindbrain.") and not name.startswith("hindbrain.bridge")} == set()
    assert ours & LATE <= app
    assert {"hindbrain.bridge._log", "hindbrain.bridge._threads", "logging.handlers"} & ours <= {
        "hindbrain.bridge._threads"
    }


def test_of_others_the_door_brings_in_only_what_asyncio_and_json_do() -> None:
    """In the order of ``-X importtime``: what is imported for the door and was not there already."""
    first = "import __future__, asyncio, faulthandler, json, sys, typing"
    code = f"{first}; print('---', file=sys.stderr, flush=True)"
    run = [sys.executable, "-I", "-X", "importtime", "-c", f"{code}; import hindbrain.bridge"]
    done = subprocess.run(run, capture_output=True, text=True, timeout=50, check=True)
    brought = re.findall(r"\|\s+([\w.]+)$", done.stderr.partition("---\n")[2], re.MULTILINE)
    assert brought
    assert [name for name in brought if name.split(".")[0] != "hindbrain"] == []


def test_what_comes_before_the_application_is_loaded_waits_for_it(start: Start, tmp_path: Path) -> None:
    sidecar = start("slow")
    sidecar.initialize()
    assert sidecar.ask(9, "$/ping") == {}, "a host that asks whether it is there"
    sidecar.send(1, "echo", n=1)
    sidecar.send(2, "nonsense")
    sidecar.write(b'{"jsonrpc":"2.0","method":"$/cancel","params":{"id":2}}\n')
    assert sidecar.next()["error"]["code"] == Rpc.CANCELLED
    assert not (tmp_path / "go").exists()
    (tmp_path / "go").touch()
    assert sidecar.next() == {"jsonrpc": "2.0", "id": 1, "result": {"n": 1}}
    assert sidecar.ask(3, "nonsense")["code"] == Rpc.NO_METHOD


@pytest.mark.parametrize("how", ["at-once", "later"])
def test_an_application_may_be_made_in_the_loop_or_beside_it(start: Start, how: str) -> None:
    sidecar = start(how)
    sidecar.initialize()
    assert sidecar.ask(1, "host") == "pi"


def test_the_application_can_ask_the_host(start: Start) -> None:
    sidecar = start()
    sidecar.initialize()
    sidecar.send(1, "reverse", session="s")
    asked = sidecar.next()
    assert (asked["method"], asked["params"]) == ("host/usage", {"session": "s"})
    sidecar.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"tokens": 5}}).encode() + b"\n")
    assert sidecar.next()["result"] == {"tokens": 5}


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("fail", "(ModuleNotFoundError) Run `hindbrain doctor`."),
        ("leave", "(SystemExit) Run `hindbrain doctor`."),
        ("refuse", "The settings cannot be read. Run `hindbrain doctor`."),
    ],
)
def test_an_application_that_cannot_be_loaded_is_one_clear_error_to_each_request(
    start: Start, word: str, why: str
) -> None:
    sidecar = start(word)
    assert sidecar.initialize()["protocol"] == 1
    for number in (1, 2):
        error = sidecar.ask(number, "echo")
        assert error["message"] == f"Memory is off: hindbrain 1.2.3 could not start. {why}"
        assert (error["code"], error["data"]["code"]) == (Rpc.FAILED, "load-failed")
    assert sidecar.end() == (0, b"")


@pytest.mark.parametrize("protocol", [PROTOCOL + 1, 0, "1", True, None, 10**9])
def test_another_protocol_is_refused_with_one_line_for_the_user(start: Start, protocol: object, tmp_path: Path) -> None:
    sidecar = start()
    error = sidecar.ask(1, "initialize", protocol=protocol, host="omp")
    assert error["code"] == -32804
    assert "\n" not in error["message"]
    assert len(error["message"]) < 200
    assert str(10**9) not in error["message"]
    assert error["message"].startswith("Memory is off: hindbrain 1.2.3 speaks protocol 1 and ")
    assert "Run `hindbrain install omp` and start the host again." in error["message"]
    assert sidecar.ask(2, "echo") == error
    assert not (tmp_path / "modules").exists(), "the application was loaded"
    assert sidecar.end() == (0, b"")


def test_the_first_request_is_initialize(start: Start) -> None:
    sidecar = start()
    assert sidecar.ask(1, "echo")["data"]["code"] == "not-initialized"
    sidecar.initialize()
    assert sidecar.ask(2, "echo", n=2) == {"n": 2}
    assert sidecar.initialize()["version"] == "1.2.3"


@pytest.mark.parametrize("surface", [None, "", "[]", "{}", '{"tools": []}'])
def test_a_data_file_that_cannot_be_read_is_told(start: Start, tmp_path: Path, surface: str | None) -> None:
    sidecar = start()
    (tmp_path / "surface.json").unlink()
    if surface is not None:
        (tmp_path / "surface.json").write_text(surface, "utf-8")
    error = sidecar.initialize()
    assert error["data"]["code"] == "surface"
    assert str(tmp_path) not in error["message"]
    assert sidecar.ask(1, "echo") == error


@pytest.mark.parametrize("streams", ["pipes", "files"])
def test_nothing_but_frames_is_on_its_output_whoever_prints(start: Start, tmp_path: Path, streams: str) -> None:
    frames = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocol": 1, "host": "pi"}},
        {"jsonrpc": "2.0", "id": 1, "method": "prints", "params": {"n": 1}},
    ]
    sent = b"".join(json.dumps(frame).encode() + b"\n" for frame in frames)
    if streams == "pipes":
        sidecar = start("print")
        sidecar.write(sent)
        answers = [sidecar.next(), sidecar.next()]
        assert sidecar.end() == (0, b"")
    else:
        (tmp_path / "in").write_bytes(sent)
        with (tmp_path / "in").open("rb") as stdin, (tmp_path / "out").open("wb") as stdout:
            sidecar = start("print", stdin=stdin, stdout=stdout)
            assert sidecar.child.wait(timeout=20) == 0
        answers = [json.loads(line) for line in (tmp_path / "out").read_bytes().splitlines()]
    assert [answer["id"] for answer in answers] == [0, 1]
    assert answers[0]["result"]["protocol"] == 1
    if streams == "pipes":
        assert answers[1]["result"] == {"n": 1}
