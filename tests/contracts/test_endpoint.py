"""The URL policy: the vectors of the specification, and the parser beside the standard library's."""

from __future__ import annotations

import ipaddress
import pickle
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hindbrain.contracts import Endpoint, EndpointError


@pytest.mark.req("S2-url-003", "S2-url-004")
@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://hindsight.example.com", "https://hindsight.example.com"),
        ("https://h.example.com/api/", "https://h.example.com/api"),
        ("HTTPS://H.Example.com/A/B//", "https://h.example.com/A/B"),
        ("https://h.example.com:443", "https://h.example.com"),
        ("https://h.example.com:8443/", "https://h.example.com:8443"),
        ("https://h.example.com:80", "https://h.example.com:80"),
        ("http://LOCALHOST:80/", "http://localhost"),
        ("http://localhost:8888", "http://localhost:8888"),
        ("http://127.0.0.1:8888", "http://127.0.0.1:8888"),
        ("http://127.9.9.9", "http://127.9.9.9"),
        ("http://[::1]:8888", "http://[::1]:8888"),
        ("http://[0:0:0:0:0:0:0:1]", "http://[::1]"),
        ("https://[2001:DB8::0:1]/x", "https://[2001:db8::1]/x"),
        ("https://192.168.0.5", "https://192.168.0.5"),
        (" \thttps://h.example.com\r\n", "https://h.example.com"),
        ("https://xn--mnchen-3ya.de", "https://xn--mnchen-3ya.de"),
        ("https://h/a%20b/@x;y=1", "https://h/a%20b/@x;y=1"),
        ("https://my_host/v1.2/...", "https://my_host/v1.2/..."),
    ],
)
def test_an_allowed_url_has_one_normal_form(text: str, url: str) -> None:
    endpoint = Endpoint.parse(text)
    assert endpoint.url == url
    assert endpoint.origin + endpoint.path == url
    assert Endpoint.parse(url) == endpoint


@pytest.mark.parametrize(
    ("reason", "texts"),
    [
        ("not-configured", ["", " \t\n"]),
        ("not-a-url", ["h.example.com", "https:h.example.com", "https:/h.example.com", "//h.example.com", "1s://h"]),
        ("characters", ["https://h.exa\nmple.com", "https://h.example.com\\evil", "https://h/a b", "https://h\x00"]),
        (
            "characters",
            ["https://m\u00fcnchen.de", "https://h/\u00e9", "\u00a0https://h", "https://h\x7f/", "http\t://h"],
        ),
        ("credentials", ["https://user:pw@h.example.com", "https://@h", "https://:@h", "http://localhost@evil.com"]),
        ("credentials", ["https://user:pw@h.example.com/?q#f", "ftp://user:pw@h"]),
        (
            "query-or-fragment",
            ["https://h.example.com/?token=abc", "https://h?", "https://h/#x", "https://h#", "https://h?@x"],
        ),
        ("not-https", ["http://h.example.com", "http://192.168.0.5", "http://127.0.0.1.evil.com", "ftp://localhost"]),
        ("not-https", ["http://[::2]", "http://0.0.0.0", "http://localhost.evil.com", "ws://localhost"]),
        (
            "host",
            ["https://", "https:///x", "http://127.1", "http://0x7f.1:8", "http://2130706433", "http://127.0.0.999"],
        ),
        (
            "host",
            ["http://0177.0.0.1", "http://127.0.0.01", "http://localhost.", "https://a..b", "https://-a", "https://a-"],
        ),
        (
            "host",
            [
                "http://[::ffff:127.0.0.1]",
                "https://[::ffff:7f00:1]",
                "https://[::1%25lo]",
                "https://[::g]",
                "https://[:]",
            ],
        ),
        (
            "host",
            [
                "https://h%2eexample.com",
                "https://[::1]x",
                "https://a]b",
                "https://" + "a" * 64,
                "https://" + "a." * 127 + "a",
            ],
        ),
        ("port", ["https://h:99999", "https://h:0", "https://h:", "https://h:0443", "https://h:8a", "https://h:1:2"]),
        (
            "path",
            [
                "https://h/A/../B",
                "https://h/.",
                "https://h/%2e%2e/x",
                "https://h/%2E",
                "https://h/a%2Fb",
                "https://h/%5c",
            ],
        ),
        (
            "path",
            [
                "https://h/%00",
                "https://h/%0a",
                "https://h/%",
                "https://h/%zz",
                "https://h/a|b",
                "https://h/%252e",
                "https://h/%7F",
            ],
        ),
    ],
)
def test_each_refusal_has_its_reason(reason: str, texts: list[str]) -> None:
    for text in texts:
        with pytest.raises(EndpointError) as caught:
            Endpoint.parse(text)
        assert (text, caught.value.reason) == (text, reason)


