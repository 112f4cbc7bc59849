"""Secrets that are not in one piece: behind JSON's escapes, over a line break, over two parts of a message."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.contracts import scrub, scrub_parts
from hindbrain.contracts.testing import PlantedSecret, planted_secrets

PLAIN = planted_secrets()[::3]
TOKENS = [
    p for p in PLAIN if re.search(r"with [A-Za-z0-9_.:~-]+ and", p.text) and p.family not in {"discord-token", "jwt"}
]
BODY = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ"


def escaped(text: str, core: str, form: str) -> str:
    """The text as JSON, with the first and a middle sign of the core escaped."""
    middle = len(core) // 2
    shown = form.format(ord(core[0])) + core[1:middle] + form.format(ord(core[middle])) + core[middle + 1 :]
    return json.dumps({"note": text}).replace(core, shown)


@pytest.mark.parametrize("planted", PLAIN, ids=lambda p: p.family)
@pytest.mark.parametrize("form", ["\\u{:04x}", "\\u{:04X}"])
def test_an_escaped_sign_does_not_hide_a_secret(planted: PlantedSecret, form: str) -> None:
    text = escaped(planted.text, planted.core, form)
    assert planted.core in json.loads(text)["note"]
    scrubbed = scrub(text)
    assert planted.core not in json.loads(scrubbed)["note"]
    assert f"[REDACTED:{planted.family}]" in scrubbed
    assert scrub(scrubbed) == scrubbed


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        (f"a \\u0067h{'p_'}{BODY} b", "a [REDACTED:github-token] b"),
        (f"\\\\u0067\\\\u0068{'p_'}{BODY}\\\\n", "[REDACTED:github-token]\\\\n"),
        (f"gh{'p_'}{BODY[:-1]}\\u005A\\u0020next", "[REDACTED:github-token]\\u0020next"),
        # Read with and without the escapes, and what either finds goes.
        ('{"note": "token=\\u0022abc12345\\u0022"}', '{"note": "token=[REDACTED:credential]"}'),
        ('"password": "ab1\\u0022de2"', '"password": "[REDACTED:credential]"'),
        ("https://h/?a=1\\u0026token=abc12345", "https://h/?a=1\\u0026token=[REDACTED:credential]"),
        ("postgres:\\/\\/u:pa55\\/word@h", "postgres:\\/\\/u:pa55\\/word@h"),
        ("redis:\\/\\/u:pa55word@h\\/0", "redis:\\/\\/u:[REDACTED:password]@h\\/0"),
        ("a \\u005c b \\u00e9 \\/ \\u0041", "a \\u005c b \\u00e9 \\/ \\u0041"),
    ],
)
def test_only_the_secret_goes_and_other_escapes_stay_as_they_are(text: str, scrubbed: str) -> None:
    assert scrub(text) == scrubbed


@pytest.mark.parametrize("planted", TOKENS, ids=lambda p: p.family)
@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\\n", "\\r\\n", "\\\\n"])
def test_a_line_break_does_not_hide_a_token(planted: PlantedSecret, line_break: str) -> None:
    # Where the beginning is long enough to be known by itself, the rest is known by its mixed signs.
    cut = 9 if planted.core.isalnum() and planted.core.upper() != planted.core != planted.core.lower() else 6
    head, tail = planted.core[:cut], planted.core[cut:]
    scrubbed = scrub(planted.text.replace(planted.core, head + line_break + tail))
    assert head not in scrubbed
    assert tail not in scrubbed
    assert f"[REDACTED:{planted.family}]" in scrubbed


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        (f"gh{'p_'}{BODY}\nab3dE5gH7jK9\nnext", "[REDACTED:github-token]\nnext"),
        (f"gh{'p_'}{BODY}\nab3dE5gH7jK9=1", "[REDACTED:github-token]\nab3dE5gH7jK9=1"),
        (f"gh{'p_'}{BODY}\nlowercase0words", "[REDACTED:github-token]\nlowercase0words"),
        (f"gh{'p_'}{BODY}\nNEXT1LINE2HERE", "[REDACTED:github-token]\nNEXT1LINE2HERE"),
        (f"gh{'p_'}{BODY}\nNextLineOfWords", "[REDACTED:github-token]\nNextLineOfWords"),
        ("s" + "k-circle\nfade-dot-animation-and-more", "s" + "k-circle\nfade-dot-animation-and-more"),
        ("A" + "KIAQ2Q2Q2\nQ2Q2q2q2q2", "A" + "KIAQ2Q2Q2\nQ2Q2q2q2q2"),
        (f"gh{'p_'}aB3dE5\n\n{BODY}", f"gh{'p_'}aB3dE5\n\n{BODY}"),
    ],
)
def test_what_stands_on_the_next_line_goes_only_where_it_is_the_rest(text: str, scrubbed: str) -> None:
    assert scrub(text) == scrubbed


@given(st.sampled_from(PLAIN), st.data())
@settings(max_examples=400, deadline=None)
def test_a_secret_over_two_parts_is_found_as_if_they_were_one(planted: PlantedSecret, data: st.DataObject) -> None:
    cut = data.draw(st.integers(min_value=0, max_value=len(planted.text)))
    parts = (planted.text[:cut], planted.text[cut:])
    scrubbed = scrub_parts(parts)
    assert len(scrubbed) == len(parts)
    assert "".join(scrubbed) == scrub(planted.text)
    assert scrub_parts(scrubbed) == scrubbed


@given(st.sampled_from(PLAIN), st.sets(st.integers(min_value=1, max_value=400), max_size=4))
@settings(max_examples=200, deadline=None)
def test_no_number_of_parts_hides_a_secret(planted: PlantedSecret, cuts: set[int]) -> None:
    edges = [0, *sorted(c for c in cuts if c < len(planted.text)), len(planted.text)]
    parts = [planted.text[start:end] for start, end in pairwise(edges)]
    scrubbed = scrub_parts(parts)
    assert len(scrubbed) == len(parts)
    assert planted.core not in "".join(scrubbed)


TOKEN = f"gh{'p_'}{BODY}"


@pytest.mark.parametrize(
    ("parts", "scrubbed"),
    [
        ((), ()),
        (("",), ("",)),
        (("a", "", "b"), ("a", "", "b")),
        ((f"use {TOKEN[:12]}", f"{TOKEN[12:]} now"), ("use [REDACTED:github-token]", " now")),
        ((TOKEN[:9], TOKEN[9:18], TOKEN[18:]), ("[REDACTED:github-token]", "", "")),
        ((f"a {TOKEN} ", "b", f" {TOKEN}"), ("a [REDACTED:github-token] ", "b", " [REDACTED:github-token]")),
        ((f"{TOKEN} a", "", "b"), ("[REDACTED:github-token] a", "", "b")),
        (("export DB_PASSWORD=", "hunter2hunter2 make"), ("export DB_PASSWORD=", "[REDACTED:credential] make")),
        (("word", f"{'s'}k-{BODY}"), ("word", "[REDACTED:api-key]")),
        ((f"x {TOKEN}", "yes, it is"), ("x [REDACTED:github-token]", ", it is")),
    ],
)
def test_a_placeholder_stands_in_the_part_where_the_secret_began(
    parts: tuple[str, ...], scrubbed: tuple[str, ...]
) -> None:
    assert scrub_parts(parts) == scrubbed


def test_parts_lose_what_tells_of_a_person_on_request_only() -> None:
    parts = ("mail bob@exam", "ple.com")
    assert scrub_parts(parts) == parts
    assert scrub_parts(parts, pii=True) == ("mail [REDACTED:email]", "")
