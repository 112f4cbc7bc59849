"""What tests need: planted secrets, synthetic and the same on every run.

Whoever writes text to disk or wire plants these in it, and looks for each ``core`` in the bytes that came out.
"""

from __future__ import annotations

import hashlib
import json
import string
from collections.abc import Iterator

from attrs import field, frozen

__all__ = ["PlantedSecret", "planted_secrets"]

_LETTERS_AND_DIGITS = string.ascii_letters + string.digits
_UPPER = string.ascii_uppercase + "234567"


@frozen
class PlantedSecret:
    """A made-up secret.

    ``family`` is the kind that :func:`~hindbrain.contracts.scrub` gives it. ``text`` is how it stands in a text, with
    a few words around it. ``core`` is the part that must not get out.
    """

    family: str
    text: str = field(repr=False)
    core: str = field(repr=False)


def planted_secrets() -> tuple[PlantedSecret, ...]:
    """One or more secrets of every family that ``scrub`` knows, each plain, in JSON, and in JSON within JSON.

    None was ever valid, and none stands in a file as a whole, so that no scanner takes the source for a leak.
    """
    return tuple(
        PlantedSecret(family, f"I ran it with {form} and it worked", core)
        for family, text, core in (*_tokens(), *_carried(), *_named())
        for form in (text, json.dumps({"note": f"{text} "}), json.dumps(json.dumps({"note": f"{text} "})))
    )


def _made_up(label: str, length: int, alphabet: str = _LETTERS_AND_DIGITS) -> str:
    digest = b"".join(hashlib.sha256(f"{label} {n}".encode()).digest() for n in range(-(-length // 32)))
    return "".join(alphabet[byte % len(alphabet)] for byte in digest[:length])


def _tokens() -> Iterator[tuple[str, str, str]]:
    prefixed = (
        ("aws-access-key", "AK" + "IA", 16),
        ("aws-access-key", "AS" + "IA", 16),
        ("google-api-key", "AI" + "za", 35),
        ("stripe-key", "sk_" + "live_", 24),
        ("stripe-key", "rk_" + "test_", 24),
        ("gitlab-token", "gl" + "pat-", 20),
        ("npm-token", "np" + "m_", 36),
        *(("github-token", f"gh{letter}_", 36) for letter in "pousr"),
        ("github-token", "github" + "_pat_", 59),
        ("api-key", "sk" + "-", 48),
        ("api-key", "sk" + "-ant-api03-", 80),
        ("slack-token", "xo" + "xb-", 40),
        ("huggingface-token", "h" + "f_", 34),
        ("pypi-token", "py" + "pi-AgEIcHlwaS5vcmc", 60),
    )
    for family, prefix, length in prefixed:
        core = _made_up(prefix, length, _UPPER if family.startswith("aws") else _LETTERS_AND_DIGITS)
        yield family, prefix + core, core
    parts = [_made_up(f"jwt {n}", 40) for n in range(3)]
    yield "jwt", "ey" + "J" + ".".join(parts), parts[1]
    body = [_made_up(f"pem {n}", 64) for n in range(3)]
    for words in ("", "RSA ", "OPENSSH "):
        edges = [f"-----{edge} {words}PRIVATE " + "KEY-----" for edge in ("BEGIN", "END")]
        yield "private-key", "\n".join([edges[0], *body, edges[1]]), body[1]


def _carried() -> Iterator[tuple[str, str, str]]:
    core = _made_up("bearer", 32)
    yield "bearer-token", f"Authorization: Bearer {core}", core
    core = _made_up("url", 14)
    for scheme in ("https", "postgres", "redis"):
        yield "password", f"{scheme}://someone:{core}@db.example.com/main", core
    yield "password", f"redis://:{core}@cache.example.com", core
    core = _made_up("cookie", 24)
    yield "cookie", f"Cookie: theme=dark; session={core}", core
    yield "cookie", f"Set-Cookie: session={core}; Path=/", core
    core = _made_up("signature", 32)
    yield "url-parameter", f"https://files.example.com/a?sig={core}&v=1", core
    yield "url-parameter", f"https://files.example.com/a?X-Amz-Signature={core}", core


def _named() -> Iterator[tuple[str, str, str]]:
    core = _made_up("named", 20)
    for name in ("DEMO_API_KEY", "DEMO_TOKEN", "DEMO_SECRET", "DEMO_PASSWORD", "AWS_SECRET_ACCESS_KEY"):
        yield "credential", f"export {name}={core}", core
    for name in ("api_key", "token", "secret", "password", "authorization", "client_secret", "x-api-key"):
        yield "credential", f"{name}: {core}", core
        yield "credential", f'{{"{name}": "{core}"}}', core
    yield "credential", f"https://api.example.com/v1?access_token={core}&page=2", core
    yield "credential", f"deploy --token {core}", core
    yield "credential", "Authorization: Basic " + core, core
