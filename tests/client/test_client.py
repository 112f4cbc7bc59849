"""The four verbs over real sockets, with each transport."""

import asyncio
import json
import shutil
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from hindbrain.client import (
    ClientConfig,
    ClosedError,
    DeadlineError,
    HindsightClient,
    NetworkError,
    TransportKind,
    WireRequest,
)
from hindbrain.contracts import (
    Backend,
    BackendRequestError,
    Deleted,
    Endpoint,
    EnvToken,
    InvalidValueError,
    NoAuth,
    Operation,
    OperationStatus,
    Outcome,
    Recall,
    RecallQuery,
    Retained,
    RetainItem,
)

OPERATION = "2de40b13-52e9-41d7-877e-8d3fc4a21637"
ITEM = RetainItem(content="Use uv.", document_id="doc-1", tags=("p",))
ACCEPTED = {"success": True, "async": True, "operation_id": OPERATION, "items_count": 1}
Connect = Callable[..., HindsightClient]
Reply = Callable[..., bytes]


def calls(client: HindsightClient) -> list[Awaitable[Any]]:
    return [
        client.retain("bank-a", ITEM, operation_id=OPERATION),
        client.status("bank-a", OPERATION),
        client.recall("bank-a", RecallQuery(text="lint")),
        client.delete("bank-a", "doc-1"),
    ]


@pytest.mark.req("S2-routes-002", "S2-routes-003", "S2-tests-002")
async def test_each_verb_sends_its_one_request_and_reads_the_answer(
    loopback: Any, connect: Connect, reply: Reply
) -> None:
    server = await loopback(
        reply(200, ACCEPTED),
        reply(200, {"status": "completed", "result_metadata": {"unit_ids_count": 1}}),
        reply(200, {"results": [{"id": "f1", "text": "Use uv."}]}),
        reply(200, {"success": True, "memory_units_deleted": 1}),
    )
    client = connect(server)

    results = [await call for call in calls(client)]

    base = "/v1/default/banks/bank-a"
    assert [(s.method, s.target) for s in server.seen] == [
        ("POST", f"{base}/memories"),
        ("GET", f"{base}/operations/{OPERATION}"),
        ("POST", f"{base}/memories/recall"),
        ("DELETE", f"{base}/documents/doc-1"),
    ]
    assert results[0] == Retained(operation_id=OPERATION, items=1, status=OperationStatus.PENDING)
    assert results[1] == Operation(operation_id=OPERATION, status=OperationStatus.COMPLETED, facts=1)
    assert [f.text for f in results[2].facts] == ["Use uv."]
    assert results[3] == Deleted(found=True, facts=1)
    assert server.seen[0].json["async"] is True
    assert server.connections == 1


async def test_only_the_headers_that_are_meant_are_sent(loopback: Any, connect: Connect, reply: Reply) -> None:
    server = await loopback(reply(200, ACCEPTED, set_cookie="a=b"), reply(200, {}))
    client = connect(server)

    await client.retain("bank-a", ITEM, operation_id=OPERATION)
    await client.delete("bank-a", "doc-1")

    with_body, without = (dict(s.headers) for s in server.seen)
    assert with_body.pop("content-type") == "application/json"
    assert int(with_body.pop("content-length")) == len(server.seen[0].body)
    meant = {
        "accept": "application/json",
        "accept-encoding": "identity",
        "user-agent": "hindbrain-client",
        "host": f"127.0.0.1:{server.port}",
    }
    assert without.pop("content-length", "0") == "0"  # aiohttp says it of a DELETE
    assert {k: v for k, v in with_body.items() if k != "connection"} == meant
    assert {k: v for k, v in without.items() if k != "connection"} == meant


@pytest.fixture(autouse=True)
def key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_API_TOKEN", "k-1")


@pytest.mark.req("S2-auth-001", "S2-auth-005", "S2-auth-006", "S2-tests-003")
@pytest.mark.parametrize(("token", "sent"), [(EnvToken("HINDSIGHT_API_TOKEN"), ["Bearer k-1"]), (NoAuth(), [])])
async def test_every_route_carries_the_token_once_or_not_at_all(
    loopback: Any, connect: Connect, reply: Reply, token: EnvToken | NoAuth, sent: list[str]
) -> None:
    server = await loopback(
        reply(200, ACCEPTED), reply(200, {"status": "pending"}), reply(200, {"results": []}), reply(200, {})
    )

    for call in calls(connect(server, token)):
        await call

    assert [s.values("authorization") for s in server.seen] == [sent] * 4


