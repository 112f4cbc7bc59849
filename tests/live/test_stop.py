"""Whatever scripts/live starts ends: on a normal stop, in the middle of a start, and when the supervisor is killed."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from _live.processes import Command, running

SERVER = Path(__file__).resolve().parents[2] / "scripts" / "_live" / "server.py"
# live_url: without scripts/live around it a start here would first install the server, which takes its time.
pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(240),
    pytest.mark.usefixtures("live_url"),
    pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="finds processes through /proc"),
]


@pytest.fixture
def scratch() -> Iterator[Path]:
    """Where the server under test keeps everything: whatever works below it is one of its processes."""
    path = Path(tempfile.mkdtemp(prefix="hb-stop-", dir="/tmp"))
    path.chmod(0o711)
    yield path
    for pid in processes_in(path):
        os.kill(pid, signal.SIGKILL)
    shutil.rmtree(path)


def server(command: str, scratch: Path) -> list[str]:
    return [sys.executable, str(SERVER), command, "--dir", str(scratch / "state")]


def environment(scratch: Path) -> dict[str, str]:
    return os.environ | {"TMPDIR": str(scratch)}


def processes_in(folder: Path) -> list[int]:
    """Every live process that works below ``folder``. Each part of the server does, and nothing else."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and (entry / "cwd").readlink().is_relative_to(folder):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def eventually(condition: Callable[[], object], seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def run_folders(scratch: Path) -> list[Path]:
    return list(scratch.glob("hindbrain-*"))


@pytest.fixture
def starting(scratch: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A supervisor that has just begun to start a server."""
    with subprocess.Popen(server("serve", scratch), env=environment(scratch)) as supervisor:
        yield supervisor
        supervisor.kill()


def test_a_kept_server_answers_beside_another_one_and_leaves_nothing_after_its_stop(
    scratch: Path, live_url: str
) -> None:
    up = subprocess.run(
        server("up", scratch), env=environment(scratch), capture_output=True, text=True, timeout=200, check=True
    )
    try:
        exported = dict(shlex.split(line)[1].split("=", 1) for line in up.stdout.splitlines())
        url, key = exported["HINDBRAIN_LIVE_URL"], exported["HINDBRAIN_LIVE_KEY"]
        assert url != live_url
        banks = httpx.get(f"{url}/v1/default/banks", headers={"authorization": f"Bearer {key}"}, trust_env=False)
        assert banks.status_code == 200
        assert key not in up.stderr
        assert processes_in(scratch)
    finally:
        down = subprocess.run(server("down", scratch), capture_output=True, text=True, timeout=200, check=True)
    assert "stopped" in down.stderr
    assert processes_in(scratch) == []
    assert run_folders(scratch) == []
    again = subprocess.run(server("down", scratch), capture_output=True, text=True, timeout=200, check=True)
    assert "no server runs" in again.stderr


@pytest.mark.parametrize(
    ("reached", "signum"),
    [
        ("initdb.log", signal.SIGTERM),
        ("postgres.log", signal.SIGTERM),
        ("stub.log", signal.SIGTERM),
        ("api.log", signal.SIGTERM),
        ("api.log", signal.SIGINT),
        ("api.log", signal.SIGHUP),
    ],
)
def test_a_start_that_is_stopped_half_way_leaves_no_process_and_no_folder(
    scratch: Path, starting: "subprocess.Popen[bytes]", reached: str, signum: signal.Signals
) -> None:
    assert eventually(lambda: list(scratch.glob(f"hindbrain-live-*/{reached}")))
    starting.send_signal(signum)
    assert starting.wait(timeout=60) == 128 + signum
    assert processes_in(scratch) == []
    assert run_folders(scratch) == []
    assert not (scratch / "state" / "server.env").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent has died")
@pytest.mark.parametrize("reached", ["initdb.log", "postgres.log", "api.log"])
def test_a_killed_supervisor_takes_its_processes_along_and_the_next_run_sweeps_its_folder(
    scratch: Path, starting: "subprocess.Popen[bytes]", reached: str
) -> None:
    assert eventually(lambda: list(scratch.glob(f"hindbrain-live-*/{reached}")))
    starting.kill()
    starting.wait(timeout=60)
    assert eventually(lambda: processes_in(scratch) == [])
    [left] = run_folders(scratch)

    with subprocess.Popen(server("serve", scratch), env=environment(scratch)) as following:
        assert eventually(lambda: run_folders(scratch) not in ([left], []))
        following.terminate()
        assert following.wait(timeout=60) == 128 + signal.SIGTERM
    assert run_folders(scratch) == []


def test_a_signal_that_comes_twice_does_not_cut_the_cleanup_short(
    scratch: Path, starting: "subprocess.Popen[bytes]"
) -> None:
    assert eventually(lambda: list(scratch.glob("hindbrain-live-*/api.log")))
    while starting.poll() is None:
        starting.send_signal(signal.SIGTERM)
        time.sleep(0.01)
    assert processes_in(scratch) == []
    assert run_folders(scratch) == []


def test_leaving_the_block_ends_the_process_and_the_children_it_left_behind(scratch: Path) -> None:
    abandon = "(trap '' TERM; sleep 600) & (trap '' TERM; sleep 600) & wait"
    command = Command("a shell", ["/bin/sh", "-c", abandon], {"PATH": os.defpath}, scratch / "shell.log")
    with running(command) as shell:
        assert eventually(lambda: len(processes_in(scratch)) >= 3)
        assert shell.exit_code() is None
    assert shell.exit_code() == -signal.SIGTERM
    assert processes_in(scratch) == []
