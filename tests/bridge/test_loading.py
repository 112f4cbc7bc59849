"""When the application is loaded: once, behind the first answer; and the last watch of the process is set once."""

from __future__ import annotations

import asyncio
import faulthandler
from pathlib import Path
from typing import Any

import pytest

from hindbrain.bridge import Handlers, Peer, RpcError
from hindbrain.bridge._serve import LAST, _Last
from hindbrain.bridge._serving import After
from hindbrain.bridge._sidecar import Sidecar


@pytest.fixture
def surface(tmp_path: Path) -> Path:
    path = tmp_path / "surface.json"
    path.write_text('{"tools": [], "commands": []}', "utf-8")
    return path


async def test_the_application_is_loaded_once_and_behind_the_first_answer(surface: Path) -> None:
    loads: list[Any] = []

    async def echo(params: dict[str, Any]) -> Any:
        return params

    def load(peer: Peer) -> Handlers:
        loads.append(peer.hello)
        return {"echo": echo}

    sidecar = Sidecar(surface, load, "1.2.3", Peer())
    hello = {"protocol": 1, "host": "pi"}
    answer = await sidecar.serve("initialize", hello)
    waiting = asyncio.create_task(sidecar.serve("echo", {"n": 1}))
    for _ in range(20):
        await asyncio.sleep(0)
    assert (loads, waiting.done()) == ([], False)
    assert isinstance(answer, After)
    answer.then()
    assert await waiting == {"n": 1}
    assert await sidecar.serve("initialize", hello) == answer.result
    assert await sidecar.serve("echo", {"n": 2}) == {"n": 2}
    assert loads == [hello]


async def test_a_host_that_was_refused_may_say_it_better(surface: Path) -> None:
    sidecar = Sidecar(surface, lambda _peer: {}, "1.2.3", Peer())
    for method in ("initialize", "echo"):
        with pytest.raises(RpcError) as caught:
            await sidecar.serve(method, {"protocol": 2})
        assert caught.value.code == "protocol-mismatch"
    assert isinstance(await sidecar.serve("initialize", {"protocol": 1}), After)


def test_the_last_watch_is_not_put_off_by_a_second_end(monkeypatch: pytest.MonkeyPatch) -> None:
    watches: list[float] = []
    monkeypatch.setattr(faulthandler, "dump_traceback_later", lambda seconds, **_: watches.append(seconds))
    last = _Last()
    last()
    last()
    assert watches == [LAST]