async def test_a_cookie_is_not_kept(loopback: Any, connect: Connect, reply: Reply) -> None:
    server = await loopback(reply(200, {}, set_cookie="session=1; Path=/"))
    client = connect(f"http://localhost:{server.port}")  # aiohttp's own jar would not take one from an address

    for _ in range(2):
        await client.delete("bank-a", "doc-1")

    assert [s.values("cookie") for s in server.seen] == [[], []]


async def test_a_token_is_read_for_each_request(
    loopback: Any, connect: Connect, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await loopback(reply(200, {"status": "pending"}))
    client = connect(server, EnvToken("HINDSIGHT_API_TOKEN"))

    for key in ("k-1", "k-2"):
        monkeypatch.setenv("HINDSIGHT_API_TOKEN", key)
        await client.status("bank-a", OPERATION)

    assert [s.values("authorization") for s in server.seen] == [["Bearer k-1"], ["Bearer k-2"]]


async def test_a_path_below_the_origin_comes_before_the_route(loopback: Any, connect: Connect, reply: Reply) -> None:
    server = await loopback(reply(200, {"status": "pending"}))

    await connect(f"{server.url}/proxy/api/").status("bank-a", OPERATION)

    assert server.seen[0].target == f"/proxy/api/v1/default/banks/bank-a/operations/{OPERATION}"


@pytest.mark.req("S2-routes-005", "S2-routes-006")
@pytest.mark.parametrize(
    ("document", "segment"),
    [("../memories", "..%2Fmemories"), ("doc/../x", "doc%2F..%2Fx"), ("a%2Fb c?#é", "a%252Fb%20c%3F%23%C3%A9")],
)
async def test_a_document_id_stays_one_segment_on_the_wire(
    loopback: Any, connect: Connect, reply: Reply, document: str, segment: str
) -> None:
    server = await loopback(reply(200, {}), reply(404, {"detail": "Document not found"}))
    client = connect(server)

    assert (await client.delete("bank-a", document)).found
    assert not (await client.delete("bank-a", document)).found
    assert {s.target for s in server.seen} == {f"/v1/default/banks/bank-a/documents/{segment}"}


@pytest.mark.req("S2-routes-005", "S2-bank-005", "S2-tests-004")
async def test_a_refused_id_or_tag_list_sends_nothing(loopback: Any, connect: Connect, reply: Reply) -> None:
    server = await loopback(reply(200, {}))
    client = connect(server)
    refused: list[Callable[[], Awaitable[Any]]] = [
        lambda: client.delete("bank-a", ".."),
        lambda: client.delete("bank-a", "."),
        lambda: client.delete("bank-a", ""),
        lambda: client.delete("../all", "doc"),
        lambda: client.status("../all", OPERATION),
        lambda: client.status("bank-a", "../memories"),
        lambda: client.retain("../all", ITEM, operation_id=OPERATION),
        lambda: client.retain("bank-a", ITEM, operation_id="nope"),
        lambda: client.recall("../all", RecallQuery(text="lint")),
        lambda: client.recall("../all", RecallQuery(text="?!")),
        lambda: client.recall("bank-a", RecallQuery(text="lint", tags=())),
    ]

    for call in refused:
        with pytest.raises(BackendRequestError) as caught:
            await call()
        assert (caught.value.code, caught.value.outcome) == ("config", Outcome.NOT_SENT)
    assert (server.connections, server.seen) == (0, [])


async def test_a_query_without_a_word_finds_nothing_and_is_not_sent(
    loopback: Any, connect: Connect, reply: Reply
) -> None:
    server = await loopback(reply(200, {}))

    assert await connect(server).recall("bank-a", RecallQuery(text="?! …")) == Recall()
    assert server.connections == 0


async def test_what_the_api_does_not_know_is_a_value(loopback: Any, connect: Connect, reply: Reply) -> None:
    server = await loopback(reply(404, {"detail": "Bank 'bank-a' not found"}))
    client = connect(server)

    assert await client.recall("bank-a", RecallQuery(text="lint")) == Recall()
    assert (await client.status("bank-a", OPERATION)).status is OperationStatus.NOT_FOUND
    assert await client.delete("bank-a", "doc") == Deleted(found=False)


@pytest.mark.req("S2-tests-004")
async def test_a_stray_result_is_dropped(loopback: Any, connect: Connect, reply: Reply) -> None:
    results = [{"id": "in", "text": "t", "tags": ["p"]}, {"id": "out", "text": "t", "tags": ["other"]}]
    server = await loopback(reply(200, {"results": results}))

    found = await connect(server).recall("bank-a", RecallQuery(text="lint", tags=("p",)))

    assert [fact.id for fact in found.facts] == ["in"]


async def test_a_closed_client_refuses_and_closing_twice_is_fine(loopback: Any, connect: Connect, reply: Reply) -> None:
    server = await loopback(reply(200, {}))
    async with connect(server) as client:
        await client.delete("bank-a", "doc")
    await client.close()

    for call in calls(client):
        with pytest.raises(ClosedError):
            await call
    assert len(server.seen) == 1
    assert isinstance(client, Backend)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 with its key, signed by itself."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl makes the certificate of the loopback server")
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    subprocess.run(
        [
            openssl,
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=loopback",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-keyout",
            path,
            "-out",
            f"{path}.crt",
        ],
        check=True,
        capture_output=True,
    )
    path.write_bytes(path.read_bytes() + Path(f"{path}.crt").read_bytes())
    return path


