"""Where requests may go: the URL policy, as a strict parser that refuses what it would have to guess.

Source: seed 002 ("Configuration", hindsightBaseUrl), spec/facts.md section 2 ("URL normalisation") and decisions.md
("URL policy"). The original followed the WHATWG parser, which repairs shorthand addresses, backslashes, dot segments
and empty ``?``, ``#`` or ``@``; here these are refused. What is accepted normalises to the original's bytes.
"""

from __future__ import annotations

import re
from typing import Self

from attrs import frozen

from hindbrain.contracts._errors import InvalidValueError
from hindbrain.contracts._patterns import compiled

_ALLOWED = (
    "an https URL, or an http URL whose host is localhost, 127.x.x.x or [::1], without credentials, query or fragment"
)
_NEXT_STEPS = {
    "not-configured": "Set it to the address of the server, such as https://hindsight.example.com.",
    "not-a-url": "Write it whole, such as https://hindsight.example.com.",
    "characters": "Take out spaces, control characters and backslashes, and write a host name in its xn-- form.",
    "credentials": "Take out everything up to the @ and configure the token on its own.",
    "query-or-fragment": "Take out the ? or # and all that follows.",
    "host": "Write a plain host name, four decimal numbers, or an IPv6 address in brackets.",
    "port": "Write a port from 1 to 65535 without leading zeros, or none.",
    "path": "Write the path without dot segments, and percent-encode only what must be.",
    "not-https": "Use https, or run the server on this machine.",
}
_TRIMMED = " \t\r\n"
_DEFAULT_PORTS = {"https": "443", "http": "80"}
_SPLIT = r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(/.*)?"
_AUTHORITY = r"(\[[^\]]*\]|[^:\[\]]*)(?::(.*))?"
_PORT = r"[1-9][0-9]{0,4}"
_MAX_PORT = 65535
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = rf"{_LABEL}(?:\.{_LABEL})*"
_MAX_NAME = 253
_NUMERIC_END = r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)"
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_IPV6 = r"\[[0-9a-f:]+\]"
_PATH = r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*"
_UNCLEAR_ESCAPE = r"(?i)%(?:[01][0-9a-f]|2[5ef]|5c|7f)"


class EndpointError(InvalidValueError):
    """A URL does not fit the policy; nothing was sent.

    ``reason`` is one of ``not-configured``, ``not-a-url``, ``characters``, ``credentials``, ``query-or-fragment``,
    ``host``, ``port``, ``path`` and ``not-https``. The message depends on the field and the reason alone, so no part
    of the value can be in it.
    """

    code = "endpoint"

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(field, _ALLOWED, next_step=_NEXT_STEPS[reason])
        self.reason = reason


@frozen
class Endpoint:
    """A destination that the policy allows, in its one normal form.

    ``origin`` is ``scheme://host[:port]`` in lower case without a default port; ``path`` is empty or begins with a
    slash and never ends with one. Build it with :meth:`parse`.

    Raises:
        EndpointError: origin and path are not the normal form of an allowed URL.
    """

    origin: str
    path: str = ""

    def __attrs_post_init__(self) -> None:
        if _normalise(self.url, "the endpoint") != (self.origin, self.path):
            raise EndpointError("the endpoint", "not-a-url")

    @classmethod
    def parse(cls, text: str, *, field: str = "hindsight.baseUrl") -> Self:
        """Read a URL that a person configured; spaces, tabs and line ends around it are trimmed.

        Args:
            text: the URL. Host names are ASCII: one with other letters is refused, its ``xn--`` form accepted.
            field: the setting's name, for the message.

        Raises:
            EndpointError: the policy refuses it.

        Source: S2-url-003 to S2-url-007, S2-url-009.
        """
        return cls(*_normalise(text, field))

    @property
    def url(self) -> str:
        """Origin and path: what the paths of the routes are appended to, and what digests are made of."""
        return self.origin + self.path

    @property
    def is_loopback(self) -> bool:
        """Whether it names this machine by ``localhost``, ``127.x.x.x`` or ``[::1]``."""
        return _is_loopback(re.sub(r".*://|:[0-9]+$", "", self.origin))


def _normalise(text: str, field: str) -> tuple[str, str]:
    scheme, authority, path = _split(text.strip(_TRIMMED), field)
    match = compiled(_AUTHORITY).fullmatch(authority)
    if match is None:
        raise EndpointError(field, "host")
    host = _host(match[1].lower(), field)
    port = _port(match[2], field)
    path = _path(path, field)
    if scheme == "http" and not _is_loopback(host):
        raise EndpointError(field, "not-https")
    suffix = "" if port is None or port == _DEFAULT_PORTS[scheme] else f":{port}"
    return f"{scheme}://{host}{suffix}", path


def _split(text: str, field: str) -> tuple[str, str, str]:
    """Scheme, authority and path, once nothing is left that a parser could take for something else."""
    if not text:
        raise EndpointError(field, "not-configured")
    if "\\" in text or not text.isascii() or not text.isprintable() or " " in text:
        raise EndpointError(field, "characters")
    match = compiled(_SPLIT).fullmatch(text)
    if match is None:
        raise EndpointError(field, "not-a-url")
    scheme, authority, path = match[1].lower(), match[2], match[3] or ""
    if "@" in re.split(r"[?#]", authority, maxsplit=1)[0]:
        raise EndpointError(field, "credentials")
    if "?" in text or "#" in text:
        raise EndpointError(field, "query-or-fragment")
    if scheme not in _DEFAULT_PORTS:
        raise EndpointError(field, "not-https")
    return scheme, authority, path


def _host(host: str, field: str) -> str:
    if compiled(_IPV4).fullmatch(host):
        return host
    if compiled(_IPV6).fullmatch(host):
        return _ipv6(host, field)
    # A name that ends in a number is an address to some parsers (127.1, 0x7f.1, 2130706433): never guess which one.
    if compiled(_NUMERIC_END).fullmatch(host) or len(host) > _MAX_NAME or not compiled(_NAME).fullmatch(host):
        raise EndpointError(field, "host")
    return host


def _ipv6(host: str, field: str) -> str:
    import ipaddress

    try:
        address = ipaddress.IPv6Address(host[1:-1])
    except ValueError:
        raise EndpointError(field, "host") from None
    # Mapped addresses print differently from one Python to the next, and hide an IPv4 address.
    if address.ipv4_mapped is not None:
        raise EndpointError(field, "host")
    return f"[{address.compressed}]"


def _port(port: str | None, field: str) -> str | None:
    if port is not None and (not compiled(_PORT).fullmatch(port) or int(port) > _MAX_PORT):
        raise EndpointError(field, "port")
    return port


def _path(path: str, field: str) -> str:
    dots = any(segment in {".", ".."} for segment in path.split("/"))
    if dots or not compiled(_PATH).fullmatch(path) or compiled(_UNCLEAR_ESCAPE).search(path):
        raise EndpointError(field, "path")
    return path.rstrip("/")


def _is_loopback(host: str) -> bool:
    return host in {"localhost", "[::1]"} or (host.startswith("127.") and compiled(_IPV4).fullmatch(host) is not None)
