"""The list of `host/view`, drawn by the hosts' own Node without a host: no line is wider than it may be."""

import json
import subprocess
import unicodedata
from typing import Any

import pytest
from _pinned.install import install
from _pinned.shim import CORE

PAGE = {
    "title": "Memory \x1b[31mof\x1b[0m\tthis session",
    "lines": ["日本語のセッション", "👩\u200d👩\u200d👧 family", "e\u0301tude, naïve, \u202eabc", "a\nb"],
    "items": [f"row {n} 中文" for n in range(30)],
    "keys": {"f": "flush", "m": "mode"},
}
PROGRAM = """
const { listView } = await import(process.argv[1]);
const [page, keys, widths] = JSON.parse(process.argv[2]);
let choice = null;
const list = listView(page, { requestRender() {} }, (value) => { choice ??= value; });
list.render(widths[0]);
for (const key of keys) list.handleInput(key);
console.log(JSON.stringify({ drawn: widths.map((width) => list.render(width)), choice }));
"""


def draw(keys: list[str], widths: list[int], page: Any = None) -> Any:
    """What the list shows at each width after these keys, and the choice they made."""
    node, _ = install("types")
    argv = [str(node / "node"), "--no-warnings", "--input-type=module", "-e", PROGRAM, str(CORE)]
    asked = json.dumps([PAGE if page is None else page, keys, widths])
    done = subprocess.run([*argv, asked], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


def cells(line: str) -> int:
    """How many cells a terminal gives a line."""
    wide = {"W": 2, "F": 2}
    return sum(wide.get(unicodedata.east_asian_width(c), 1) for c in line if not unicodedata.combining(c))


def test_no_line_is_wider_than_the_terminal_and_none_moves_the_cursor() -> None:
    widths = [1, 2, 3, 7, 20, 40, 100]
    for width, lines in zip(widths, draw([], widths)["drawn"], strict=True):
        assert max(map(cells, lines)) <= width
        assert [c for line in lines for c in line if unicodedata.category(c) == "Cc" or c == "\u202e"] == []


def test_what_fits_is_shown_whole() -> None:
    (lines,) = draw([], [100])["drawn"]
    assert lines[:2] == ["─" * 100, "Memory of this session"]
    assert "日本語のセッション" in lines
    assert "> row 0 中文" in lines
    assert lines[-2:] == ["f flush   m mode   enter open   esc close", "─" * 100]


def test_a_long_line_is_cut_between_words_and_set_in_below_its_text() -> None:
    (lines,) = draw([], [40], {**PAGE, "lines": ["reads     a-bank-of-the-project, and a-bank-of-mine"]})["drawn"]
    assert lines[3:5] == ["reads     a-bank-of-the-project, and", "          a-bank-of-mine"]


def test_more_lines_than_a_page_holds_are_scrolled() -> None:
    page = {**PAGE, "lines": [f"line {number}" for number in range(30)], "items": []}
    for keys, first in (([], 0), (["j", "j"], 2), (["\x1b[F"], 12), (["\x1b[F", "k"], 11), (["\x1b[F", "\x1b[H"], 0)):
        (lines,) = draw(keys, [60], page)["drawn"]
        assert lines[3:21] == [f"line {first + row}" for row in range(18)]
        assert lines[21].startswith(f"  lines {first + 1} to {first + 18} of 30;")


@pytest.mark.parametrize(
    ("keys", "choice"),
    [
        (["\x1b[B", "\x1b[B", "\r"], {"key": "enter", "index": 2}),
        (["\x1bOB", "k", "j", "\x1b[13u"], {"key": "enter", "index": 1}),
        (["\x1b[F", "f"], {"key": "f", "index": 29}),
        (["\x1b[F", "\x1b[B", "\x1b[H", "\x1b[A", "m"], {"key": "m", "index": 0}),
        (["\x1b[1;1:1B", "\x1b[102;1:1u"], {"key": "f", "index": 1}),
        (["\x1b"], {"key": None, "index": None}),
        (["\x1b[27u"], {"key": None, "index": None}),
        (["x", "\x1b[5~", "\x1b[B\x1b[B"], None),
    ],
)
def test_keys_move_and_choose_in_each_way_terminals_spell_them(keys: list[str], choice: object) -> None:
    assert draw(keys, [40])["choice"] == choice


def test_the_row_that_is_chosen_is_always_in_sight() -> None:
    for downs in (0, 5, 17, 29):
        (lines,) = draw(["j"] * downs, [40])["drawn"]
        assert f"> row {downs} 中文" in lines