@pytest.mark.req("S2-url-004", "S2-url-009")
def test_a_refusal_names_the_field_and_what_is_allowed() -> None:
    with pytest.raises(EndpointError) as caught:
        Endpoint.parse("http://h.example.com", field="hindsightBaseUrl")
    message = str(caught.value)
    for words in (
        "hindsightBaseUrl",
        "https",
        "localhost, 127.x",
        "::1",
        "credentials, query or fragment",
        "Use https",
    ):
        assert words in message
    assert "example" not in message


@pytest.mark.req("S2-url-005", "S2-url-006", "S2-url-007")
@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("https://user:pw@h.example.com", ["user", "pw"]),
        ("https://h.example.com/?token=abc", ["abc", "?token"]),
        ("https://h.example.com/#x7q", ["x7q"]),
    ],
)
def test_a_refusal_never_shows_the_value(text: str, secrets: list[str]) -> None:
    with pytest.raises(EndpointError) as caught:
        Endpoint.parse(text)
    shown = f"{caught.value} {caught.value!r} {caught.value.__cause__}"
    assert not any(secret in shown for secret in secrets)


def test_the_message_depends_on_field_and_reason_alone() -> None:
    messages = set()
    for text in ("https://h:8a", "https://h:99999"):
        with pytest.raises(EndpointError) as caught:
            Endpoint.parse(text)
        messages.add(str(caught.value))
    assert len(messages) == 1


@pytest.mark.parametrize(
    ("origin", "path"), [("http://evil.com", ""), ("https://H", ""), ("https://h", "/a/"), ("https://h/a", "")]
)
def test_an_endpoint_cannot_be_built_around_the_policy(origin: str, path: str) -> None:
    with pytest.raises(EndpointError):
        Endpoint(origin, path)


def test_an_endpoint_survives_pickling() -> None:
    endpoint = Endpoint.parse("https://h.example.com:8443/api")
    assert pickle.loads(pickle.dumps(endpoint)) == endpoint  # noqa: S301  (our own bytes)


@pytest.mark.parametrize(
    ("text", "loopback"),
    [
        ("http://localhost:8888/x", True),
        ("https://127.0.0.1", True),
        ("http://[::1]:1", True),
        ("http://[::1]", True),
        ("https://h", False),
        ("https://127.example.com", False),
        ("https://[::2]:1", False),
    ],
)
def test_an_endpoint_knows_whether_it_is_this_machine(text: str, loopback: bool) -> None:
    assert Endpoint.parse(text).is_loopback is loopback


URLS = st.one_of(
    st.text(max_size=40),
    st.lists(
        st.sampled_from(
            [
                "https",
                "HTTP",
                "http",
                "://",
                ":",
                "/",
                "//",
                "@",
                "?",
                "#",
                "\\",
                "localhost",
                "127.0.0.1",
                "127.1",
                "[::1]",
                "[::ffff:1.2.3.4]",
                "h.Example.com",
                ".",
                "..",
                "%2e",
                "%20",
                "80",
                "443",
                "0x7f",
                "a",
                "B",
                "-",
                "_",
                " ",
                "\n",
                "\u00fc",
            ]
        ),
        max_size=10,
    ).map("".join),
    st.builds(
        "{}://{}{}{}".format,
        st.sampled_from(["https", "http", "HTTPS"]),
        st.sampled_from(
            ["localhost", "127.0.0.1", "127.255.0.3", "[::1]", "h.example.com", "H", "10.0.0.1", "[2001:db8::2]"]
        ),
        st.sampled_from(["", ":80", ":443", ":1", ":65535", ":65536"]),
        st.from_regex(r"(/[a-zA-Z0-9@:._%-]{0,6}){0,4}/*", fullmatch=True),
    ),
)


@given(URLS)
@example("https://h//x")
def test_what_is_accepted_is_read_the_same_by_the_standard_library(text: str) -> None:
    try:
        endpoint = Endpoint.parse(text)
    except EndpointError:
        return
    parts = urlsplit(endpoint.url)
    assert f"{parts.scheme}://{parts.netloc}" == endpoint.origin
    assert parts.path == endpoint.path
    assert "@" not in parts.netloc
    assert not {"?", "#", "\\"} & set(endpoint.url)
    assert endpoint.url.isascii()
    assert endpoint.url.isprintable()
    assert Endpoint.parse(endpoint.url) == endpoint
    assert not endpoint.path.endswith("/")
    host = parts.hostname or ""
    numeric = ":" in host or host.replace(".", "").isdigit()
    local = ipaddress.ip_address(host).is_loopback if numeric else host == "localhost"
    assert local or parts.scheme == "https"
    assert endpoint.is_loopback is local
