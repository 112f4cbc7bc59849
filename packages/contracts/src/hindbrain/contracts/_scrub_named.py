"""Values beside a name that says what they are: ``NAME=value``, ``name: value``, ``"name": "value"``, ``--name value``.

Source: spec/memory.md section 6.8; spec/facts.md section 5.4 row 13, F25 and F34.
"""

from __future__ import annotations

import re
import string

from hindbrain.contracts._patterns import compiled
from hindbrain.contracts._scrub_rule import Rule
from hindbrain.contracts._scrub_values import Surroundings, is_secret

_KEY = "|".join(
    f"(?<={word})key" for owner in ("api", "access", "account", "private") for word in (owner, f"{owner}[_-]")
)
_NAME = rf"(?P<name>{_KEY}|passw(?:or)?d|passphrase|secret|token|authorization)(?P<suffix>[A-Za-z0-9_-]{{0,32}}+)"
_SEPARATOR = r"(?:\\*[\"'`]\]?)?(?P<separator>[ \t]*+(?::[ \t]*str(?:ing)?[ \t]*=|={1,3}|:=|=>|:)[ \t]*+|[ \t]++)"
_SCHEME = r"(?P<scheme>(?:\\*[\"'`])?(?:basic|token|apikey|digest)[ \t]++)?"
# A longer value is judged by its beginning and taken whole, so that a long line costs no more than its length.
_LONGEST = 64
_DOUBLE = rf"\"((?:[^\"\\\r\n]|\\.){{1,{_LONGEST}}}+)\""
_SINGLE = rf"'((?:[^'\\\r\n]|\\.){{1,{_LONGEST}}}+)'"
_BACKTICK = rf"`([^`\r\n]{{1,{_LONGEST}}}+)`"
# Inside JSON strings: the closing quote has as many backslashes as the opening one, quotes within the value have more.
_SLASHED = r"(?P<slashes>\\++)\""
_ESCAPED = rf"{_SLASHED}((?:[^\"\\\r\n]|(?!(?P=slashes)\")\\++\"?){{1,{_LONGEST}}}+)(?P=slashes)\""
_BACKSLASH = r"\\(?![nrt\"'`\\])"
_BARE = rf"(?:\\*[\"'`])?((?:[^\s\"'`,;&()\[\]{{}}<>\\]|{_BACKSLASH}){{1,{_LONGEST}}}+)"
# What follows NAME= runs to the next space or quote, whatever its signs.
_WIDE = rf"(?:[^\s\"'`\\]|{_BACKSLASH})"
_VARIABLE = rf"(?<=[A-Z]=)({_WIDE}{{1,{_LONGEST}}}+)"
_VALUE = f"{_VARIABLE}|{_DOUBLE}|{_SINGLE}|{_BACKTICK}|{_ESCAPED}|{_BARE}"
# Another name with its own value behind it.
_ASSIGNMENT = r"(?i:[\w.-]*(?:key|passw|secret|token)[\w-]*=)"
_NAME_SIGNS = string.ascii_letters + string.digits + "_.-"
_NAME_REACH = 64

# A name that goes on like this is about a secret; its value is not one.
_ABOUT = frozenset(
    """age at budget class cost count counts dir enabled endpoint env error expired expires expiration expiry field file
    format hash header help hint id ids in index input kind label len length limit manager max message min mode name
    names note param path pattern per placeholder policy prefix present price provider rate ratio ref refs regex
    required rotation scope scopes sha sha256 size source status store suffix title total ttl type types uri url usage
    used valid var version window""".split()  # noqa: SIM905  (words read best as words)
)
_CAMEL = frozenset({"Key", "Value", "Base", "Text", "String"})


def _names_a_secret(suffix: str) -> bool:
    if not suffix or suffix.isdigit() or suffix in _CAMEL:
        return True
    return suffix[0] in "_-" and _ABOUT.isdisjoint(re.split(r"[_-]+", suffix.lower()))


def _is_credential(match: re.Match[str]) -> bool:
    if not _names_a_secret(match["suffix"]):
        return False
    text = match.string
    head = text[max(0, match.start() - _NAME_REACH) : match.start()]
    before = head.rstrip(_NAME_SIGNS)
    prefix = head[len(before) :]
    separated = bool(match["separator"].strip(" \t"))
    group = match.lastindex or 0
    quoted = text[match.start(group) - 1] in "\"'`"
    code = not quoted and (
        text[match.end(group) : match.end(group) + 1] in {"(", "["} or compiled(_ASSIGNMENT).fullmatch(match[group])
    )
    if code or not (separated or prefix.startswith("--")):
        return False
    variable = match["separator"] == "=" and (prefix + match["name"] + match["suffix"]).isupper()
    plain = variable or not separated or before[-1:] in {"?", "&"} or match["scheme"] is not None
    password = match["name"].lower().startswith("pass")
    return is_secret(match[group], Surroundings(password=password, quoted=quoted, plain=plain))


NAMED = Rule(
    kind="credential",
    anchors=("key", "pass", "secret", "token", "auth"),
    pattern=rf"(?i:{_NAME}{_SEPARATOR}{_SCHEME})(?:{_VALUE})",
    rest=rf"(?<=[^\s\"'`]{{{_LONGEST}}}){_WIDE}*+|",
    any_case=True,
    accept=_is_credential,
)
