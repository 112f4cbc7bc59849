"""Every Python block of the documents runs as it stands, in a folder of its own, and passes the type checker.

A block finds a recorded session as ``session.jsonl`` and a key in ``HINDSIGHT_API_TOKEN``; where it talks to port 8888
of this machine it meets a small server of four canned answers. A block that cannot run says why in a comment right
above it: ``<!-- no-run: REASON -->``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("packages/*/README.md")),
    *sorted(ROOT.glob("adapters/*/README.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("examples/**/*.md")),
]
BLOCK = re.compile(r"(?P<why><!-- no-run: [^\n]+ -->\n+)?^```python\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
SERVER = re.compile(r"http://(localhost|127\.0\.0\.1):8888")
OPERATION = "7b0c1f9e-52b7-4c66-9c3c-0f1d3b5a7e21"
ANSWERS: dict[str, dict[str, Any]] = {
    "memories": {
        "success": True,
        "bank_id": "demo",
        "items_count": 1,
        "async": True,
        "operation_id": OPERATION,
        "operation_ids": [OPERATION],
    },
    "operations": {"operation_id": OPERATION, "status": "completed", "operation_type": "retain", "result_metadata": {}},
    "recall": {
        "results": [{"id": OPERATION, "text": "The tests run with one command.", "type": "observation", "tags": []}]
    },
    "documents": {"success": True, "document_id": "notes", "memory_units_deleted": 1, "message": "deleted"},
}


@frozen
class Snippet:
    """One block. ``name`` tells where it stands."""

    name: str
    code: str
    runs: bool


def snippets() -> list[Snippet]:
    found = []
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start("code"))
            name = f"{path.relative_to(ROOT).as_posix()}:{line}"
            found.append(Snippet(name, match["code"], runs=match["why"] is None))
    return found


SNIPPETS = snippets()


class Answering(BaseHTTPRequestHandler):
    """Answers the four routes as a server does where all is well."""

    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        parts = self.path.split("/")
        body = json.dumps(ANSWERS[parts[-1] if parts[-1] in ANSWERS else parts[-2]]).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_DELETE = answer  # noqa: N815  (the names the base class looks for)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class's name)
        """Stay silent."""


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()


@pytest.mark.parametrize("snippet", [s for s in SNIPPETS if s.runs], ids=lambda s: s.name)
def test_a_block_runs_as_it_stands(snippet: Snippet, server: str, tmp_path: Path) -> None:
    file = tmp_path / "snippet.py"
    shutil.copy(ROOT / "examples/sessions/pi-1.6.0.jsonl", tmp_path / "session.jsonl")
    file.write_text(SERVER.sub(server, snippet.code), encoding="utf-8")
    run = [sys.executable, "-I", "-W", "error", "snippet.py"]
    key = {**os.environ, "HINDSIGHT_API_TOKEN": "a-key-for-the-canned-server"}
    done = subprocess.run(run, cwd=tmp_path, env=key, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stderr


def test_every_block_passes_the_type_checker(tmp_path: Path) -> None:
    names = {}
    for number, snippet in enumerate(SNIPPETS):
        (tmp_path / f"snippet_{number}.py").write_text(snippet.code, encoding="utf-8")
        names[f"snippet_{number}.py"] = snippet.name
    run = [sys.executable, "-m", "mypy", *(str(tmp_path / name) for name in names)]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, timeout=58, check=False)
    assert done.returncode == 0, f"{names}\n{done.stdout}"


def test_the_documents_show_the_client_and_the_store_from_python() -> None:
    shown = "".join(snippet.code for snippet in SNIPPETS if snippet.name.startswith("README.md:"))
    assert "HindsightClient(" in shown
    assert "EmbeddedBackend(" in shown
