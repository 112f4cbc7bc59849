"""Loads the command once, and forks a process for each line of JSON on stdin; its exit code is a line on stdout."""

import importlib
import json
import os
import pkgutil
import sys
from typing import Any

import hindbrain.client
import hindbrain.contracts
import hindbrain.generic
import hindbrain.memory
import hindbrain.observe
import hindbrain.store
from hindbrain.generic._command import main

ROOMS = (hindbrain.contracts, hindbrain.client, hindbrain.store, hindbrain.memory, hindbrain.observe, hindbrain.generic)
OPTIONAL = ("fast", "vectors", "testing", "otel")


def load() -> None:
    """All that the command may come to load, but for what an extra brings."""
    for room in ROOMS:
        for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            if not found.name.endswith(OPTIONAL):
                importlib.import_module(found.name)


def become(asked: dict[str, Any]) -> int:
    """Be the command: its exit code."""
    for number, path in enumerate(asked["files"]):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(path, flags, 0o600), number)
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["cwd"])
    sys.argv = ["hindbrain", *asked["args"]]
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    try:
        main()
    except SystemExit as end:
        code = end.code
    else:
        code = 0
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else int(code is not None)


if __name__ == "__main__":
    load()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            try:
                os._exit(become(json.loads(line)))
            except BaseException:  # noqa: BLE001 - as the interpreter ends on whatever is left
                sys.excepthook(*sys.exc_info())
                sys.stderr.flush()
                os._exit(1)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        sys.stdout.flush()
