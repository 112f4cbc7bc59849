"""A block inside what somebody said is cut out; what was said around it stays."""

from __future__ import annotations

import json

import pytest

from hindbrain.contracts import Entry, Fact, ImagePart, Message, TextPart
from hindbrain.memory import (
    GUIDANCE,
    RecallConfig,
    RetainConfig,
    Verdict,
    compose_query,
    project,
    project_message,
    render_block,
)

BLOCK = render_block([Verdict(bank="proj", fact=Fact(id="f", text="Deploys happen on Fridays."))]).text


def entry(*parts: str, role: str = "user") -> Entry:
    return Entry(id="a", parent_id=None, kind="message", message=Message(role=role, parts=tuple(map(TextPart, parts))))


@pytest.mark.req("S0-recall-009")
@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize(
    "parts",
    [
        (f"ship it\n{BLOCK}",),
        (f"{BLOCK}\nship it",),
        (f"{BLOCK}\nship it\n{BLOCK}",),
        ("ship it", BLOCK),
        (BLOCK, "ship it"),
        ("ship it " + BLOCK.replace("\n", "\r\n"),),
        ("ship it " + BLOCK[: BLOCK.index("Fridays") + 7],),
    ],
)
def test_the_block_goes_and_the_words_around_it_stay(parts: tuple[str, ...], role: str) -> None:
    text = project([entry(*parts, role=role)], RetainConfig())
    assert text is not None
    assert "ship it" in text
    assert "Fridays" not in text
    assert GUIDANCE not in text
    message = entry(*parts, role=role).message
    assert message is not None
    query = compose_query([message], RecallConfig(), kind="user", project=None)
    assert query == f"{role}: ship it"


def test_a_block_alone_is_nothing_and_an_image_beside_it_stays() -> None:
    assert project_message(entry(BLOCK), RetainConfig()) is None
    message = Message(role="user", parts=(TextPart(BLOCK), ImagePart("image/png")))
    shown = project_message(Entry(id="a", parent_id=None, kind="message", message=message), RetainConfig())
    assert shown is not None
    assert [part["type"] for part in shown["content"]] == ["image"]


@pytest.mark.parametrize("text", ["Why is <hindsight-memory> here?", f"What does this mean: {GUIDANCE}"])
def test_a_person_may_write_about_the_tag_and_the_line(text: str) -> None:
    assert json.loads(project([entry(text)], RetainConfig()) or "")[0]["content"][0]["text"] == text


def test_a_record_of_what_a_session_looked_like_keeps_it() -> None:
    shown = project_message(entry(f"ship it {BLOCK}"), RetainConfig(), keep_injected=True)
    assert "Fridays" in json.dumps(shown)
