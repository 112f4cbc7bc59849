"""Secrets that the place they stand in gives away: blocks, headers, URLs, connection strings, files of passwords.

Source: spec/memory.md section 6.8; spec/facts.md section 5.4 and F25; the formats' own descriptions for the rest.
"""

from __future__ import annotations

import binascii

from hindbrain.contracts._patterns import compiled
from hindbrain.contracts._scrub_rule import Match, Rule
from hindbrain.contracts._scrub_values import Surroundings, is_secret

_PEM_HEAD = r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_PEM_TAIL = r"-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_BREAK = r"(?:[\r\n]|\\++[nr])"
_GAP_OR_BREAK = r"(?:\s|\\++[nr])*+"
_KEY = "[A-Za-z0-9+/=]"
# Nearly anything, but behind so much of it only what a key is made of: prose may name both ends of one.
_PEM_BODY = r"(?:[^-]|-(?!----)){0,16384}+(?:[A-Za-z0-9+/=\s\"',]++|\\++[nr\"])*+"
# A key that was cut off: long words, or short lines with nothing else on them.
_PEM_NAMES = rf"(?:{_GAP_OR_BREAK}[A-Z][A-Za-z-]{{1,30}}: (?:[^\r\n\\\"-]|-(?!----)){{1,200}}+){{0,8}}+"
_PEM_SHORT = rf"[ \t]*+{_BREAK}{_GAP_OR_BREAK}{_KEY}{{1,19}}+(?=[ \t]*+(?:{_BREAK}|\\*[\"'`]|\Z))"
_PEM_CUT = rf"{_PEM_NAMES}(?:{_GAP_OR_BREAK}{_KEY}{{20,}}|{_PEM_SHORT})++"
_PEM_RUN = rf"{_KEY}{{20}}"
_LINE_BREAK = r"[\r\n]|(?<!\\)\\++[nr]"
_PUTTY = r"private-lines: [0-9]{1,3}((?:(?:\s|\\++[nr])++[A-Za-z0-9+/=]{20,64})++)"
_BASE64 = "[A-Za-z0-9+/]"
_QUOTE = r"\\*[\"'`]"
_IS = rf"(?:{_QUOTE})?\s{{0,4}}(?:=>|[=:,])\s{{0,4}}(?:{_QUOTE})?"

_PROSE = r"(?i:authentication|authorization|credentials?|certificates?|instruments?)\b"
_CODE = r"[A-Za-z_]+(?:\.[A-Za-z_]+)+"
_INTERPOLATION = r"\[REDACTED:|[$%{<*]"


def _has_key_material(match: Match) -> bool:
    joined = "".join(line.strip() for line in compiled(_LINE_BREAK).split(match[0]))
    return compiled(_PEM_RUN).search(joined) is not None


def _is_bearer(match: Match) -> bool:
    return not compiled(_PROSE).match(match[1]) and not compiled(_CODE).fullmatch(match[1])


def _is_basic(match: Match) -> bool:
    try:
        return b":" in binascii.a2b_base64(match[1] + "=" * (-len(match[1]) % 4))
    except binascii.Error:
        return False


def _is_password(match: Match) -> bool:
    return compiled(_INTERPOLATION).match(match[match.lastindex or 0]) is None


def _is_url_parameter(match: Match) -> bool:
    plain = match.string[match.start() - 1 : match.start()] in {"?", "&"}
    return is_secret(match[1], Surroundings(password=False, quoted=False, plain=plain))


def _is_mixed(match: Match) -> bool:
    secret = match[match.lastindex or 0]
    return any(c.isdigit() for c in secret) and any(c.isalpha() for c in secret)


BLOCKS = (
    Rule(
        kind="private-key",
        anchors=("-----BEGIN ",),
        pattern=f"{_PEM_HEAD}(?:{_PEM_BODY}{_PEM_TAIL}|{_PEM_CUT})",
        accept=_has_key_material,
    ),
    Rule(kind="private-key", anchors=("private-lines: ",), pattern=f"(?i:{_PUTTY})", any_case=True),
    Rule(
        kind="password-hash",
        anchors=("$apr1$", "$2a$", "$2b$", "$2y$", "$1$", "$5$", "$6$", "$y$", "$argon2i$", "$argon2d$", "$argon2id$"),
        pattern=r"\$(?:(?:apr1|1)\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}"
        r"|2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}"
        r"|[56]\$(?:rounds=[0-9]{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43,86}"
        r"|y\$[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}"
        r"|argon2i?d?\$v=[0-9]{1,3}\$m=[0-9]{1,9},t=[0-9]{1,9},p=[0-9]{1,9}"
        r"\$[A-Za-z0-9+/]{8,128}\$[A-Za-z0-9+/]{16,128})",
    ),
)
"""Private keys and hashed passwords."""

