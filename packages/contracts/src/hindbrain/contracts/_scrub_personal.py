"""What tells of a person, and is taken out on request only.

An IP address is not here: it looks like a version number, and a memory of a machine room is worthless without them.

Source: spec/facts.md section 5.4, rows P1 to P3; account and social security numbers are ours.
"""

from __future__ import annotations

from hindbrain.contracts._patterns import compiled
from hindbrain.contracts._scrub_rule import Match, Rule

_EDGE = r"(?<![A-Za-z0-9_.+-])"
_END = r"(?![A-Za-z0-9_-]|\.[0-9])"
_ISSUERS = r"4(?:.{12}|.{15}|.{18})|(?:5[1-5]|2[2-7]).{14}|3[47].{13}|3[0689].{12}|(?:6011|65|35).{12,14}|62.{14,17}"
_NINE = 9
# A number with a country's code, a North American one, and one that begins with 0: all other groups of digits could be
# a date, a time or a version.
_ABROAD = r"\+[1-9][0-9 ()-]{7,20}[0-9]"
_AMERICAN = r"(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[ -])[2-9][0-9]{2}[ -][0-9]{4}"
_INLAND = r"0[1-9][0-9]{1,3}[ /][0-9]{3,4}[ -]?[0-9]{3,6}"


def _is_card(match: Match) -> bool:
    digits = "".join(filter(str.isdigit, match[0]))
    if len(set(digits)) == 1 or not compiled(_ISSUERS).fullmatch(digits):
        return False
    doubled = (int(c) * (1 + place % 2) for place, c in enumerate(reversed(digits)))
    return sum(n - _NINE if n > _NINE else n for n in doubled) % 10 == 0


def _is_account(match: Match) -> bool:
    number = match[0].replace(" ", "")
    return int("".join(str(int(c, 36)) for c in number[4:] + number[:4])) % 97 == 1


PERSONAL = (
    Rule(
        kind="email",
        anchors=(),
        pattern=r"(?<![A-Za-z0-9._%+-])(?!git@)[A-Za-z0-9._%+-]{1,64}+@(?:[A-Za-z0-9-]{1,63}+\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9-])",
    ),
    Rule(
        kind="iban",
        anchors=(),
        pattern=rf"{_EDGE}[A-Z]{{2}}[0-9]{{2}}(?: ?[A-Z0-9]{{4}}){{2,7}}(?: ?[A-Z0-9]{{1,3}})?{_END}",
        accept=_is_account,
    ),
    Rule(
        kind="payment-card", anchors=(), pattern=rf"{_EDGE}[2-6][0-9]{{3}}(?:[ -]?[0-9]){{9,15}}{_END}", accept=_is_card
    ),
    Rule(
        kind="social-security",
        anchors=(),
        pattern=rf"{_EDGE}(?!000|666|9)[0-9]{{3}}-(?!00)[0-9]{{2}}-(?!0000)[0-9]{{4}}{_END}",
    ),
    Rule(
        kind="phone",
        anchors=(),
        pattern=rf"{_EDGE}(?:{_ABROAD}|{_AMERICAN}|{_INLAND}){_END}",
    ),
)
"""Kinds that are only looked for where personal data has to go."""
