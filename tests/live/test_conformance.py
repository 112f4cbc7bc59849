"""The client against the real server keeps every rule of the port, and tag filters mean what they did when recorded."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from hindbrain.client import HindsightClient
from hindbrain.contracts import (
    Endpoint,
    EnvToken,
    FactType,
    RecallQuery,
    TagAnd,
    TagGroup,
    TagLeaf,
    TagNot,
    TagOr,
    TagsMatch,
    groups_match,
)
from hindbrain.contracts.conformance import CASES, Case, Context, fresh_bank

pytestmark = pytest.mark.live

FILTERS = Path(__file__).parents[1] / "data" / "tag-filters.jsonl"
DOCUMENTS = {"none": "", "a": "a", "b": "b", "c": "c", "ab": "ab", "ac": "ac", "bc": "bc", "abc": "abc"}


@pytest.fixture
async def client(live_url: str, live_key: str) -> AsyncIterator[HindsightClient]:  # noqa: ARG001 - fails without a key
    backend = HindsightClient(Endpoint.parse(live_url), EnvToken("HINDBRAIN_LIVE_KEY"))
    yield backend
    await backend.close()


@pytest.fixture
async def new_bank(server: httpx.AsyncClient) -> AsyncIterator[Callable[[], Awaitable[str]]]:
    """Names unused banks, and deletes them afterwards."""
    named: list[str] = []

    async def name() -> str:
        named.append(await fresh_bank())
        return named[-1]

    yield name
    for bank in named:
        await server.delete(f"/v1/default/banks/{bank}")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_the_real_server_keeps_the_rule(
    case: Case, client: HindsightClient, new_bank: Callable[[], Awaitable[str]]
) -> None:
    await case.check(Context(client, new_bank=new_bank, deadline=30))


def group(wire: dict[str, Any]) -> TagGroup:
    if "and" in wire:
        return TagAnd([group(g) for g in wire["and"]])
    if "or" in wire:
        return TagOr([group(g) for g in wire["or"]])
    if "not" in wire:
        return TagNot(group(wire["not"]))
    return TagLeaf(wire["tags"], wire["match"])


def filters(row: dict[str, Any]) -> tuple[TagGroup, ...]:
    if "tag_groups" in row:
        return tuple(group(g) for g in row["tag_groups"])
    return (TagLeaf(row["tags"], TagsMatch(row["tags_match"])),)


@pytest.mark.req("S0-scopes-035", "S0-scopes-036")
async def test_the_server_the_recording_and_the_evaluator_agree_on_tag_filters(
    client: HindsightClient, new_bank: Callable[[], Awaitable[str]]
) -> None:
    ctx = Context(client, new_bank=new_bank)
    bank = await ctx.new_bank()
    for name, tags in DOCUMENTS.items():
        await ctx.retain_and_settle(bank, f"The heron of {name} nests here.", document_id=name, tags=tuple(tags))
    rows = [json.loads(line) for line in FILTERS.read_text(encoding="utf-8").splitlines()]
    for row in rows[::3]:
        wanted = filters(row)
        query = RecallQuery(text="heron nests", types=[FactType.WORLD], tag_groups=wanted)
        found = sorted(str(fact.document_id) for fact in (await client.recall(bank, query)).facts)
        assert found == row["found"], row
        assert found == sorted(name for name, tags in DOCUMENTS.items() if groups_match(wanted, tags)), row
