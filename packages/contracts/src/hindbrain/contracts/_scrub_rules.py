"""The kinds of secret, one row each: literals that anchor it, and the pattern that must match there.

Source: spec/memory.md section 6.8 (the seed's families), spec/facts.md section 5.4 and F25, spec/anchors.md section 2e.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from attrs import field, frozen

from hindbrain.contracts._scrub_values import Surroundings, is_secret

Match = re.Match[str]


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _always(_: Match) -> bool:
    return True


@frozen(kw_only=True)
class Rule:
    """One kind of secret.

    ``anchors`` are literals, one of which stands ``back`` characters after the beginning of every such secret; in
    lower case, and found in any case, where ``any_case`` is set. ``pattern`` is matched there: its last group is the
    secret, or all of it where it has no group. It must look at each character a bounded number of times, however often
    the anchor occurs. ``accept`` has the last word; what ``rest`` then matches behind the secret belongs to it.
    """

    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str] = field(converter=_compiled)
    any_case: bool = False
    back: int = 0
    rest: re.Pattern[str] = field(default="", converter=_compiled)
    accept: Callable[[Match], bool] = _always


# Not in the middle of a word; but an escape such as \n or %3D, whose last letter looks like one, is no word.
_LEFT = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
_RIGHT = r"(?![A-Za-z0-9_-])"
_WEB = r"[A-Za-z0-9_-]"
_PEM_HEAD = r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_PEM_BODY = r"(?:[^-]|-(?!----)){0,16384}+"
_PEM_TAIL = r"-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_PEM_CUT = r"(?:(?:\s|\\[nr])*+[A-Za-z0-9+/=]{20,})++"
_PEM_LINE = re.compile(r"[A-Za-z0-9+/=]{20}")
# A plain lower-case slug after sk- is a CSS class, unless it begins as the makers of keys begin.
_SLUG = r"(?!(?!ant-|proj-|or-|svcacct-)[a-z]+(?:-[a-z]+)+(?![A-Za-z0-9_-]))"


def _vendor(kind: str, pattern: str, *anchors: str, back: int = 0) -> Rule:
    return Rule(kind=kind, anchors=anchors, pattern=pattern, back=back)


def _has_key_material(match: Match) -> bool:
    return _PEM_LINE.search(match[0]) is not None


VENDORS = (
    Rule(
        kind="private-key",
        anchors=("-----BEGIN ",),
        pattern=f"{_PEM_HEAD}(?:{_PEM_BODY}{_PEM_TAIL}|{_PEM_CUT})",
        accept=_has_key_material,
    ),
    _vendor("aws-access-key", rf"{_LEFT}A[KS]IA[A-Z0-9]{{16}}{_RIGHT}", "AKIA", "ASIA"),
    _vendor("google-api-key", rf"AIza{_WEB}{{30,}}", "AIza"),
    _vendor("stripe-key", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}", "k_live_", "k_test_", back=1),
    _vendor("gitlab-token", rf"glpat-{_WEB}{{20,}}", "glpat-"),
    _vendor("npm-token", r"npm_[A-Za-z0-9]{30,}", "npm_"),
    _vendor("github-token", r"gh[pousr]_[A-Za-z0-9]{20,}", "gh"),
    _vendor("github-token", r"github_pat_[A-Za-z0-9_]{20,}", "github_pat_"),
    _vendor("api-key", rf"{_LEFT}sk-{_SLUG}{_WEB}{{16,}}", "sk-"),
    _vendor("slack-token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}", "xox"),
    _vendor("huggingface-token", r"hf_[A-Za-z0-9]{30,}", "hf_"),
    _vendor("pypi-token", rf"pypi-{_WEB}{{40,}}", "pypi-"),
    _vendor("jwt", rf"{_LEFT}eyJ{_WEB}{{7,}}\.{_WEB}{{10,}}\.{_WEB}{{10,}}", "eyJ"),
)
"""Secrets that their own form gives away."""

_PROSE = re.compile(r"(?:authentication|authorization|credentials?|certificates?|instruments?)\b", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)+")
_INTERPOLATION = re.compile(r"\[REDACTED:|[$%{<*]")


def _is_bearer(match: Match) -> bool:
    return not _PROSE.match(match[1]) and not _CODE.fullmatch(match[1])


def _is_url_password(match: Match) -> bool:
    secret = match[match.lastindex or 0]
    return _INTERPOLATION.match(secret) is None


def _is_url_parameter(match: Match) -> bool:
    plain = match.string[match.start() - 1 : match.start()] in {"?", "&"}
    return is_secret(match[1], Surroundings(password=False, quoted=False, plain=plain))


CARRIERS = (
    Rule(
        kind="bearer-token",
        anchors=("bearer",),
        pattern=r"(?i:bearer)(?:[ \t]+|%20)([A-Za-z0-9._~+/=-]{12,})",
        any_case=True,
        accept=_is_bearer,
    ),
    Rule(
        kind="password",
        anchors=("://",),
        # The password runs to the last @, since a person may have left one unescaped. A port is no password.
        pattern=r"://(?:(?:\[REDACTED:[a-z-]+\])?[^\s/:@\[\"'`<>\\]*:(?![0-9]{1,5}[?#])([^\s/\"'`<>\\]+)@|([A-Za-z0-9_~.-]{20,})@)",
        accept=_is_url_password,
    ),
    Rule(
        kind="cookie",
        anchors=("cookie",),
        pattern=r"(?i:cookie)\\*[\"']?[ \t]*:[ \t]*(?:\\*[\"'])?"
        r"([!#%&*+.^_|~0-9A-Za-z-]+=[^\s;,\"'`\\${]{4}[^\r\n\"'`\\]*)",
        any_case=True,
    ),
    Rule(
        kind="url-parameter",
        anchors=("key=", "sig=", "auth=", "signature="),
        pattern=r"(?:(?<=[?&])(?i:key|sig|auth)|(?i:signature))=([^&\s\"'`<>#,\\(){}\[\]]{8,})",
        any_case=True,
        accept=_is_url_parameter,
    ),
)
"""Secrets that the place they stand in gives away."""
