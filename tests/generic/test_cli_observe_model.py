"""``hindbrain observe replay --model``, against a server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hindbrain.generic._cli._observe_group import observe

SESSION = Path(__file__).parents[2] / "examples" / "sessions" / "pi-1.6.0.jsonl"


class Server:
    """Observes the first passage it is shown; ``status`` is what it answers with, ``keys`` what it was sent."""

    def __init__(self) -> None:
        self.status = 200
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        messages = body["messages"]
        message: dict[str, Any] = {"role": "assistant", "content": "Nothing."}
        if len(messages) == 2 and body["tools"][0]["function"]["name"] == "record_observations":
            cited = messages[1]["content"].split("[Source entry id: ")[1].split("]")[0]
            item = {"content": "It began here", "relevance": "high", "kind": "decision", "sourceEntryIds": [cited]}
            arguments = json.dumps({"observations": [item]})
            call = {"id": "c", "type": "function", "function": {"name": "record_observations", "arguments": arguments}}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        usage = {"prompt_tokens": 9, "completion_tokens": 1, "cost": 0.25}
        return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                server.keys.append(self.headers.get("authorization"))
                body = json.dumps(server.answer(server.asked[-1])).encode() if server.status == 200 else b"sorry"
                self.send_response(server.status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield made
    made.http.shutdown()
    made.http.server_close()
    thread.join()


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own; what is written to the file that is returned are the settings."""
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    folder = tmp_path / "config"
    folder.mkdir()
    return folder / "hindbrain.json"


def replayed(settings: Path, *args: str) -> tuple[dict[str, Any], int]:
    done: Result = CliRunner().invoke(
        observe, ["replay", str(SESSION), "--json", "--config-dir", str(settings.parent), *args]
    )
    return json.loads(done.stdout), done.exit_code


def test_a_model_that_is_named_observes_in_place_of_the_rules(settings: Path, server: Server) -> None:
    told, code = replayed(settings, "--model", "m", "--base-url", server.url)
    assert (code, told["error"]) == (0, None)
    assert "It began here" in told["data"]["summary"]
    assert told["data"]["runs"] == {"observer": 1, "empty": 0, "failed": 0, "calls": 2, "cost_usd": 0.5}
    assert {body["model"] for body in server.asked} == {"m"}
    assert server.keys == [None, None]


def test_the_settings_name_it_as_well_and_the_rules_stay_what_works_by_default(settings: Path, server: Server) -> None:
    settings.write_text(json.dumps({"observe": {"endpoint": {"baseUrl": server.url, "model": "m"}}}))
    told, code = replayed(settings, "--observer", "model")
    assert (code, told["data"]["runs"]["calls"]) == (0, 2)
    assert replayed(settings)[0]["data"]["runs"]["calls"] == 0
    assert len(server.asked) == 2


def test_the_key_of_one_address_is_not_sent_to_another(
    settings: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "k-1secret")
    endpoint = {"baseUrl": server.url, "model": "m", "apiKeyRef": "env:SOME_KEY"}
    settings.write_text(json.dumps({"observe": {"endpoint": endpoint}}))
    replayed(settings, "--model", "m2")
    assert set(server.keys) == {"Bearer k-1secret"}
    server.keys.clear()
    replayed(settings, "--model", "m2", "--base-url", server.url.replace("127.0.0.1", "localhost"))
    assert set(server.keys) == {None}
    server.keys.clear()
    replayed(settings, "--model", "m2", "--base-url", server.url, "--api-key-ref", "env:SOME_KEY")
    assert set(server.keys) == {"Bearer k-1secret"}


@pytest.mark.parametrize(
    ("args", "path"),
    [
        (("--model", "m"), "observe.endpoint.baseUrl"),
        (("--observer", "model", "--base-url", "http://localhost:1/v1"), "observe.endpoint.model"),
        (("--model", "m", "--base-url", "http://models.example/v1"), "observe.endpoint.baseUrl"),
        (("--model", "m", "--base-url", "http://localhost:1", "--api-key-ref", "k-1"), "observe.endpoint.apiKeyRef"),
    ],
)
def test_what_is_missing_or_refused_is_named_and_nothing_is_sent(
    settings: Path, args: tuple[str, ...], path: str
) -> None:
    told, code = replayed(settings, *args)
    assert code == 3
    assert path in told["error"]["message"]


def test_a_model_that_refuses_the_key_ends_it_with_the_exit_code_of_that(settings: Path, server: Server) -> None:
    server.status = 401
    told, code = replayed(settings, "--model", "m", "--base-url", server.url)
    assert (code, told["error"]["code"]) == (3, "model-auth")
    assert told["data"]["runs"]["failed"] == 1
    assert "sorry" not in json.dumps(told)
