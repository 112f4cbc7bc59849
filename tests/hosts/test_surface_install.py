"""``hindbrain install`` as a user runs it, on a machine with a real host; and what is said of what is in its way."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from _pinned.shim import CORE, index_of
from hosts.machine import SECONDS, Machine
from hosts.remembered import blocks, jobs

pytestmark = pytest.mark.timeout(180)
VENV = Path(sys.prefix)


@pytest.mark.req("S4-house-005", "S4-house-006")
def test_memory_is_installed_used_broken_and_taken_away_by_commands(machine: Machine) -> None:
    settings_only(machine)
    moved = machine.root / "venv"
    moved.symlink_to(VENV)
    assert hindbrain(machine, "install", machine.host, "--dry-run", venv=moved).startswith("would be installed")
    assert not machine.installed.exists()
    assert hindbrain(machine, "install", machine.host, venv=moved).startswith(f"installed: {machine.installed}")
    assert hindbrain(machine, "install", machine.host, venv=moved).startswith("unchanged")
    machine.print("Our releases go out on Tuesdays because of the harbour office.")
    assert "harbour office" in str(jobs(machine))
    machine.print("On which days do our releases go out?")
    assert "Tuesdays" in blocks(machine, "On which days do our releases go out?")[-1]
    assert f"{machine.host:4s} 0." in hindbrain(machine, "hosts")

    moved.unlink()  # the environment moves, and the shim's interpreter is gone
    assert "ok: And without it?" in machine.print("And without it?")
    (line,) = [line for line in hindbrain(machine, "hosts", code=1).splitlines() if "is gone" in line]
    assert line.endswith(f"run `hindbrain install {machine.host}` again.")

    assert hindbrain(machine, "uninstall", machine.host).startswith(f"removed: {machine.installed}")
    assert not machine.installed.exists()
    assert len(jobs(machine)) == 2

    place = Path(hindbrain(machine, "install", machine.host, "--print-path").strip())
    assert {name: (place / name).read_bytes() for name in ("index.ts", "core.ts")} == {
        "index.ts": index_of(machine.host).read_bytes(),
        "core.ts": CORE.read_bytes(),
    }
    with machine.rpc("--extension", str(place)) as rpc:
        rpc.started()
        assert "waiting" in rpc.command("/hindsight:queue")


@pytest.mark.host("omp")
def test_the_hosts_own_memory_is_warned_of_when_it_is_on(machine: Machine) -> None:
    settings_only(machine)
    hindbrain(machine, "install", "omp")
    config = machine.installed.parents[1] / "config.yml"
    lines = [f"{key}: {json.dumps(value)}" for key, value in json.loads(config.read_text("utf-8")).items()]
    config.write_text("\n".join([*lines, "memory:", "  backend: local", ""]), "utf-8")
    assert "memory.backend: local" in hindbrain(machine, "hosts", code=1)
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt("hello there")
        notes = [str(frame["message"]) for frame in rpc.frames if frame.get("method") == "notify"]
    assert [note for note in notes if "memory.backend: local" in note] == [
        "The host's own memory is on, too (memory.backend: local). Set it to off, or this one."
    ]


def settings_only(machine: Machine) -> None:
    """What `remember` sets, without the shim."""
    settings = {"backend": "local", "dataDir": str(machine.root / "data")}
    (machine.installed.parents[1] / "hindbrain.json").write_text(json.dumps(settings), "utf-8")
    (machine.project / ".git").mkdir()


def hindbrain(machine: Machine, *words: str, venv: Path = VENV, code: int = 0) -> str:
    """Run the command in the project as the machine's user; return all it says."""
    command = [str(venv / "bin" / "python"), str(venv / "bin" / "hindbrain"), *words]
    env = {**machine.env, "HINDBRAIN_DATA_DIR": str(machine.root / "data")}
    done = subprocess.run(
        command, cwd=machine.project, env=env, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr
