import inspect
import pkgutil
import types
import urllib.parse
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hindbrain.client
from hindbrain.client import HindsightClient, Route, Transport, WireRequest
from hindbrain.client._routes import encode
from hindbrain.client._transport import HttpxTransport
from hindbrain.contracts import BackendRequestError, Secret

OPERATION = "2de40b13-52e9-41d7-877e-8d3fc4a21637"


@pytest.mark.req("S2-routes-003")
def test_the_table_holds_exactly_the_four_routes() -> None:
    requests = [
        WireRequest(route=Route.RETAIN, bank="bank-a"),
        WireRequest(route=Route.STATUS, bank="bank-a", subject=OPERATION),
        WireRequest(route=Route.RECALL, bank="bank-a"),
        WireRequest(route=Route.DELETE, bank="bank-a", subject="doc-1"),
    ]
    base = "/v1/default/banks/bank-a"

    assert [r.route for r in requests] == list(Route)
    assert [(r.route.method, r.path) for r in requests] == [
        ("POST", f"{base}/memories"),
        ("GET", f"{base}/operations/{OPERATION}"),
        ("POST", f"{base}/memories/recall"),
        ("DELETE", f"{base}/documents/doc-1"),
    ]
    assert [r.route.cap for r in requests] == [65_536, 65_536, 524_288, 65_536]


@pytest.mark.req("S2-routes-003")
def test_the_client_has_four_verbs_and_a_way_to_close() -> None:
    verbs = {name for name, _ in inspect.getmembers(HindsightClient, inspect.isfunction) if not name.startswith("_")}

    assert verbs == {"retain", "status", "recall", "delete", "close"}


def _callables() -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for info in pkgutil.iter_modules(hindbrain.client.__path__):
        module = __import__(f"hindbrain.client.{info.name}", fromlist=["_"])
        for name, value in vars(module).items():
            if getattr(value, "__module__", "") != module.__name__:
                continue
            if isinstance(value, types.FunctionType):
                found.append((f"{info.name}.{name}", value))
            if inspect.isclass(value):
                found += [(f"{info.name}.{name}.{n}", f) for n, f in inspect.getmembers(value, inspect.isfunction)]
    return found


@pytest.mark.req("S2-routes-004")
def test_no_callable_public_or_private_takes_a_free_method_or_path() -> None:
    free = {"method", "path", "url", "target", "uri", "href", "endpoint_path"}
    table = {"_routes.Route.__init__"}  # the enum's own rows
    token_file = {"_tokens._file_text"}  # a path of the file system

    takers = {name for name, f in _callables() if free & set(inspect.signature(f).parameters)}

    assert takers <= table | token_file


@pytest.mark.req("S2-routes-004")
def test_the_seam_takes_a_request_of_the_table_and_nothing_else() -> None:
    for seam in (Transport.send, HttpxTransport.send):
        assert list(inspect.signature(seam).parameters) == ["self", "request"]
    with pytest.raises(TypeError):
        WireRequest(route=Route.RETAIN, bank="bank-a", path="/v1/default/banks/bank-a")  # type: ignore[call-arg]  # the point
    build: Any = Route
    with pytest.raises(ValueError, match="not a valid Route"):
        build(("DELETE", "/memories", 65_536))


@pytest.mark.req("S2-routes-005", "S2-bank-005")
@pytest.mark.parametrize(
    ("route", "bank", "subject"),
    [
        (Route.DELETE, "bank-a", ""),
        (Route.DELETE, "bank-a", "."),
        (Route.DELETE, "bank-a", ".."),
        (Route.DELETE, "bank-a", "a\nb"),
        (Route.DELETE, "../all", "doc"),
        (Route.DELETE, "bank-a\n", "doc"),
        (Route.STATUS, "bank-a", ".."),
        (Route.STATUS, "bank-a", "nope"),
        (Route.RETAIN, "", ""),
        (Route.RETAIN, "bank-a", "recall"),
        (Route.RECALL, "bank-a", "x"),
        (Route.RECALL, "bank/a", ""),
    ],
)
def test_a_request_with_a_crafted_id_cannot_be_built(route: Route, bank: str, subject: str) -> None:
    with pytest.raises(BackendRequestError):
        WireRequest(route=route, bank=bank, subject=subject)


@pytest.mark.req("S2-routes-005", "S2-routes-006")
@pytest.mark.parametrize(
    ("document", "segment"),
    [
        ("../memories", "..%2Fmemories"),
        ("doc/../x", "doc%2F..%2Fx"),
        ("a b?c#d%2F", "a%20b%3Fc%23d%252F"),
        ("~!*'()-_.", "~!*'()-_."),
        ("é漢😀", "%C3%A9%E6%BC%A2%F0%9F%98%80"),
        ("a+b&c=d:e;f,g@h$i", "a%2Bb%26c%3Dd%3Ae%3Bf%2Cg%40h%24i"),
    ],
)
def test_a_document_id_is_one_segment_whatever_it_holds(document: str, segment: str) -> None:
    request = WireRequest(route=Route.DELETE, bank="bank-a", subject=document)

    assert request.path == f"/v1/default/banks/bank-a/documents/{segment}"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1))
def test_an_encoded_segment_decodes_to_itself_and_holds_no_delimiter(text: str) -> None:
    encoded = encode(text)

    assert urllib.parse.unquote(encoded, errors="strict") == text
    assert not set(encoded) & set('/?#\\ ;:@&=+$,[]<>"{}|^`')
    assert encoded.isascii()


def test_a_request_shows_neither_its_body_nor_its_token() -> None:
    request = WireRequest(route=Route.RETAIN, bank="b", body=b"a private text", token=Secret("k-1secret"))

    assert "private" not in repr(request)
    assert "k-1secret" not in repr(request)
    assert ("authorization", "Bearer k-1secret") in request.headers
