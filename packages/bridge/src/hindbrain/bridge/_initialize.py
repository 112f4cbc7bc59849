"""The first request: whether both sides speak the same protocol, and what the host can show before all else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from hindbrain.bridge._errors import Rpc, RpcError

if TYPE_CHECKING:
    import os

PROTOCOL: Final = 1
"""The version of docs/protocol.md that is spoken here."""
_HOSTS: Final = ("pi", "omp")


def check(params: dict[str, Any], version: str) -> None:
    """Refuse a shim that speaks another protocol.

    Raises:
        RpcError: with ``Rpc.PROTOCOL`` and one line for the user.
    """
    spoken = params.get("protocol")
    if isinstance(spoken, int) and not isinstance(spoken, bool) and spoken == PROTOCOL:
        return
    host = params.get("host") if params.get("host") in _HOSTS else "HOST"
    theirs = str(spoken) if isinstance(spoken, int) and abs(spoken) < PROTOCOL * 10_000 else "another one"
    message = (
        f"Memory is off: hindbrain {version} speaks protocol {PROTOCOL} and its part in the host speaks {theirs}. "
        f"Run `hindbrain install {host}` and start the host again."
    )
    raise RpcError(Rpc.PROTOCOL, message, code="protocol-mismatch", data={"protocol": PROTOCOL})


def answer(surface: str | os.PathLike[str], version: str, host: object = None) -> dict[str, Any]:
    """The result of ``initialize``: protocol, version, and the tools and commands of the adapter's data file.

    A tool that names ``hosts`` is offered to those only; others have taken its name.

    Raises:
        RpcError: the file is not there or is not what it should be.
    """
    try:
        with open(surface, encoding="utf-8") as file:  # noqa: PTH123  (pathlib is not imported yet)
            shown = json.load(file)
        tools, commands = [each for each in shown["tools"] if host in each.pop("hosts", (host,))], shown["commands"]
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        message = (
            f"Memory is off: hindbrain {version} is not whole, its list of tools cannot be read. Install it again."
        )
        raise RpcError(Rpc.INTERNAL, message, code="surface") from None
    return {"protocol": PROTOCOL, "version": version, "tools": tools, "commands": commands}
