from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import Fact
from hindbrain.memory import judge, render_block


def fact(text: str, id_: str = "f", **kw: object) -> Fact:
    return Fact(id=id_, text=text, **kw)  # type: ignore[arg-type]  # the tests name real fields


def test_each_reason_for_dropping_a_candidate() -> None:
    verdicts = judge(
        [
            ("a", fact("  \n ")),
            ("a", fact("see <hindsight-memory> above")),
            ("a", fact("Use  httpx only")),
            ("b", fact("use httpx ONLY")),
        ],
        top_k=8,
    )
    assert [v.reasons for v in verdicts] == [
        ("blank-memory",),
        ("recall-contamination",),
        (),
        ("duplicate-memory",),
    ]


def test_top_k_counts_kept_items_of_each_bank() -> None:
    verdicts = judge([(bank, fact(f"{bank}{i}")) for bank in "ab" for i in range(3)], top_k=2)
    assert [v.kept for v in verdicts] == [True, True, False, True, True, False]


def test_the_block_is_fenced_numbered_and_grouped_by_bank() -> None:
    block = render_block(judge([("proj", fact("Use httpx only")), ("user", fact("likes uv"))], top_k=8))
    lines = block.text.splitlines()
    assert lines[0] == "<hindsight-memory>"
    assert lines[-1] == "</hindsight-memory>"
    assert [line for line in lines if line.startswith("Bank:")] == ["Bank: proj", "Bank: user"]
    assert "1. Use httpx only" in lines
    assert "2. likes uv" in lines
    assert [item.number for item in block.items] == [1, 2]


def test_nothing_kept_is_no_block_at_all() -> None:
    assert render_block(judge([("a", fact(" "))], top_k=8)).text == ""


def test_evidence_lines_are_bounded_and_skip_what_is_missing() -> None:
    sources = {str(i): fact(f"said {i}", str(i)) for i in range(5)}
    kept = judge([("a", fact("prefers uv", source_fact_ids=("0", "1", "gone", "2", "3")))], top_k=8)
    evidence = [line for line in render_block(kept, sources).text.splitlines() if "evidence:" in line]
    assert [line.strip() for line in evidence] == [f"- evidence: said {i}" for i in range(3)]
    assert "evidence" not in render_block(kept).text


@given(st.lists(st.text(max_size=80), max_size=6))
def test_no_recalled_text_can_close_the_block_or_add_a_line(texts: list[str]) -> None:
    verdicts = judge([("bank", fact(text)) for text in texts], top_k=99)
    block = render_block(verdicts)
    if block.text:
        assert block.text.count("</hindsight-memory>") == 1
        assert len(block.text.splitlines()) == 4 + len(block.items)
