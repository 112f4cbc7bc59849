"""JSON-RPC 2.0 between a host and its sidecar, both ways over standard input and output.

Everything here is standard library: a sidecar answers its first request before it imports anything else.
"""

from hindbrain.bridge._connection import Connection
from hindbrain.bridge._errors import BridgeError, ConnectionLostError, DeadlineError, Rpc, RpcError
from hindbrain.bridge._frames import Reader
from hindbrain.bridge._initialize import PROTOCOL
from hindbrain.bridge._outbox import Writer
from hindbrain.bridge._peer import Peer
from hindbrain.bridge._serve import serve
from hindbrain.bridge._sidecar import Handler, Handlers, Load

__all__ = [
    "PROTOCOL",
    "BridgeError",
    "Connection",
    "ConnectionLostError",
    "DeadlineError",
    "Handler",
    "Handlers",
    "Load",
    "Peer",
    "Reader",
    "Rpc",
    "RpcError",
    "Writer",
    "serve",
]
