"""Text from a memory is data: made unable to close our blocks or to forge a line, then fenced.

Source: decisions.md, "Recall and injection"; spec/memory.md sections 4, 5.1 and 6.1; spec/facts.md F16 to F18.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import chain

from hindbrain.contracts._errors import InvalidValueError
from hindbrain.contracts._patterns import compiled

WRAPPERS = (
    "hindsight-memory",
    "hindsight_memory",
    "hindsight_memories",
    "hindsight-mental-models",
    "mental_models",
    "hindsight_knowledge",
    "hindsight-recall",
    "hindsight-preamble",
    "memories",
    "memory",
    "smart_recall_evidence",
)
"""The tags that mark a block of memory: ours and those of the other extensions."""

# Beginnings count as tags, whatever follows them: so no cut and no suffix can turn a harmless text into a tag.
_STEMS = (
    "hindsight-memor",
    "hindsight-mental-models",
    "hindsight-knowledge",
    "hindsight-recall",
    "hindsight-preamble",
    "mental-models",
    "memory",
    "memories",
    "smart-recall",
)
_OPEN, _CLOSE = "\u2039", "\u203a"
_OPENER = r"(<|&lt;?|&#0*60;?|&#x0*3c;?|\\u003c|%3c)"
_CLOSER = r"(>|&gt;?|&#0*62;?|&#x0*3e;?|\\u003e|%3e)"
_INSIDE = r"[^<>&\\%]*"
# What may stand between the letters of a tag and leave it readable: a space, accents, variation selectors.
_GAP = "[ \u0300-\u036f\ufe0e\ufe0f]*"
_SEPARATOR = "[ /_\u0300-\u036f\ufe0e\ufe0f-]+"


def _loosely(stem: str) -> str:
    return _GAP.join("[_-]?" if c == "-" else c for c in stem)


_TAG = rf"{_OPENER}[ /\u0300-\u036f\ufe0e\ufe0f]*(?:{'|'.join(map(_loosely, _STEMS))})(?:{_INSIDE}{_CLOSER})?"
_UNFINISHED = rf"{_OPENER}{_INSIDE}\Z"

_NAMES = "|".join(map(re.escape, WRAPPERS))
_OPENING = rf"(?:{_NAMES})(?: [^<>]*|/)?(?:>|\\u003e)"
_INJECTED = rf"< ?{_OPENING}"
_ECHO = (
    rf"(?:<|\\u003c) ?/? ?{_OPENING}"
    r"|custom_?type[\\\"']* ?[:=] ?[\\\"']*hindsight-(?:recall|mental-models)(?![\w-])"
    r"|last-recall\.json"
)
_INJECTED_HEAD = 512

# Invisible without being format characters: joiners, fillers and the selectors that no emoji uses.
_HIDDEN = frozenset(
    chain(
        [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0],
        *(range(0x180B, 0x1810), range(0xFE00, 0xFE0E), range(0xFFF0, 0xFFF9), range(0xE0000, 0xE1000)),
    )
)
_DASHES = frozenset("\u2010\u2011\u2012\u2013\u2014\u2015\u2212")


class _OneLine(dict[int, str | None]):
    """Code points to what they become on one visible line; filled as they are met."""

    def __missing__(self, code: int) -> str | None:
        category = unicodedata.category(chr(code))
        result: str | None = chr(code)
        if category == "Cf" or code in _HIDDEN:
            result = None
        elif category in {"Cc", "Zl", "Zp", "Zs"}:
            result = " "
        elif category == "Cs":
            result = "\ufffd"
        self[code] = result
        return result


class _Skeleton(dict[int, str]):
    """Code points to the plain lower-case character they look like, one for one; filled as they are met."""

    def __missing__(self, code: int) -> str:
        folded = unicodedata.normalize("NFKC", chr(code)).lower()
        result = folded if len(folded) == 1 else chr(code)
        self[code] = result = "-" if result in _DASHES else result
        return result


_ONE_LINE = _OneLine()
_SKELETON = _Skeleton()


def _one_line(text: str) -> str:
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip(" ")
    return re.sub(" +", " ", text.translate(_ONE_LINE)).strip(" ")


def _skeleton(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(_SKELETON)


def neutralise(text: str) -> str:
    """Make a text safe to stand as one line inside any of our blocks.

    Control characters, line and paragraph separators and white space become single spaces; format characters (bidi
    controls, zero-width and tag characters) and other invisible ones are removed, a lone surrogate becomes U+FFFD.
    The brackets of anything that could open or close a wrapper become U+2039 and U+203A: in any case, with spaces,
    slashes, attributes or accents inside, as full-width form, HTML entity, or JSON or percent escape, finished or not.
    A longer name that begins like a wrapper (``<memoryCache>``) is taken for one; other brackets stay.

    The result is a fixed point, and every cut of it is free of tags.

    Source: decisions.md, "Recall and injection"; S4-injection-006, S2-recall-013.
    """
    line = _one_line(text)
    if line.isascii() and "<" not in line and "&" not in line and "%" not in line and "\\" not in line:
        return line  # nothing here opens anything
    line = _replaced(line)
    last = compiled(_UNFINISHED).search(_skeleton(line))
    if last is None or not _begins_a_stem(line[last.end(1) :]):
        return line
    return f"{line[: last.start()]}{_OPEN}{line[last.end(1) :]}"


def _begins_a_stem(text: str) -> bool:
    letters = compiled(_SEPARATOR).sub("", _skeleton(text))
    return any(stem.replace("-", "").startswith(letters) for stem in _STEMS)


def _replaced(text: str) -> str:
    """Replace groups 1 and 2 of each tag by the harmless brackets; matching is done on the skeleton."""
    parts: list[str] = []
    at = 0
    for match in compiled(_TAG).finditer(_skeleton(text)):
        parts += (text[at : match.start(1)], _OPEN)
        at = match.end(1)
        if match[2] is not None:
            parts += (text[at : match.start(2)], _CLOSE)
            at = match.end(2)
    return "".join([*parts, text[at:]])


def is_contaminated(text: str) -> bool:
    """Whether a recalled text holds an echo of an earlier injection, and so must not be shown again.

    That is an opening or closing tag of a wrapper, a ``customType`` of ``hindsight-recall`` or
    ``hindsight-mental-models``, or the file name ``last-recall.json``.

    Source: spec/memory.md section 4 (recall-contamination); the list of wrappers is from decisions.md.
    """
    plain = _skeleton(_one_line(text))
    # Looking for what every echo holds is a tenth of the price of looking for an echo.
    if "<" not in plain and "\\" not in plain and "type" not in plain and "last-recall" not in plain:
        return False
    return compiled(_ECHO).search(plain) is not None


def starts_injected(text: str) -> bool:
    """Whether a message is a block that was injected: after trimming it begins with a wrapper's opening tag.

    A tag further on does not count, so that a person may write about the tags.

    Source: spec/memory.md section 6.1; the list of wrappers is from decisions.md.
    """
    head = text.lstrip()[:_INJECTED_HEAD]
    if head[:1].isascii() and head[:1].isalnum():  # nothing turns a letter into the sign a tag begins with
        return False
    return compiled(_INJECTED).match(_skeleton(_one_line(head))) is not None


def fence(lines: Iterable[str], *, tag: str = "hindsight-memory", guidance: str) -> str:
    """Put lines from a memory into a block.

    Args:
        lines: one item each; neutralised here, but the spaces a line begins with are kept as its indentation.
        tag: one of :data:`WRAPPERS`.
        guidance: the line that tells a model how to read the block.

    Returns:
        The opening tag, the guidance, the lines and the closing tag, joined by line breaks and without one at the end;
        empty where no line says anything.

    Raises:
        InvalidValueError: the tag is not a wrapper, so no detector would know the block again.

    Source: spec/memory.md section 5.1.
    """
    if tag not in WRAPPERS:
        raise InvalidValueError("tag", "one of the wrappers", next_step=f"Use one of: {', '.join(WRAPPERS)}.")
    body = [" " * (len(line) - len(line.lstrip(" "))) + neutralise(line) for line in lines]
    if not any(line.strip() for line in body):
        return ""
    return "\n".join([f"<{tag}>", neutralise(guidance), *(line.rstrip() for line in body), f"</{tag}>"])
