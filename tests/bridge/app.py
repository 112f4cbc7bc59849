"""A sidecar with a tiny application: ``app.py FOLDER [WORD...]``, where each word is something that it does."""

import asyncio
import ctypes
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from hindbrain.bridge import Handlers, Peer, serve

FOLDER, WORDS = Path(sys.argv[1]), sys.argv[2:]
Params = dict[str, Any]


def mark(name: str, text: str = "") -> None:
    """Leave a file that a test waits for."""
    (FOLDER / f"{name}.part").write_text(text, "utf-8")
    (FOLDER / f"{name}.part").replace(FOLDER / name)


def print_everywhere() -> None:
    print("a print", flush=True)  # noqa: T201
    sys.stdout.write("a write\n")
    os.write(1, b"a write to the descriptor\n")
    libc = ctypes.CDLL(None)
    libc.puts(b"a puts from C")
    libc.fflush(None)
    subprocess.run(["echo", "a child"], check=True)
    subprocess.run(["cat"], check=True)  # would eat our frames if it had our input
    logging.getLogger().error("an error in a log")


def block() -> None:
    threading.Event().wait()


class App:
    """Each method with a name of one word is a method of the protocol."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    def handlers(self) -> Handlers:
        return {name: getattr(self, name) for name in vars(App) if name[0] != "_" and name != "handlers"}

    async def echo(self, params: Params) -> Any:
        return params

    async def host(self, _params: Params) -> Any:
        return self.peer.hello["host"]

    async def prints(self, params: Params) -> Any:
        await asyncio.to_thread(print_everywhere)
        return params

    async def reverse(self, params: Params) -> Any:
        return await self.peer.call("host/usage", params, timeout=20)

    async def commit(self, _params: Params) -> Any:
        mark("begun")
        try:
            await asyncio.sleep(60)
        finally:
            mark("committed")

    async def hang(self, _params: Params) -> Any:
        mark("begun")
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                continue

    async def block(self, _params: Params) -> Any:
        mark("begun")
        block()

    async def thread(self, _params: Params) -> Any:
        mark("begun")
        await asyncio.to_thread(block)

    async def wait(self, _params: Params) -> Any:
        mark("begun")
        await asyncio.sleep(0.1)
        mark("finished")
        return {"done": True}

    async def shutdown(self, _params: Params) -> Any:
        with (FOLDER / "shutdowns").open("a") as file:
            file.write("one\n")
        self.peer.note("shut-down", count=1)
        return {}


def do(words: list[str], peer: Peer) -> None:
    if "log" in words:
        peer.note("early", count=1, text="no plain id", path="a/b.c")
        peer.log_to(FOLDER)
    while "slow" in words and not (FOLDER / "go").exists():
        threading.Event().wait(0.005)
    if "fail" in words:
        import hindbrain_is_not_here  # type: ignore[import-not-found]  # noqa: F401
    if "refuse" in words:
        from hindbrain.contracts import HindbrainError

        raise HindbrainError("The settings cannot be read.", next_step="Run `hindbrain doctor`.")
    if "leave" in words:
        sys.exit("a library that ends the process")
    if "print" in words:
        print_everywhere()


def load(peer: Peer) -> Handlers:
    mark("modules", " ".join(sys.modules))
    do(WORDS, peer)
    return App(peer).handlers()


async def load_later(peer: Peer) -> Handlers:
    await asyncio.sleep(0)
    return load(peer)


if __name__ == "__main__":
    serve(FOLDER / "surface.json", load_later if "later" in WORDS else load, "1.2.3")