_USER = r"(?:\[REDACTED:[a-z-]+\])?[^\s/:@\[\"'`<>\\]*"
WEB_ADDRESSES = (
    Rule(
        kind="webhook",
        anchors=("://",),
        pattern=r"://(?:hooks\.slack\.com/(?:services|workflows|triggers)/"
        r"|(?:[a-z]{1,8}\.)?discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/"
        r"|[a-z0-9-]{1,63}\.webhook\.office\.com/webhookb2/"
        r"|hooks\.zapier\.com/hooks/catch/)([A-Za-z0-9/@_-]{16,})",
        accept=_is_mixed,
    ),
    Rule(
        kind="sentry-dsn",
        anchors=("://",),
        pattern=r"://([a-f0-9]{32}(?::[a-f0-9]{32})?)@[a-z0-9.-]{1,128}/[0-9]",
    ),
    Rule(
        kind="password",
        anchors=("://",),
        # The password runs to the last @, since a person may have left one unescaped. A port is no password.
        pattern=rf"://(?:{_USER}:(?![0-9]{{1,5}}[?#])([^\s/\"'`<>\\]+)@|([A-Za-z0-9_~.-]{{20,}})@)",
        accept=_is_password,
    ),
    Rule(
        kind="url-parameter",
        anchors=("key=", "sig=", "auth=", "signature="),
        pattern=r"(?:(?<=[?&])(?i:key|sig|auth)|(?i:signature))=([^&\s\"'`<>#,\\(){}\[\]]{8,})",
        any_case=True,
        accept=_is_url_parameter,
    ),
)
"""URLs that let in whoever has them."""

HEADERS = (
    Rule(
        kind="bearer-token",
        anchors=("bearer",),
        pattern=r"(?i:bearer)(?:[ \t]+|%20)([A-Za-z0-9._~+/=-]{12,})",
        any_case=True,
        accept=_is_bearer,
    ),
    Rule(
        kind="basic-auth",
        anchors=("basic",),
        pattern=rf"(?i:basic)(?:[ \t]++|%20)({_BASE64}{{6,}}+={{0,2}})(?![A-Za-z0-9_./=-])",
        any_case=True,
        accept=_is_basic,
    ),
    Rule(
        kind="cookie",
        anchors=("cookie",),
        pattern=r"(?i:cookie)\\*[\"']?[ \t]*:[ \t]*(?:\\*[\"'])?"
        r"([!#%&*+.^_|~0-9A-Za-z-]+=[^\s;,\"'`\\${]{4}[^\r\n\"'`\\]*)",
        any_case=True,
    ),
)
"""Headers of requests."""

_AWS_NAME = "|".join(
    f"(?<={name})" for name in ("secretaccess", "secret_access_", "secret-access-", "secret_", "secret")
)
# A file of logins: words with spaces or line breaks between.
_GAP = r"(?:[ \t]|\r?\n|\\+[nrt]){1,8}+"
_NEXT = rf"(?:{_GAP}[^\s\"'\\]{{1,128}})"
# No farther than the next curl, so that many of them cost no more than one.
_ARGUMENTS = r"(?:[^\nc-]++|c(?!url )|-(?!u |-user[ =])){0,200}+"
PLACES = (
    Rule(
        kind="aws-secret-key",
        anchors=("key",),
        pattern=rf"(?i:(?:{_AWS_NAME})key){_IS}({_BASE64}{{40}})(?![A-Za-z0-9+/=])",
        any_case=True,
        accept=_is_mixed,
    ),
    Rule(
        kind="aws-secret-key",
        anchors=("AKIA", "ASIA"),
        pattern=rf"A[KS]IA[A-Z0-9]{{16}}(?:{_QUOTE})?(?:[,;:]|\s|\\+[nt]){{1,2}}(?:{_QUOTE})?({_BASE64}{{40}})(?![A-Za-z0-9+/=])",
        accept=_is_mixed,
    ),
    Rule(
        kind="azure-key",
        anchors=("key",),
        pattern=rf"(?i:(?:(?<=account)|(?<=sharedaccess))key){_IS}({_BASE64}{{40,88}}={{1,2}})",
        any_case=True,
    ),
    Rule(
        kind="wireguard-key",
        anchors=("key",),
        pattern=rf"(?i:(?:(?<=private)|(?<=preshared))key){_IS}({_BASE64}{{43}}=)(?!=)",
        any_case=True,
    ),
    Rule(
        kind="password",
        anchors=("pwd=",),
        pattern=r"(?<=;)(?i:pwd)=([^\s;\"'`\\]{4,})",
        any_case=True,
        accept=_is_password,
    ),
    Rule(
        kind="password",
        anchors=("machine ",),
        pattern=rf"(?i:machine){_NEXT}{_GAP}login{_NEXT}{_GAP}password{_GAP}([^\s\"'\\]{{4,}})",
        any_case=True,
        accept=_is_password,
    ),
    Rule(
        kind="password",
        anchors=("curl ",),
        pattern=rf"curl {_ARGUMENTS}-(?:u|-user)[ =][\"']?[^\s:\"'\\${{]{{1,128}}:([^\s\"'\\]{{4,}})",
        accept=_is_password,
    ),
    Rule(
        kind="registry-auth",
        anchors=("auth",),
        pattern=rf"(?i:(?<![A-Za-z0-9-])_?auth)(?:{_QUOTE}\s{{0,4}}:\s{{0,4}}{_QUOTE}|=)({_BASE64}{{16,}}={{0,2}})(?![A-Za-z0-9_-])",
        any_case=True,
        accept=_is_basic,
    ),
)
"""Files and command lines that name what they hold."""
