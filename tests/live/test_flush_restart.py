"""Part 8 of the chaos proof: the real server is killed in the middle of a flush and comes back; all arrives once."""

import asyncio
import contextlib
import os
import signal
import subprocess
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from _live.hindsight import LiveServer, running_server
from _live.waiting import StopRequest, wait_until

from hindbrain.client import HindsightClient
from hindbrain.contracts import Endpoint, EnvToken, RetainItem, RetainJob
from hindbrain.store import FlushPolicy, FlushReport, HostState

# live_url: without scripts/live around it a start here would first install the server, which takes its time.
pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(240),
    pytest.mark.usefixtures("live_url"),
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads a process's environment in /proc"),
]

BANK = "flush-restart"
DOCUMENTS = ("one", "two", "three")
JOBS = 24
KEY_VARIABLE = "HINDBRAIN_FLUSH_RESTART_KEY"


class Api:
    """The API process of a server: killed, and started again on its port and its database."""

    def __init__(self, server: LiveServer) -> None:
        self._server = server
        self._process = next(each for each in server.processes if each.name == "The Hindsight API")
        proc = Path("/proc") / str(self._process.pid)
        self._argv = [part.decode() for part in (proc / "cmdline").read_bytes().split(b"\0")[:-1]]
        pairs = [pair.partition("=") for pair in (proc / "environ").read_text().split("\0") if "=" in pair]
        self._env = {name: value for name, _, value in pairs}
        self._env["HINDSIGHT_API_PORT"] = str(urlsplit(server.url).port)

    def kill(self) -> None:
        """All of its group, at once."""
        os.killpg(self._process.pid, signal.SIGKILL)
        wait_until(lambda: self._process.exit_code() is not None, 10, "The killed API", StopRequest())

    @contextlib.contextmanager
    def again(self) -> Iterator[None]:
        """Serving, as before the kill."""
        log = self._server.folder / "api-again.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                self._argv, env=self._env, cwd=self._server.folder, stdout=output, stderr=output, start_new_session=True
            )
        try:
            wait_until(self._is_healthy, 90, "The API's second start", StopRequest())
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _is_healthy(self) -> bool:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"{self._server.url}/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except (OSError, urllib.error.URLError):
            return False


def make_jobs() -> list[RetainJob]:
    jobs = []
    for number in range(JOBS):
        name = str(uuid.uuid4())
        item = RetainItem(
            content=f"Fact number {number:03} of the flush.",
            document_id=DOCUMENTS[number % len(DOCUMENTS)],
            update_mode="append",
        )
        jobs.append(RetainJob(id=name, bank=BANK, item=item, operation_id=name, created_at="2026-01-01T00:00:00Z"))
    return jobs


async def interrupted(state: HostState, client: HindsightClient, api: Api) -> FlushReport:
    """A flush whose server is killed once a few jobs were taken."""
    flushing = asyncio.create_task(state.flusher(client, FlushPolicy(base_backoff=0.0)).flush())
    while (await state.ask(lambda queue: queue.counts())).waiting > JOBS - 4:  # noqa: ASYNC110 - a file tells no event
        await asyncio.sleep(0.01)
    await asyncio.to_thread(api.kill)
    return await flushing


async def arrived(state: HostState, client: HindsightClient, server: LiveServer) -> dict[str, str]:
    """Send what is left, wait until every operation is done, and read the documents."""
    flusher = state.flusher(client, FlushPolicy(base_backoff=0.0))
    for _ in range(10):
        if not (await flusher.flush(force=True)).remaining:
            break
    headers = {"authorization": f"Bearer {server.key}"}
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=30, trust_env=False) as http:
        texts: dict[str, str] = {}
        async with asyncio.timeout(60):
            while sum(text.count("Fact number") for text in texts.values()) < JOBS:
                for name in DOCUMENTS:
                    answer = await http.get(f"/v1/default/banks/{BANK}/documents/{name}")
                    texts[name] = answer.json()["original_text"] if answer.status_code == 200 else ""
                await asyncio.sleep(0.2)
    return texts


def test_a_server_that_dies_in_the_middle_of_a_flush_has_everything_once_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = make_jobs()
    with running_server(StopRequest()) as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        api = Api(server)

        async def scenario() -> dict[str, str]:
            state = await HostState.open(tmp_path / "state", seal_file=tmp_path / "data" / "seal.key")
            await state.ask(lambda queue: queue.append_many(jobs))
            async with HindsightClient(Endpoint.parse(server.url), EnvToken(KEY_VARIABLE)) as client:
                report = await interrupted(state, client, api)
                assert 0 < report.sent < JOBS
                assert report.remaining == JOBS - report.sent
                assert report.dead_lettered == 0
                with api.again():
                    texts = await arrived(state, client, server)
            assert (await state.ask(lambda queue: queue.counts())).waiting == 0
            await state.close()
            return texts

        texts = asyncio.run(scenario())
    for number in range(JOBS):
        document = DOCUMENTS[number % len(DOCUMENTS)]
        assert texts[document].count(f"Fact number {number:03} ") == 1
