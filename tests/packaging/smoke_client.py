"""client alone: it is built for an address, and refuses one that would send a key in the clear."""

import asyncio
import contextlib
import sys
from pathlib import Path

import hindbrain.client
from hindbrain.client import HindsightClient
from hindbrain.contracts import Endpoint, EndpointError, NoAuth


async def main() -> None:
    async with HindsightClient(Endpoint.parse("https://hindsight.example.com"), token=NoAuth()) as client:
        assert "hindsight.example.com" in repr(client)


assert Path(hindbrain.client.__file__).is_relative_to(sys.prefix)
asyncio.run(main())
with contextlib.suppress(EndpointError):
    Endpoint.parse("http://hindsight.example.com")
    sys.exit("a key would have travelled in the clear")
