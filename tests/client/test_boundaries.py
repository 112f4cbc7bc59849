"""What the client's sources and doors must not hold."""

import importlib
import sys
from pathlib import Path

import pytest

import hindbrain.client
from hindbrain.client import (
    ClientConfig,
    HindsightClient,
    MissingExtraError,
    TransportKind,
)
from hindbrain.contracts import Endpoint


def sources(*packages: str) -> list[Path]:
    return [path for name in packages for p in importlib.import_module(name).__path__ for path in Path(p).rglob("*.py")]


@pytest.mark.req("S2-backends-032")
def test_no_source_of_the_four_verbs_knows_a_route_to_reflect_or_mental_models() -> None:
    rooms = sources("hindbrain.contracts", "hindbrain.client", "hindbrain.store", "hindbrain.memory")

    assert len(rooms) > 20
    for path in rooms:
        text = path.read_text(encoding="utf-8")
        for route in (
            "/reflect",
            "/mental-models",
            "/knowledge-base",
            "/consolidate",
            "/v1/default/banks/{bank}/config",
        ):
            assert route not in text, path


def test_only_one_module_knows_the_network_libraries() -> None:
    for path in sources("hindbrain.client"):
        text = path.read_text(encoding="utf-8")
        assert path.name == "_transport.py" or not any(
            f"import {name}" in text for name in ("httpx", "aiohttp", "httpcore", "requests", "urllib.request")
        ), path


def test_the_door_lists_every_name_it_opens() -> None:
    assert hindbrain.client.__all__ == sorted(hindbrain.client.__all__)
    assert all(hasattr(hindbrain.client, name) for name in hindbrain.client.__all__)


async def test_the_fast_transport_that_is_not_installed_is_named_as_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "httpx_aiohttp", None)
    config = ClientConfig(transport=TransportKind.AIOHTTP)

    async with HindsightClient(Endpoint.parse("http://127.0.0.1:1"), config=config) as client:
        with pytest.raises(MissingExtraError, match=r"hindbrain-client\[fast\]") as caught:
            await client.delete("bank-a", "doc")
    assert caught.value.__context__ is None
