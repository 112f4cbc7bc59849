"""What a broken or hostile server can do, over real sockets: each ends in its class, and no message tells a secret."""

import asyncio
import gzip
import itertools
import logging
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hindbrain.client import (
    ClientError,
    ConflictError,
    DeadlineError,
    HindsightClient,
    HttpError,
    InvalidResponseError,
    NetworkError,
    RedirectError,
    UnauthorizedError,
    WrongEndpointError,
)
from hindbrain.contracts import EnvToken, Outcome, RecallQuery, RetainItem

OPERATION = "2de40b13-52e9-41d7-877e-8d3fc4a21637"
KEY = "k-1secret"
PAYLOAD = "the-private-words"
ECHO = {"detail": [{"type": "x", "loc": ["body"], "msg": f"bad {PAYLOAD}", "input": {"content": PAYLOAD, "key": KEY}}]}
VERBS = ["retain", "status", "recall", "delete"]
Connect = Callable[..., HindsightClient]
Reply = Callable[..., bytes]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


async def hang(_writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def hang_in_the_body(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"content-length: 100\r\n\r\n{")
    await asyncio.Event().wait()


async def drip(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"content-length: 60000\r\n\r\n")
    while True:
        writer.write(b" ")
        await asyncio.sleep(0.01)


async def reset_in_the_body(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b'content-length: 100\r\n\r\n{"success":')
    await writer.drain()
    writer.transport.abort()


async def reset_at_once(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def ten_megabytes(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"content-length: 10485760\r\n\r\n")
    for _ in range(160):
        writer.write(b"x" * 65_536)
        await writer.drain()


async def ten_megabytes_in_chunks(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"transfer-encoding: chunked\r\n\r\n")
    for _ in range(160):
        writer.write(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
        await writer.drain()


async def not_http(writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-server\r\n\r\n")
    await writer.drain()


def whole(status: int, body: bytes, kind: str = "application/json", extra: str = "") -> bytes:
    head = f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n{extra}\r\n"
    return head.encode() + body


HTML = b"<html><body>" + PAYLOAD.encode() + b"</body></html>"
FAULTS: dict[str, tuple[Any, type[ClientError], str, Outcome]] = {
    "hang": (hang, DeadlineError, "timeout", Outcome.UNKNOWN),
    "hang in the body": (hang_in_the_body, DeadlineError, "timeout", Outcome.UNKNOWN),
    "drip": (drip, DeadlineError, "timeout", Outcome.UNKNOWN),
    "reset": (reset_at_once, NetworkError, "network", Outcome.UNKNOWN),
    "reset in the body": (reset_in_the_body, NetworkError, "network", Outcome.UNKNOWN),
    "not http": (not_http, NetworkError, "network", Outcome.UNKNOWN),
    "10 MB": (ten_megabytes, InvalidResponseError, "invalid-response", Outcome.UNKNOWN),
    "10 MB chunked": (ten_megabytes_in_chunks, InvalidResponseError, "invalid-response", Outcome.UNKNOWN),
    "html": (whole(200, HTML, "text/html"), InvalidResponseError, "invalid-response", Outcome.UNKNOWN),
    "half": (whole(200, b'{"success":tru'), InvalidResponseError, "invalid-response", Outcome.UNKNOWN),
    "list": (whole(200, b"[1, 2]"), InvalidResponseError, "invalid-response", Outcome.UNKNOWN),
    "nan": (whole(200, b'{"success": NaN}'), InvalidResponseError, "invalid-response", Outcome.UNKNOWN),
    "brackets": (whole(200, b"[" * 60_000), InvalidResponseError, "invalid-response", Outcome.UNKNOWN),
    "no utf-8": (whole(200, b'{"a": "\xff"}'), InvalidResponseError, "invalid-response", Outcome.UNKNOWN),
    "gzip": (
        whole(200, gzip.compress(b'{"async": true, "operation_id": "x"}'), extra="content-encoding: gzip\r\n"),
        InvalidResponseError,
        "invalid-response",
        Outcome.UNKNOWN,
    ),
    "401": (whole(401, b'{"detail": "no"}'), UnauthorizedError, "unauthorized", Outcome.REFUSED),
    "403": (whole(403, HTML, "text/html"), UnauthorizedError, "unauthorized", Outcome.REFUSED),
    "404 html": (whole(404, HTML, "text/html"), WrongEndpointError, "wrong-endpoint", Outcome.REFUSED),
    "404 route": (whole(404, b'{"detail":"Not Found"}'), WrongEndpointError, "wrong-endpoint", Outcome.REFUSED),
    "404 empty": (whole(404, b""), WrongEndpointError, "wrong-endpoint", Outcome.REFUSED),
    "409": (whole(409, b'{"detail": "in use"}'), ConflictError, "conflict", Outcome.UNKNOWN),
    "422": (whole(422, repr(ECHO).encode()), HttpError, "http", Outcome.REFUSED),
    "500": (whole(500, HTML, "text/html"), HttpError, "http", Outcome.REFUSED),
    "502": (whole(502, HTML, "text/html"), HttpError, "http", Outcome.UNKNOWN),
    "503": (whole(503, b"{}", extra="retry-after: 7\r\n"), HttpError, "http", Outcome.REFUSED),
    "503 too long": (whole(503, b"x" * 600_000), InvalidResponseError, "invalid-response", Outcome.UNKNOWN),
}


def calls(client: HindsightClient) -> dict[str, Callable[[], Awaitable[Any]]]:
    item = RetainItem(content=PAYLOAD, document_id="doc-1")
    return {
        "retain": lambda: client.retain("bank-a", item, operation_id=OPERATION),
        "status": lambda: client.status("bank-a", OPERATION),
        "recall": lambda: client.recall("bank-a", RecallQuery(text=PAYLOAD)),
        "delete": lambda: client.delete("bank-a", "doc-1"),
    }


def told(error: BaseException) -> str:
    """All that a log could show of an error."""
    return "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error))


@pytest.mark.req("S2-auth-010", "S2-tests-005", "S2-tests-007", "S2-tests-008", "S2-tests-009", "S2-errors-003")
@pytest.mark.parametrize("fault_and_verb", list(itertools.product(FAULTS, VERBS)), ids="-".join)
async def test_each_fault_ends_in_its_class_and_tells_nothing(
    loopback: Any,
    connect: Connect,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    fault_and_verb: tuple[str, str],
) -> None:
    fault, verb = fault_and_verb
    script, kind, code, outcome = FAULTS[fault]
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("HINDSIGHT_API_TOKEN", KEY)
    server = await loopback(script)
    client = connect(server, EnvToken("HINDSIGHT_API_TOKEN"), deadline=0.05 if kind is DeadlineError else 10.0)

    with pytest.raises(kind) as caught:
        await calls(client)[verb]()

    error = caught.value
    assert (error.code, error.outcome) == (code, outcome)
    assert (error.__cause__, error.__context__) == (None, None)
    for secret in (KEY, PAYLOAD, f"127.0.0.1:{server.port}"):
        assert secret not in told(error)
    assert KEY not in caplog.text
    assert PAYLOAD not in caplog.text
    assert error.retry_after == (7.0 if fault == "503" else None)


@pytest.mark.req("S2-tests-008", "S2-auth-010")
@pytest.mark.parametrize("verb", VERBS)
async def test_a_closed_port_is_a_network_error(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int, verb: str
) -> None:
    monkeypatch.setenv("HINDSIGHT_API_TOKEN", KEY)
    client = connect(f"http://127.0.0.1:{unused_tcp_port}", EnvToken("HINDSIGHT_API_TOKEN"))

    with pytest.raises(NetworkError) as caught:
        await calls(client)[verb]()
    assert caught.value.outcome is Outcome.UNKNOWN
    assert KEY not in told(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.req("S2-url-008", "S2-tests-006")
@pytest.mark.parametrize(("status", "verb"), list(itertools.product([301, 302, 303, 307, 308], VERBS)))
async def test_a_redirect_is_refused_and_its_target_never_asked(
    loopback: Any, connect: Connect, reply: Reply, status: int, verb: str
) -> None:
    other = await loopback(reply(200, {}))
    server = await loopback(reply(status, b"", location=f"{other.url}/v1/default/banks/bank-a/memories"))

    with pytest.raises(RedirectError) as caught:
        await calls(connect(server))[verb]()
    assert (caught.value.code, caught.value.status) == ("http", status)
    assert (other.connections, other.seen) == (0, [])
    assert len(server.seen) == 1


@pytest.mark.req("S2-errors-014")
@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(
    ("verb", "cap"), [("retain", 65_536), ("status", 65_536), ("recall", 524_288), ("delete", 65_536)]
)
async def test_reading_stops_at_the_cap(loopback: Any, connect: Connect, verb: str, cap: int, declared: bool) -> None:
    written = 0

    async def pour(writer: asyncio.StreamWriter) -> None:
        nonlocal written
        length = f"content-length: {cap + 1}\r\n" if declared else "transfer-encoding: chunked\r\n"
        writer.write(HEAD + length.encode() + b"\r\n")
        while not declared:
            writer.write(b"1000\r\n" + b" " * 4_096 + b"\r\n")
            await writer.drain()
            written += 4_096
        await asyncio.Event().wait()

    server = await loopback(pour)

    with pytest.raises(InvalidResponseError, match=f"longer than {cap} bytes"):
        await calls(connect(server))[verb]()
    await server.hung_up.wait()
    assert written < cap + 16 * 1_048_576  # what the kernel's buffers hold; an endless body would go on


@pytest.mark.req("S2-errors-014")
@pytest.mark.parametrize("verb", ["status", "recall"])
async def test_a_body_of_exactly_the_cap_is_read(loopback: Any, connect: Connect, reply: Reply, verb: str) -> None:
    cap = {"status": 65_536, "recall": 524_288}[verb]
    body = b'{"status": "pending", "results": []}'
    server = await loopback(reply(200, body + b" " * (cap - len(body))))

    assert await calls(connect(server))[verb]() is not None


async def test_a_wrong_content_type_on_good_json_is_forgiven(loopback: Any, connect: Connect, reply: Reply) -> None:
    server = await loopback(reply(200, {"status": "pending"}, content_type="text/plain"))

    assert (await connect(server).status("bank-a", OPERATION)).operation_id == OPERATION


async def test_proxies_of_the_environment_are_not_used(
    loopback: Any, connect: Connect, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = await loopback(reply(200, {}))
    server = await loopback(reply(200, {"status": "pending"}))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)
    monkeypatch.setenv("NO_PROXY", "")

    await connect(server).status("bank-a", OPERATION)

    assert (proxy.connections, len(server.seen)) == (0, 1)


async def test_a_length_that_is_no_length_reads_nothing(loopback: Any, connect: Connect) -> None:
    server = await loopback(HEAD + b"content-length: 99999999999999999999\r\n\r\n{")

    with pytest.raises((InvalidResponseError, NetworkError)) as caught:  # aiohttp refuses it before we see it
        await connect(server).status("bank-a", OPERATION)
    assert caught.value.outcome is Outcome.UNKNOWN


async def test_an_https_endpoint_that_speaks_no_tls_is_a_network_error(connect: Connect) -> None:
    async def speak(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(speak, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(NetworkError):
            await connect(f"https://127.0.0.1:{port}").status("bank-a", OPERATION)