async def test_a_certificate_counts_only_if_it_is_trusted(kind: TransportKind, certificate: Path) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 21\r\n\r\n{"status": "pending"}')
        await writer.drain()
        writer.close()

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    async with await asyncio.start_server(speak, "127.0.0.1", 0, ssl=context) as server:
        endpoint = Endpoint.parse(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        config = ClientConfig(transport=kind)
        trust = ssl.create_default_context(cafile=certificate)
        async with HindsightClient(endpoint, config=config, tls=trust) as client:
            assert (await client.status("bank-a", OPERATION)).status is OperationStatus.PENDING
        async with HindsightClient(endpoint, config=config) as client:
            with pytest.raises(NetworkError):
                await client.status("bank-a", OPERATION)


@pytest.mark.req("S2-url-010")
@pytest.mark.parametrize("url", ["http://h.example.com", "https://user:hunter2secret@h.example.com", "ftp://h", ""])
def test_a_refused_url_opens_no_socket_and_asks_no_resolver(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr("socket.getaddrinfo", lambda *a, **k: asked.append((a, k)))
    monkeypatch.setattr("socket.socket.connect", lambda *a: asked.append(a))

    with pytest.raises(InvalidValueError) as caught:
        HindsightClient(Endpoint.parse(url))
    assert asked == []
    assert "hunter2secret" not in str(caught.value)


async def test_cancelling_the_caller_cancels_the_request(loopback: Any, connect: Connect) -> None:
    async def hang(_writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    server = await loopback(hang)
    client = connect(server, max_in_flight=1)
    call = asyncio.create_task(client.delete("bank-a", "doc"))
    await server.arrived.wait()

    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await server.hung_up.wait()
    assert len(server.seen) == 1


async def test_a_call_after_a_timeout_finds_its_slot_free(loopback: Any, connect: Connect, reply: Reply) -> None:
    async def hang(_writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    server = await loopback(hang, hang, reply(200, {"status": "pending"}))
    client = connect(server, max_in_flight=1, deadline=0.05)
    for _ in range(2):
        with pytest.raises(DeadlineError, match="within 50 ms"):
            await client.status("bank-a", OPERATION)

    patient = connect(server, max_in_flight=1)
    assert (await patient.status("bank-a", OPERATION)).status is OperationStatus.PENDING


class Gate:
    """A transport that counts the requests under way and lets them go together."""

    def __init__(self) -> None:
        self.under_way = self.most = 0
        self.full = asyncio.Event()
        self.open = asyncio.Event()
        self.status = 200
        self.headers: Mapping[str, str] = {}

    async def send(self, request: WireRequest) -> "Gate":
        assert request.bank == "bank-a"
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        if self.under_way == 3:
            self.full.set()
        await self.open.wait()
        return self

    async def chunks(self) -> AsyncIterator[bytes]:
        yield b'{"status": "pending"}'

    async def close(self) -> None:
        self.under_way -= 1


async def test_no_more_calls_are_in_flight_than_configured() -> None:
    gate = Gate()
    client = HindsightClient(Endpoint.parse("http://127.0.0.1:1"), config=ClientConfig(max_in_flight=3), transport=gate)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(client.status("bank-a", OPERATION)) for _ in range(10)]
        await gate.full.wait()
        gate.open.set()

    assert gate.most == 3
    assert len({task.result().status for task in tasks}) == 1


def test_importing_the_client_loads_no_network_library() -> None:
    code = (
        "import sys, json, hindbrain.client;"
        "print(json.dumps([m for m in ('httpx', 'httpcore', 'aiohttp', 'tenacity', 'pydantic') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert json.loads(done.stdout) == []


def test_a_client_shows_its_origin_only() -> None:
    client = HindsightClient(Endpoint.parse("https://h.example.com/secret-path"), EnvToken("HINDSIGHT_API_TOKEN"))

    assert repr(client) == "HindsightClient('https://h.example.com')"
