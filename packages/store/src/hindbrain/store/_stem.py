"""English word forms brought to one stem: the suffix steps of Porter (1980) and a table of irregular forms."""

from __future__ import annotations

from functools import lru_cache

_IRREGULAR_FORMS = """
be been being am is are was were|begin began begun|bite bit bitten|blow blew blown|break broke broken
bring brought|build built|buy bought|catch caught|choose chose chosen|come came|deal dealt|dig dug|do did done does
draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought
find found|flee fled|fly flew flown|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen
get got gotten|give gave given|go went gone goes|grow grew grown|hang hung|have has had|hear heard|hide hid hidden
hold held|keep kept|know knew known|lay laid|lead led|learn learnt|leave left|lend lent|light lit|lose lost
make made|mean meant|meet met|pay paid|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen
seek sought|sell sold|send sent|shake shook shaken|shine shone|shoot shot|show shown|sing sang sung|sink sank sunk
sit sat|sleep slept|speak spoke spoken|spend spent|stand stood|steal stole stolen|stick stuck|strike struck
swear swore sworn|swim swam swum|take took taken|teach taught|tear tore torn|tell told|think thought
throw threw thrown|understand understood|wake woke woken|wear wore worn|win won|write wrote written
rewrite rewrote rewritten|child children|man men|woman women|person people|foot feet|tooth teeth|mouse mice
wife wives|life lives|knife knives|leaf leaves|shelf shelves|half halves|index indices indexes|good better best
bad worse worst
"""
_IRREGULAR = {
    form: forms[0]
    for row in _IRREGULAR_FORMS.strip().splitlines()
    for entry in row.split("|")
    for forms in (entry.split(),)
    for form in forms
}
_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "li": "", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "al", "er",
    "ic", "ou",
)  # fmt: skip
_VOWELS = frozenset("aeiou")
_SHORTEST = 3
_SHORTEST_BRITISH = len("colour")


def _shape(word: str) -> str:
    """The word as c (consonant) and v (vowel) letters; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in _VOWELS or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(stem: str) -> int:
    """How often a vowel run is followed by a consonant run."""
    return _shape(stem).count("vc")


def _short_end(stem: str) -> bool:
    """Whether it ends consonant, vowel, consonant, the last not w, x or y."""
    return _shape(stem).endswith("cvc") and stem[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-2] if len(word) > len("dies") else word[:-1]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _mended(stem: str) -> str:
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if len(stem) > 1 and stem[-1] == stem[-2] and stem[-1] not in "aeiouylsz":
        return stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _short_end(stem) else stem


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        stem = word.removesuffix(suffix)
        if stem != word:
            return _mended(stem) if "v" in _shape(stem) and len(stem) > 1 else word
    return word


def _mapped(word: str, table: dict[str, str]) -> str:
    for size in range(7, 1, -1):
        suffix = word[-size:]
        if len(word) > size and suffix in table:
            stem = word[:-size]
            return stem + table[suffix] if _measure(stem) > 0 else word
    return word


def _bared(word: str) -> str:
    if word.endswith(("sion", "tion")):
        return word[:-3] if _measure(word[:-3]) > 1 else word
    for suffix in _STEP_4:
        if word.endswith(suffix):
            stem = word.removesuffix(suffix)
            return stem if _measure(stem) > 1 else word
    return word


def _trimmed(word: str) -> str:
    if word.endswith("e"):
        stem = word[:-1]
        if _measure(stem) > 1 or (_measure(stem) == 1 and not _short_end(stem)):
            word = stem
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of one lower-case word; words that are short, not ASCII or hold a digit stay as they are."""
    if len(word) < _SHORTEST or not word.isascii() or not word.isalpha():
        return word
    word = _past(_plural(_IRREGULAR.get(word, word)))
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    word = _trimmed(_bared(_mapped(_mapped(word, _STEP_2), _STEP_3)))
    return word[:-2] + "r" if word.endswith("our") and len(word) >= _SHORTEST_BRITISH else word
