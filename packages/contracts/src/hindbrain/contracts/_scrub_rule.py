"""What a rule of the scrubber is, and the few pieces that patterns share."""

from __future__ import annotations

import re
from collections.abc import Callable

from attrs import frozen

Match = re.Match[str]

WEB = r"[A-Za-z0-9_-]"
# Not in the middle of a word; but an escape such as \n or %3D, whose last letter looks like one, is no word.
LEFT = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
RIGHT = r"(?![A-Za-z0-9_-])"


def _always(_: Match) -> bool:
    return True


@frozen(kw_only=True)
class Rule:
    """One kind of secret.

    ``anchors`` are literals, one of which stands ``back`` characters after the beginning of every such secret; in
    lower case, and found in any case, where ``any_case`` is set. ``pattern`` is matched there: its last group is the
    secret, or all of it where it has no group. It must look at each character a bounded number of times, however often
    the anchor occurs. ``accept`` has the last word; what ``rest`` then matches behind the secret belongs to it.
    ``wraps``: the secret is one long word, so a line break may have been put into it.
    """

    kind: str
    anchors: tuple[str, ...]
    pattern: str
    any_case: bool = False
    back: int = 0
    rest: str = ""
    wraps: bool = False
    accept: Callable[[Match], bool] = _always
