"""What tests need: planted secrets, synthetic and the same on every run.

Whoever writes text to disk or wire plants these in it, and looks for each ``core`` in the bytes that came out.
"""

from __future__ import annotations

import binascii
import hashlib
import json
import string
from collections.abc import Iterator

from attrs import field, frozen

__all__ = ["PlantedSecret", "planted_secrets"]

_LETTERS_AND_DIGITS = string.ascii_letters + string.digits
_BASE64 = _LETTERS_AND_DIGITS + "+/"
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
        for family, text, core in (*_tokens(), *_blocks(), *_web(), *_carried(), *_placed(), *_named())
        for form in (text, json.dumps({"note": f"{text} "}), json.dumps(json.dumps({"note": f"{text} "})))
    )


def _made_up(label: str, length: int, alphabet: str = _LETTERS_AND_DIGITS) -> str:
    digest = b"".join(hashlib.sha256(f"{label} {n}".encode()).digest() for n in range(-(-length // 32)))
    return "".join(alphabet[byte % len(alphabet)] for byte in digest[:length])


_LOWER = string.ascii_lowercase + string.digits
_HEX = "0123456789abcdef"
_PREFIXED = (
    ("aws-access-key", "AK/IA AS/IA", 16, _UPPER),
    ("google-api-key", "AI/za", 35, _LETTERS_AND_DIGITS),
    ("google-oauth-secret", "GOC/SPX-", 28, _LETTERS_AND_DIGITS),
    ("google-oauth-token", "ya/29.", 60, _LETTERS_AND_DIGITS),
    ("stripe-key", "sk_/live_ sk_/test_ rk_/live_ rk_/test_", 24, _LETTERS_AND_DIGITS),
    ("stripe-key", "wh/sec_", 32, _LETTERS_AND_DIGITS),
    ("square-key", "sq0/atp- sq0/csp-", 22, _LETTERS_AND_DIGITS),
    (
        "gitlab-token",
        "gl/pat- gl/dt- gl/rt- gl/cbt- gl/ptt- gl/ft- gl/soat- gl/imt- gl/agent-",
        20,
        _LETTERS_AND_DIGITS,
    ),
    ("atlassian-token", "ATA/TT3", 120, _LETTERS_AND_DIGITS),
    ("npm-token", "np/m_", 36, _LETTERS_AND_DIGITS),
    ("pypi-token", "py/pi-AgEIcHlwaS5vcmc", 60, _LETTERS_AND_DIGITS),
    ("rubygems-key", "ruby/gems_", 48, _HEX),
    ("crates-token", "ci/o", 32, _LETTERS_AND_DIGITS),
    ("nuget-key", "oy/2", 43, _LOWER),
    ("docker-token", "dckr/_pat_ dckr/_oat_", 27, _LETTERS_AND_DIGITS),
    ("github-token", "gh/p_ gh/o_ gh/u_ gh/s_ gh/r_", 36, _LETTERS_AND_DIGITS),
    ("github-token", "github/_pat_", 59, _LETTERS_AND_DIGITS),
    ("api-key", "sk/- sk/-ant-api03- sk/-proj- sk/-or-v1-", 64, _LETTERS_AND_DIGITS),
    ("elevenlabs-key", "sk/_", 48, _HEX),
    ("slack-token", "xo/xa- xo/xb- xo/xc- xo/xd- xo/xe- xo/xo- xo/xp- xo/xr- xo/xs- xa/pp-1-", 40, _LETTERS_AND_DIGITS),
    ("huggingface-token", "h/f_ api/_org_", 34, _LETTERS_AND_DIGITS),
    ("groq-key", "gs/k_", 52, _LETTERS_AND_DIGITS),
    ("xai-key", "xa/i-", 80, _LETTERS_AND_DIGITS),
    ("replicate-token", "r/8_", 37, _LETTERS_AND_DIGITS),
    ("perplexity-key", "pp/lx-", 48, _LETTERS_AND_DIGITS),
    ("nvidia-key", "nv/api-", 64, _LETTERS_AND_DIGITS),
    ("pinecone-key", "pc/sk_", 60, _LETTERS_AND_DIGITS),
    ("tavily-key", "tv/ly-", 32, _LETTERS_AND_DIGITS),
    ("cerebras-key", "cs/k-", 48, _LETTERS_AND_DIGITS),
    ("sendgrid-key", "S/G.ngeVfQFYQlKU0ufo8x5d1A.", 43, _LETTERS_AND_DIGITS),
    ("mailgun-key", "ke/y-", 32, _HEX),
    ("twilio-key", "S/K", 32, _HEX),
    ("shopify-token", "shp/at_ shp/ca_ shp/pa_ shp/ss_", 32, _HEX),
    ("digitalocean-token", "dop/_v1_ doo/_v1_ dor/_v1_", 64, _HEX),
    ("databricks-token", "da/pi", 32, _HEX),
    ("linear-key", "lin/_api_ lin/_oauth_", 40, _LETTERS_AND_DIGITS),
    ("notion-token", "nt/n_", 46, _LETTERS_AND_DIGITS),
    ("notion-token", "sec/ret_", 43, _LETTERS_AND_DIGITS),
    ("figma-token", "fi/gd_ fi/gu_ fi/go_", 40, _LETTERS_AND_DIGITS),
    ("sentry-token", "snt/rys_ snt/ryu_", 64, _LETTERS_AND_DIGITS),
    ("vault-token", "hv/s. hv/b. hv/r.", 90, _LETTERS_AND_DIGITS),
    ("terraform-token", "a1B2c3D4e5F6g7/.atlasv1.", 67, _LETTERS_AND_DIGITS),
    ("grafana-token", "gl/c_", 60, _LETTERS_AND_DIGITS),
    ("pulumi-token", "pu/l-", 40, _HEX),
    ("netlify-token", "nf/p_", 36, _LETTERS_AND_DIGITS),
    ("supabase-key", "sb/p_ sb/_secret_", 40, _HEX),
    ("planetscale-token", "pscale/_tkn_ pscale/_pw_ pscale/_oauth_", 43, _LETTERS_AND_DIGITS),
    ("doppler-token", "dp/.pt. dp/.ct. dp/.sa. dp/.st. dp/.scim. dp/.audit.", 43, _LETTERS_AND_DIGITS),
    ("newrelic-key", "NR/AK-", 27, _UPPER),
    ("postman-key", "PM/AK-0123456789abcdef01234567-", 34, _HEX),
    ("tailscale-key", "ts/key-auth-kAbCdEfGh1- ts/key-api-kAbCdEfGh1-", 24, _LETTERS_AND_DIGITS),
    ("tailscale-key", "ts/key-client-kAbCdEfGh1- ts/key-webhook-kAbCdEfGh1-", 24, _LETTERS_AND_DIGITS),
    ("sonar-token", "sq/u_ sq/p_ sq/a_", 40, _HEX),
    ("heroku-key", "HR/KU-AA", 58, _LETTERS_AND_DIGITS),
    ("fly-token", "fo/1_ fm/2_", 60, _LETTERS_AND_DIGITS),
    ("age-key", "AGE/-SECRET-KEY-1 AGE/-SECRET-KEY-PQ-1", 58, _UPPER),
    ("azure-secret", "aB/c7Q~ aB/c8Q~", 34, _LETTERS_AND_DIGITS),
    ("discord-token", "mf/a.", 84, _LETTERS_AND_DIGITS),
)
"""Family, beginnings (cut in two, so that none stands here as a whole), and the length and signs of what follows."""


def _tokens() -> Iterator[tuple[str, str, str]]:
    for family, beginnings, length, alphabet in _PREFIXED:
        for beginning in beginnings.replace("/", "").split():
            core = _made_up(beginning, length, alphabet)
            yield family, beginning + core, core
    core = _made_up("grafana", 32)
    yield "grafana-token", f"gl{'sa_'}{core}_0a1b2c3d", core
    core = _made_up("langsmith", 32, _HEX)
    for kind in ("pt", "sk"):
        yield "langsmith-key", f"ls{'v2_'}{kind}_{core}_0a1b2c3d4e", core
    core = _made_up("telegram", 33)
    yield "telegram-token", f"123456789{':AA'}{core}", core
    core = _made_up("discord", 38)
    for id_length in (20, 21, 23):
        yield "discord-token", f"MT{'A'}{_made_up('bot', id_length)}.Gh1jKl.{core}", core
    parts = [_made_up(f"jwt {n}", 40) for n in range(3)]
    yield "jwt", "ey" + "J" + ".".join(parts), parts[1]


def _blocks() -> Iterator[tuple[str, str, str]]:
    body = [_made_up(f"pem {n}", 64) for n in range(3)]
    for words, more in (("", ""), ("RSA ", ""), ("EC ", ""), ("OPENSSH ", ""), ("ENCRYPTED ", ""), ("PGP ", " BLOCK")):
        edges = [f"-----{edge} {words}PRIVATE " + f"KEY{more}-----" for edge in ("BEGIN", "END")]
        yield "private-key", "\n".join([edges[0], *body, edges[1]]), body[1]
    service = {"type": "service_account", "private_key": "\n".join([edges[0], *body, edges[1], ""]), "client_id": "1"}
    yield "private-key", json.dumps(service), body[1]
    yield "private-key", "\n".join(["PuTTY-User-Key-File-2: ssh-rsa", "Private-" + "Lines: 3", *body]), body[1]
    salt = _made_up("salt", 8)
    for scheme, length in (("apr1", 22), ("1", 22), ("5", 43), ("6", 86), ("y$j9T", 43)):
        core = _made_up(scheme, length)
        yield "password-hash", f"someone:${scheme}${salt}${core}", core
    for scheme in ("2a", "2b", "2y"):
        core = _made_up(scheme, 53)
        yield "password-hash", f"someone:${scheme}$10${core}", core
    for scheme in ("i", "d", "id"):
        core = _made_up(scheme, 43)
        yield "password-hash", f"$argon2{scheme}$v=19$m=65536,t=3,p=4${_made_up('salt', 22)}${core}", core


def _web() -> Iterator[tuple[str, str, str]]:
    core = _made_up("url", 14)
    for scheme in ("https", "postgresql", "mysql", "mongodb+srv", "amqp", "redis", "ftp", "ssh"):
        yield "password", f"{scheme}://someone:{core}@db.example.com/main", core
    yield "password", f"redis://:{core}@cache.example.com", core
    core = _made_up("dsn", 32, _HEX)
    yield "sentry-dsn", f"https://{core}@o123.ingest.example.com/456", core
    core = _made_up("webhook", 24)
    for place in (
        "hooks.slack" + ".com/services/T0A1B2C3D/B0A1B2C3D/",
        "discord" + ".com/api/webhooks/123456789012345678/",
        "example.webhook.office" + ".com/webhookb2/",
        "hooks.zapier" + ".com/hooks/catch/123456/",
    ):
        yield "webhook", f"https://{place}{core}", core
    core = _made_up("signature", 32)
    for name in ("sig", "key", "auth"):
        yield "url-parameter", f"https://files.example.com/a?{name}={core}&v=1", core
    yield "url-parameter", f"https://files.example.com/a?X-Amz-Signature={core}", core


def _carried() -> Iterator[tuple[str, str, str]]:
    core = _made_up("bearer", 32)
    yield "bearer-token", f"Authorization: Bearer {core}", core
    core = binascii.b2a_base64(f"someone:{_made_up('basic', 11)}".encode(), newline=False).decode()
    yield "basic-auth", f"Authorization: Basic {core}", core
    yield "registry-auth", f'{{"auths": {{"registry.example.com": {{"auth": "{core}"}}}}}}', core
    yield "registry-auth", f"//registry.example.com/:_auth={core}", core
    core = _made_up("cookie", 24)
    yield "cookie", f"Cookie: theme=dark; session={core}", core
    yield "cookie", f"Set-Cookie: session={core}; Path=/", core


def _placed() -> Iterator[tuple[str, str, str]]:
    core = _made_up("aws", 40, _BASE64)
    yield "aws-secret-key", f"AWS_SECRET_ACCESS_KEY={core}", core
    yield "aws-secret-key", f"aws_secret_access_key = {core}", core
    yield "aws-secret-key", f'{{"SecretAccessKey": "{core}"}}', core
    for letter in "KS":
        yield "aws-secret-key", f"A{letter}{'IA'}{_made_up('aws', 16, _UPPER)},{core}", core
    core = _made_up("azure", 86, _BASE64)
    for name in ("AccountName=demo;AccountKey=", "SharedAccessKeyName=Root;SharedAccessKey="):
        yield "azure-key", f"Endpoint=sb://demo.example.net/;{name}{core}==", core
    core = _made_up("wireguard", 43, _BASE64)
    for name in ("Private", "Preshared"):
        yield "wireguard-key", f"{name}Key = {core}=", core
    core = _made_up("login", 14)
    yield "password", f"Server=db;Uid=someone;Pwd={core};", core
    yield "password", f"machine api.example.com login someone password {core}", core
    yield "password", f"curl -s -u someone:{core} https://api.example.com", core


def _named() -> Iterator[tuple[str, str, str]]:
    core = _made_up("named", 20)
    for name in ("DEMO_API_KEY", "DEMO_TOKEN", "DEMO_SECRET", "DEMO_PASSWORD", "DEMO_SECRET_ACCESS_KEY"):
        yield "credential", f"export {name}={core}", core
    for name in ("api_key", "token", "secret", "password", "authorization", "client_secret", "x-api-key"):
        yield "credential", f"{name}: {core}", core
        yield "credential", f'{{"{name}": "{core}"}}', core
    yield "credential", f"https://api.example.com/v1?access_token={core}&page=2", core
    yield "credential", f"deploy --token {core}", core
