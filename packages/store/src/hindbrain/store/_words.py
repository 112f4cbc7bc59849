"""From text to index words: stems, the parts of code identifiers, and overlapping pairs of CJK characters."""

from __future__ import annotations

import re
import unicodedata

from hindbrain.store._stem import stem

# Scripts written without spaces: Thai to Khmer, kana, Han, Hangul, and the Han planes.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_UNSPACED += "\U00020000-\U0003ffff"
_CHUNK = re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])\w)+(?:['\u2019][^\W\d_]+)*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_SIMPLE = re.compile(r"[a-z]+|\d+|[A-Z]?[a-z]+|[A-Z]+")
_APOSTROPHE = re.compile("['\u2019]")
_LONGEST = 64

_STOP = """
a about above after again all also am an and any are as at be because been before being below between both but by can
cannot could couldnt did didnt do does doesnt doing dont down during each either else ever few for from further get
got had has hasnt have havent having he her here hers herself him himself his how i id if ill im in into is isnt it
its itself ive just let lets like lot many may me might more most much must my myself no nor not now of off ok on once
only or other our ours ourselves out over own per please same shall she should shouldnt so some such than that thats
the their theirs them themselves then there these they theyre this those though through to too under until up upon us
very via was wasnt we were werent what whats when where which while who whom whose why will with wont would wouldnt
yes yet you your youre yours yourself
"""
STOP_WORDS = frozenset(_STOP.split())
"""Words that say nothing about what a text is about, as they are before stemming."""


def _plain(text: str) -> str:
    """Without accents and width variants; characters that are neither stay."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(c for c in parts if not unicodedata.combining(c) or c > "\u0e00"))


def _pairs(run: str) -> list[str]:
    """Every character, and every two that touch."""
    return [*run, *(run[i : i + 2] for i in range(len(run) - 1))]


def _whole(chunk: str) -> str:
    """One word in lower case, without a possessive, apostrophes and underscores."""
    word = chunk.lower().replace("\u2019", "'")
    word = word.removesuffix("'s").replace("'", "")
    return word.replace("_", "")[:_LONGEST]


def _parts(chunk: str) -> list[str]:
    """The parts of an identifier such as ``mdLinkUrl`` or ``queue_mode2``; nothing where it is one word."""
    chunk = _APOSTROPHE.split(chunk)[0]
    if _SIMPLE.fullmatch(chunk):
        return []
    parts = _PART.findall(chunk)
    return [part.lower()[:_LONGEST] for part in parts] if len(parts) > 1 else []


def words(text: str) -> list[str]:
    """The index words of a text, in order, with repetitions; stop words included.

    A code identifier gives itself in lower case and then its parts. A run of characters of a script without spaces
    gives each character and each overlapping pair. Never raises, whatever the text holds.
    """
    found: list[str] = []
    for chunk in _CHUNK.findall(_plain(text)):
        if chunk[0] >= "\u0e00" and re.match(rf"[{_UNSPACED}]", chunk):
            found += _pairs(chunk)
            continue
        if whole := _whole(chunk):
            found.append(stem(whole))
        found += [stem(part) for part in _parts(chunk)]
    return found


def asked(text: str) -> list[str]:
    """The distinct index words of a question, in order, without stop words, unless it holds nothing else.

    Of a run without spaces only the pairs are asked for, or its one character.
    """
    meant: dict[str, None] = {}
    small: dict[str, None] = {}
    for chunk in _CHUNK.findall(_plain(text)):
        if chunk[0] >= "\u0e00" and re.match(rf"[{_UNSPACED}]", chunk):
            meant |= dict.fromkeys([chunk] if len(chunk) == 1 else _pairs(chunk)[len(chunk) :])
            continue
        whole = _whole(chunk)
        if whole:
            (small if whole in STOP_WORDS else meant)[stem(whole)] = None
        for part in _parts(chunk):
            if part not in STOP_WORDS:
                meant[stem(part)] = None
    return list(meant or small)


def coded(words: str) -> str:
    """Index words, joined by spaces, as the full-text index keeps them: in ASCII.

    SQLite's tokenizers know an older Unicode than Python and would cut some words in two.
    """
    if words.isascii():
        return words
    return " ".join(w if w.isascii() else f"0x{w.encode('utf-8', 'replace').hex()}" for w in words.split(" "))
