"""What a live test needs: a running server's address (scripts/live), a bank of its own, control of the model."""

import asyncio
import os
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

# scripts/_live is a library too: tests and benches may run a server or a process of their own with it.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))


def _from_environment(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        pytest.fail(
            f"{name} is not set. Run these tests with scripts/live, which starts the server they need.", pytrace=False
        )
    return value


@pytest.fixture(scope="session")
def live_url() -> str:
    """The real server's origin, as ``http://127.0.0.1:PORT``."""
    return _from_environment("HINDBRAIN_LIVE_URL")


@pytest.fixture(scope="session")
def live_key() -> str:
    """The bearer key without which the server answers 401."""
    return _from_environment("HINDBRAIN_LIVE_KEY")


class Stub:
    """Control of the model behind the server: faults to come, and the calls it got."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def control(self, **faults: Any) -> None:
        """Set ``fail``, ``status``, ``headers``, ``malformed``, ``delay``, ``only`` (scripts/_live/stub_server.py)."""
        self._http.post("/stub/control", json=faults).raise_for_status()

    def reset(self) -> None:
        """End all faults and empty the log."""
        self._http.post("/stub/reset").raise_for_status()

    def log(self) -> list[dict[str, Any]]:
        """The last calls, oldest first: ``kind``, ``bytes``, ``outcome``."""
        calls: list[dict[str, Any]] = self._http.get("/stub/log").raise_for_status().json()
        return calls


@pytest.fixture
def stub() -> Iterator[Stub]:
    """The model's control, without faults before and after the test. The model is shared: faults hit every bank."""
    with httpx.Client(base_url=_from_environment("HINDBRAIN_LIVE_STUB_URL"), trust_env=False) as http:
        control = Stub(http)
        control.reset()
        yield control
        control.reset()


@pytest.fixture
async def server(live_url: str, live_key: str) -> AsyncIterator[httpx.AsyncClient]:
    """A plain HTTP client with the key: for what the four verbs cannot ask."""
    headers = {"authorization": f"Bearer {live_key}"}
    async with httpx.AsyncClient(base_url=live_url, headers=headers, timeout=30, trust_env=False) as http:
        yield http


@pytest.fixture
async def bank(server: httpx.AsyncClient) -> AsyncIterator[str]:
    """The id of a bank that no other test knows; deleted afterwards."""
    bank_id = f"live-{uuid.uuid4().hex}"
    yield bank_id
    await server.delete(f"/v1/default/banks/{bank_id}")


@pytest.fixture
def consolidated(server: httpx.AsyncClient, bank: str) -> Callable[..., Awaitable[None]]:
    """Waits until every fact of ``bank``, or of the banks named, has its observation.

    Recall asks for observations, and on the real server they come later than ``completed``.
    """

    # Not the bank's stats: the server keeps those for a while.
    unconsolidated: dict[str, str | int] = {"consolidation_state": "pending", "limit": 1}

    async def wait(*banks: str) -> None:
        async with asyncio.timeout(60):
            for each in banks or (bank,):
                while True:
                    answer = await server.get(f"/v1/default/banks/{each}/memories/list", params=unconsolidated)
                    if answer.raise_for_status().json()["total"] == 0:
                        break
                    await asyncio.sleep(0.1)

    return wait
