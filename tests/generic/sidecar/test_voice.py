"""What a session says by itself: its footer and its notices, as the settings want them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hindbrain.generic.sidecar import Application
from hindbrain.generic.sidecar._footer import RECALLING, Footer, Word

Do = Callable[..., Awaitable[Any]]
TWO = Word(state="recalled", number=2)


@pytest.fixture
def do(app: Application) -> Do:
    handlers = app.handlers()

    async def call(method: str, **params: Any) -> Any:
        return await handlers[method](params)

    return call


@pytest.mark.parametrize(
    ("footer", "line"),
    [
        (Footer(), "memory: recalled 2"),
        (Footer(style="emoji"), "🧠 recalled 2"),
        (Footer(style="nerdfont"), "\U000f035b recalled 2"),
        (Footer(style="off"), None),
        (Footer(detail="minimal"), "memory: recalled"),
        (Footer(detail="project"), "memory: widget recalled"),
        (Footer(detail="verbose"), "memory: widget recalled 2"),
        (Footer(longest=6), "memory: recal…"),
        (Footer(activity=False), "memory: recalled 2"),
    ],
)
def test_the_footer_is_written_as_the_settings_say(footer: Footer, line: str | None) -> None:
    assert footer.line(TWO, "widget") == line
    assert footer.line(None, "widget") is None


def test_what_is_over_in_a_moment_is_shown_only_on_wish() -> None:
    assert Footer().line(RECALLING) == "memory: recalling"
    assert Footer(activity=False).line(RECALLING) is None
    assert Footer().line(Word(state="queued", number=3)) == "memory: 3 queued"


async def turn(do: Do, place: Any, question: str) -> None:
    await do("session/context", **place.now(user=place.say(question)))
    place.say("Noted.", "assistant")
    await do("session/settled", **place.now(outcome="completed"))


@pytest.mark.parametrize("wanted", [True, False])
async def test_a_recall_and_a_retain_are_told_on_wish(
    do: Do, app: Application, place: Any, host: Any, *, wanted: bool
) -> None:
    place.values = {"notifications": {"recall": wanted, "retain": wanted}, "status": {"style": "emoji"}}
    await do("session/open", **place.opened())
    await turn(do, place, "The deploy key of the harbour lives in the vault.")
    async with asyncio.timeout(10):
        # It is sent beside the conversation.
        while not any("retained" in str(each) for each in host.footers()):  # noqa: ASYNC110  (a host of a table)
            await asyncio.sleep(0.005)
    await turn(do, place, "Where does the deploy key of the harbour live?")
    await app.close()
    told = [each for each in host.notices() if each.startswith("Memory: ")]
    assert any("shown to the model" in each for each in told) is wanted
    assert any("retained." in each for each in told) is wanted
    assert all(each is None or str(each).startswith("🧠 ") for each in host.footers())


@pytest.mark.parametrize("wanted", [True, False])
async def test_what_is_wrong_with_a_session_that_opens_is_told_unless_it_shall_not(
    do: Do, app: Application, place: Any, host: Any, *, wanted: bool
) -> None:
    place.values = {"notifications": {"startup": wanted}}
    host.answers["host/memory"] = {"backend": "other"}
    await do("session/open", **place.opened())
    await turn(do, place, "hello")
    await app.close()
    assert any("The host's own memory is on" in each for each in host.notices()) is wanted


@pytest.mark.parametrize("wanted", [True, False])
async def test_that_memory_is_off_is_told_unless_it_shall_not(
    do: Do, app: Application, place: Any, host: Any, *, wanted: bool
) -> None:
    place.values = {
        "backend": "hindsight",
        "hindsight": {"baseUrl": "nowhere"},
        "notifications": {"startup": wanted},
    }
    await do("session/open", **place.opened())
    await turn(do, place, "hello")
    await app.close()
    assert any(each.startswith("Memory is off") for each in host.notices()) is wanted
