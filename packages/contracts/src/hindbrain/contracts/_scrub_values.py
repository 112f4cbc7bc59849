"""Whether the value beside a name such as ``password`` or ``api_key`` is a secret, or code, a number, a placeholder.

Source: spec/facts.md section 5.4 row 13 and its faults F25 and F34 (missed secrets, corrupted data).
"""

from __future__ import annotations

from attrs import frozen

from hindbrain.contracts._patterns import compiled

_SHORTEST = 6
_LONG_WORD = 8
_ONE_RUN = 16
_LETTERS_ONLY = 24
_VERSION_DIGITS = 2
_VERSIONED_LENGTH = 20

_OURS = r"\[REDACTED"
_OPERATOR = r"\$\{|\$\(|\{|<|#/|#\{|=|:"
_VARIABLE = r"\$[A-Za-z_]\w*\Z|%\w*%?\Z|%[sdr(]"
_MASK = r"\*{3}|[xX]{4,}\Z|\.{3}|\u2026|\u2022"
_ADDRESS = r"\w+://|//|@"
_PATH = r"~?\.{0,2}/[\w./-]*\Z(?<!\d{3})"
_NOT_A_VALUE = f"{_OURS}|{_OPERATOR}|{_VARIABLE}|{_MASK}|{_ADDRESS}|{_PATH}"
_NUMBER = r"[+-]?[0-9][0-9_.,:eET+-]*(?:Z|[A-Za-z%]{1,3})?"
_CONSTANT = r"[A-Z][A-Z0-9]{0,15}(?:_[A-Z0-9]{1,15})+"
_CHAIN = r"(?a:[A-Za-z_]\w{0,23}(?:\.[A-Za-z_]\w{0,23})+)"
_WORDS = r"[A-Za-z_$|?!.:/*>-]+"
_PLAIN_SLUG = r"(?a:[\w.:/-]+)"
_FOUR_WORDS = r"[a-z0-9]+(?: [a-z0-9]+){3,}"
_NO_SECRET = frozenset(
    """authentication authorization boolean changeme credentials disabled example hidden missing password passwords
    placeholder redacted required string undefined""".split()  # noqa: SIM905  (words read best as words)
)


@frozen(kw_only=True)
class Surroundings:
    """How a value stands in the text.

    ``password``: the name says it is one a person chose. ``quoted``: between quotes. ``plain``: in a place that holds
    nothing but values (``NAME=value``, a URL's query, after an authorization scheme), so that a word is no code.
    """

    password: bool
    quoted: bool
    plain: bool


def is_secret(value: str, where: Surroundings) -> bool:
    """Whether to redact ``value``. Numbers, dates, code, references, constants, addresses and masks are left."""
    if (
        len(value) < _SHORTEST
        or compiled(_NOT_A_VALUE).match(value)
        or "${" in value
        or compiled(_CONSTANT).fullmatch(value)
    ):
        return False
    if compiled(_NUMBER).fullmatch(value):
        return where.password and value.isdigit() and (where.quoted or where.plain)
    if " " in value:
        return where.password and compiled(_FOUR_WORDS).fullmatch(value) is not None
    if compiled(_WORDS).fullmatch(value):
        return _is_secret_word(value, where)
    code = not where.quoted and (compiled(_CHAIN).fullmatch(value) is not None or _is_versioned(value))
    return where.password or where.plain or (not code and len(value) >= _LONG_WORD)


def _is_versioned(word: str) -> bool:
    """For names such as ``base64Token`` and ``tool-call-2``."""
    few = sum(c.isdigit() for c in word) <= _VERSION_DIGITS
    return few and len(word) < _VERSIONED_LENGTH and compiled(_PLAIN_SLUG).fullmatch(word) is not None


def _is_secret_word(word: str, where: Surroundings) -> bool:
    """For values without a digit or an unusual sign: most are names, types and prose."""
    if word.lower() in _NO_SECRET:
        return False
    if where.plain or (where.password and where.quoted):
        return len(word) >= _LONG_WORD and "." not in word
    if not where.quoted or not word.isalpha():
        return False
    return len(word) >= (_ONE_RUN if word.islower() else _LETTERS_ONLY)
