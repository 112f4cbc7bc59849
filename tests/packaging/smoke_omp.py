"""omp alone: the sidecar answers its host, remembers a turn and recalls it, and ends with its input."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

with tempfile.TemporaryDirectory() as folder:
    project = Path(folder, "project")
    (project / ".git").mkdir(parents=True)
    settings = Path(folder, "agent", "hindbrain.json")
    settings.parent.mkdir()
    settings.write_text(json.dumps({"backend": "local", "dataDir": folder + "/data"}), "utf-8")
    environment = {"HOME": folder, "PATH": os.environ["PATH"]}
    run = [sys.executable, "-I", "-m", "hindbrain.omp"]
    with subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True) as sidecar:
        assert sidecar.stdin is not None
        assert sidecar.stdout is not None
        to, back = sidecar.stdin, sidecar.stdout

        def call(method: str, **params: object) -> Any:
            """The result of a call; what the host is told or asked in between is passed over."""
            to.write(json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}) + "\n")
            to.flush()
            while (frame := json.loads(back.readline())).get("id") != method:
                pass
            return frame["result"]

        hello = call("initialize", protocol=1, host="omp", agentDir=str(settings.parent))
        assert any(tool["name"] == "hindsight_recall" for tool in hello["tools"])
        call("session/open", session="s", cwd=str(project))
        call("tool/call", session="s", name="hindsight_retain", arguments={"content": "Releases happen on Tuesdays."})
        user = {"role": "user", "content": "On which days do releases happen?", "timestamp": 1}
        patch = call("session/context", session="s", user=user)
        assert "Tuesdays" in json.dumps(patch), patch
        call("shutdown")
        sidecar.stdin.close()
        assert sidecar.wait(timeout=10) == 0
