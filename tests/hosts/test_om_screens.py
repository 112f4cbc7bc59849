"""``/om`` in a terminal of the real hosts. With HINDBRAIN_SCREENS set to a folder the screens are written there."""

from collections.abc import Iterator

import pytest
from hosts.machine import Machine, eventually
from hosts.observing import observed
from hosts.terminal import Terminal
from hosts.test_surface_hub import Screens, enters, first
from hosts.workers import Workers

FACT = "FACT critical user: the user wants all times in UTC"


@pytest.fixture
def model() -> Iterator[Workers]:
    with Workers() as server:
        yield server


@pytest.mark.timeout(180)
@pytest.mark.req("S4-commands-004", "S4-commands-009", "S4-commands-010", "S4-status-014")
def test_the_commands_of_observational_memory_in_a_terminal(machine: Machine) -> None:
    observed(machine, observeAfterTokens=100_000, compactAfterTokens=81_000)
    screens = Screens(machine)
    with machine.tui() as tui:
        tui.resize(100, 60)
        first(tui, "The quay is booked by the hour. " + FACT)
        ran(tui, "/om consolidate", "Consolidated.")
        shown = screens.keep("om-view", ran(tui, "/om view full", "[critical] the user wants all times in UTC"))
        assert "Copied to the clipboard." in shown or "Warning: it could not be copied" in shown
        status = screens.keep("om-status", ran(tui, "/om status", "▶ tip"))
        assert "1 recorded, 0 dropped, 1 active, 0 visible +1 / -0" in status
        assert "calls: observer" in status
        tui.write("/om")
        tui.press("Space")
        screens.keep("om-completions", tui.wait("consolidate\n"))


def ran(tui: Terminal, command: str, text: str) -> str:
    """Run a command, and wait for what it shows."""
    tui.write(command)
    tui.press("Escape")
    eventually(lambda: enters(tui, text), 30)
    return tui.wait(text)
