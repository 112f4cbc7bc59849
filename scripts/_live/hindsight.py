"""The real Hindsight server with everything it needs, for as long as a ``with`` block lasts."""

import contextlib
import json
import os
import re
import secrets
import shutil
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from _live.install import CACHE, HERE, Installation, install
from _live.postgres import running_postgres
from _live.processes import Argv, Command, Process, running
from _live.report import Stopwatch, say, timed
from _live.run_dir import run_directory
from _live.waiting import LiveError, StopRequest

STUB_SECONDS = 30.0
# The first start of a new environment also compiles every module it imports.
API_SECONDS = 180.0
ANSWER_SECONDS = 10.0
KEPT_LOGS = 5


@dataclass(frozen=True, slots=True)
class LiveServer:
    """A healthy server. ``key`` is its bearer key; ``stub_url`` steers its model; ``folder`` goes with it."""

    url: str
    key: str
    stub_url: str
    folder: Path
    processes: tuple[Process, ...]

    def environment(self) -> dict[str, str]:
        """What tests/live reads."""
        return {
            "HINDBRAIN_LIVE_URL": self.url,
            "HINDBRAIN_LIVE_KEY": self.key,
            "HINDBRAIN_LIVE_STUB_URL": self.stub_url,
        }

    def check(self) -> None:
        """Raise LiveError if one of its processes has ended."""
        for process in self.processes:
            process.check()


@contextlib.contextmanager
def running_server(stop: StopRequest, cache: Path = CACHE) -> Iterator[LiveServer]:
    """Install what is missing, start PostgreSQL, the stub model and the API, and stop all of it afterwards.

    Every port is the kernel's choice and the folder is new, so any number of servers run side by side. Logs of a start
    that failed are kept in ``cache/logs``.

    Raises:
        StoppedError: a signal came during the start; what had been started is gone.
        LiveError: a step failed or missed its deadline; what had been started is gone.
    """
    watch = Stopwatch("install")
    watch.start()
    installation = install(stop, cache)
    watch.report("new" if installation.fresh else "reused")
    ending = Stopwatch("stop")
    with contextlib.ExitStack() as stack:
        stack.callback(ending.report)
        folder = stack.enter_context(run_directory())
        try:
            server = _start(stack, installation, folder, stop)
        except LiveError:
            if stop.signum is None:
                say(f"The logs are in {keep_logs(folder, cache)}.")
            raise
        try:
            yield server
        finally:
            ending.start()


def keep_logs(folder: Path, cache: Path = CACHE) -> Path:
    """Copy a run's logs to where they outlive it; of such copies the newest few stay."""
    kept = cache / "logs"
    target = kept / folder.name
    shutil.copytree(folder, target, ignore=_all_but_logs, dirs_exist_ok=True)
    for old in sorted(kept.iterdir(), key=lambda path: path.stat().st_mtime)[:-KEPT_LOGS]:
        shutil.rmtree(old, ignore_errors=True)
    return target


def _all_but_logs(_folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.endswith(".log")]


def _start(stack: contextlib.ExitStack, installation: Installation, folder: Path, stop: StopRequest) -> LiveServer:
    with timed("postgres"):
        database, database_url = stack.enter_context(running_postgres(installation.postgres, folder, stop))
    with timed("model stub"):
        stub = stack.enter_context(running(_stub_command(folder)))
        stub_url = _announced_url(stub, r"stub model on (\S+)", STUB_SECONDS, stop)
    with timed("api"):
        key = secrets.token_urlsafe(24)
        binary = installation.venv / "bin" / "hindsight-api"
        api = stack.enter_context(running(_api_command(binary, folder, database_url, stub_url, key)))
        url = _announced_url(api, r"Uvicorn running on (\S+)", API_SECONDS, stop)
        api.wait_for(lambda: _answers(url, key), API_SECONDS, stop)
    return LiveServer(url, key, stub_url, folder, (database, stub, api))


def _stub_command(folder: Path) -> Command:
    argv: Argv = [sys.executable, "-I", HERE / "stub_server.py"]
    return Command("The model stub", argv, {"LC_ALL": "C.UTF-8"}, folder / "stub.log")


def _api_command(binary: Path, folder: Path, database_url: str, stub_url: str, key: str) -> Command:
    """The API with nothing of the caller's environment: no proxy, no key of a real model can reach it."""
    scratch = folder / "tmp"
    scratch.mkdir()
    model = {"API_KEY": "stub", "MODEL": "stub", "BASE_URL": f"{stub_url}/v1"}
    settings = {
        "HOST": "127.0.0.1",
        "PORT": "0",
        "DATABASE_URL": database_url,
        "WORKER_ID": "live",
        "WORKER_POLL_INTERVAL_MS": "100",
        # A fault that a test asks the stub for should show at once, not after minutes of retries.
        "WORKER_MAX_RETRIES": "0",
        "LLM_MAX_RETRIES": "0",
        "EMBEDDINGS_MAX_RETRIES": "0",
        "LLM_PROVIDER": "openai",
        **{f"LLM_{name}": value for name, value in model.items()},
        "EMBEDDINGS_PROVIDER": "openai",
        **{f"EMBEDDINGS_OPENAI_{name}": value for name, value in model.items()},
        "RERANKER_PROVIDER": "rrf",
        "TENANT_EXTENSION": "hindsight_api.extensions.builtin.tenant:ApiKeyTenantExtension",
        "TENANT_API_KEY": key,
    }
    env = {f"HINDSIGHT_API_{name}": value for name, value in settings.items()}
    env |= {"HOME": str(folder), "TMPDIR": str(scratch), "PATH": os.defpath, "LANG": "C.UTF-8"}
    env |= {"HF_HUB_OFFLINE": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "PYTHONUNBUFFERED": "1"}
    return Command("The Hindsight API", [binary], env, folder / "api.log")


def _announced_url(process: Process, pattern: str, seconds: float, stop: StopRequest) -> str:
    """The address a process names in its log once it listens."""
    process.wait_for(lambda: re.search(pattern, process.log_text()) is not None, seconds, stop)
    found = re.search(pattern, process.log_text())
    if found is None:
        raise LiveError(f"{process.name} took its address back.")
    return found[1]


def _answers(url: str, key: str) -> bool:
    """Healthy, and ours: no other server knows the key."""
    banks = urllib.request.Request(f"{url}/v1/default/banks", headers={"authorization": f"Bearer {key}"})  # noqa: S310
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url}/health", timeout=ANSWER_SECONDS) as health:
            healthy = json.load(health).get("status") == "healthy"
        with opener.open(banks, timeout=ANSWER_SECONDS) as listed:
            return bool(healthy and listed.status == 200)
    except (OSError, ValueError):
        return False
