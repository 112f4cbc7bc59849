"""The commands of memory on the real hosts, as text: in RPC mode and in print mode."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hosts.machine import Machine, Rpc, eventually
from hosts.remembered import blocks, jobs, remember, state
from hosts.test_sessions import LISTENER

pytestmark = pytest.mark.timeout(180)

SUMS = re.compile(r"came to   (\d+) items?, (\d+) operations?, (\d+) tokens")


@pytest.mark.req("S0-retain-001", "S0-governance-005", "S0-governance-006", "S0-governance-007")
def test_a_session_is_kept_out_and_let_in_by_commands(machine: Machine) -> None:
    remember(machine)
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt("The zeppelin leaves at nine.")
        assert user_texts(machine) == ["The zeppelin leaves at nine."]
        eventually(lambda: footers(rpc)[-1:] == ["memory: retained"])
        assert "not retained" in rpc.command("/hindsight:retain off")
        rpc.prompt("The zeppelin is not to be spoken of.")
        assert "leaves at nine" in blocks(machine, "The zeppelin is not to be spoken of.")[-1]
        assert "retained again" in rpc.command("/hindsight:retain on")
        rpc.prompt("The ferry leaves at ten.")
        assert "kept out of memory" in rpc.command("/hindsight:next-opt-out")
        assert record(machine)["nextRetainMode"] == "off"
        rpc.prompt("The ferry has a secret.")
        assert record(machine)["nextRetainMode"] == "normal"
        rpc.prompt("The tram leaves at noon.")
        warned = rpc.command("/hindsight:retain maybe")
    assert user_texts(machine) == [
        "The zeppelin leaves at nine.",
        "The ferry leaves at ten.",
        "The tram leaves at noon.",
    ]
    assert warned == "Say /hindsight:retain on, or off."


@pytest.mark.req("S0-governance-008", "S0-governance-009", "S0-receipts-003", "S0-telemetry-015")
def test_tags_sums_and_events_of_a_session(machine: Machine, tmp_path: Path) -> None:
    remember(machine)
    heard = tmp_path / "heard.jsonl"
    (tmp_path / "listener.ts").write_text(LISTENER % json.dumps(str(heard)))
    with machine.rpc("-e", str(tmp_path / "listener.ts")) as rpc:
        rpc.started()
        assert "topic:db" in rpc.command("/hindsight:tag add topic:db")
        rpc.command("/hindsight:tag add x")
        rpc.prompt("The index is a tree.")
        assert {"topic:db", "x"} <= set(tags(machine))
        assert rpc.command("/hindsight:tag remove x") == "Tags of this session: topic:db."
        rpc.prompt("The tree has many leaves.")
        assert ("topic:db" in tags(machine), "x" in tags(machine)) == (True, False)
        assert record(machine)["tags"] == ["topic:db"]
        assert "TAG" in rpc.command("/hindsight:tag")
        eventually(lambda: footers(rpc)[-1:] == ["memory: retained"])
        told = rpc.command("/hindsight:queue")
        said = rpc.command("/hindsight")
        commands = rpc.request({"pi": "get_commands", "omp": "get_available_commands"}[machine.host])["commands"]
    assert told.startswith("queue     0 waiting, 0 given up")
    assert SUMS.search(told)[0] in said  # type: ignore[index]
    assert sums(told) == sums_of_receipts(machine)
    phases = [json.loads(line)["phase"] for line in heard.read_text("utf-8").splitlines()]
    assert "retrieval" in phases
    ours = {command["name"] for command in commands if command["name"].startswith("hindsight")}
    assert ours == {"hindsight", *(f"hindsight:{name}" for name in ("retain", "next-opt-out", "tag", "queue"))}


@pytest.mark.req("S0-flush-011")
def test_what_could_not_be_sent_is_shown_in_the_next_session_and_in_print_mode(machine: Machine) -> None:
    remember(machine)
    away(machine)
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt("The first turn has to wait.")
        rpc.prompt("The second turn has to wait.")
        eventually(lambda: footers(rpc)[-1:] == ["memory: 2 queued"])
        assert "memory: offline" in footers(rpc)
    assert "queue     2 waiting" in machine.print("/hindsight")
    assert "queue     2 waiting" in machine.print("/hindsight:queue")
    back(machine)
    with machine.rpc() as rpc:
        rpc.started()
        assert "queue     2 waiting" in rpc.command("/hindsight")
        assert rpc.command("/hindsight:queue flush") == "2 sent, 0 waiting."
        rpc.prompt("Who has to wait?")
        eventually(lambda: footers(rpc)[-1:] == ["memory: retained"])
        assert footers(rpc)[-4:-1] == ["memory: recalling", "memory: recalled 4", "memory: queued"]
        assert footers(rpc)[0] is None  # after the flush nothing waits: idle


def test_a_server_that_refuses_is_a_failure_and_no_outage(machine: Machine) -> None:
    with refusing() as url:
        remember(machine)
        settings = {"backend": "hindsight", "hindsight.baseUrl": url, "dataDir": str(machine.root / "data")}
        (machine.installed.parents[1] / "hindbrain.json").write_text(json.dumps(settings), "utf-8")
        with machine.rpc() as rpc:
            rpc.started()
            rpc.prompt("Nobody will hear this.")
            eventually(lambda: "memory: failed" in footers(rpc))


def away(machine: Machine) -> None:
    """Let the embedded store fail: its folder is a file."""
    (machine.root / "data").mkdir(exist_ok=True)
    (machine.root / "data" / "banks").write_text("")


def back(machine: Machine) -> None:
    """Give it its place again."""
    (machine.root / "data" / "banks").unlink()


def footers(rpc: Rpc) -> list[str | None]:
    """What memory has shown in the host's footer so far."""
    ours = [f for f in rpc.frames if f.get("method") == "setStatus" and f.get("statusKey") == "hindsight"]
    return [frame.get("statusText") for frame in ours]


def record(machine: Machine) -> dict[str, Any]:
    """What the user has decided about the only session."""
    (file,) = (state(machine) / "session-meta").glob("*.json")
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return found


def item(job: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = job["item"]
    return found


def tags(machine: Machine) -> list[str]:
    """The tags of the newest job."""
    return list(item(jobs(machine)[-1])["tags"])


def user_texts(machine: Machine) -> list[str]:
    """What the user said, in all jobs."""
    messages = [message for job in jobs(machine) for message in json.loads(item(job)["content"])]
    return [message["content"][0]["text"] for message in messages if message["role"] == "user"]


def sums(text: str) -> list[int]:
    """Items, operations and tokens, as a text names them."""
    found = SUMS.search(text)
    return [int(number) for number in found.groups()] if found else []


def sums_of_receipts(machine: Machine) -> list[int]:
    """The same, as the file of receipts has them."""
    file = state(machine) / "retain-receipts.json"
    outcomes = [each["outcome"] for each in json.loads(file.read_text("utf-8"))["receipts"]]
    return [sum(each[name] for each in outcomes) for name in ("itemsCount", "operations", "tokens")]


@contextmanager
def refusing() -> Iterator[str]:
    """A server on loopback that lets nobody in."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


class Refusing(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = b'{"detail": "no"}'
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""
