"""``/om`` in a terminal of the real hosts. With HINDBRAIN_SCREENS set to a folder the screens are written there."""

import base64
import re
from collections.abc import Iterator

import pytest
from hosts.machine import Machine, eventually
from hosts.observing import observed
from hosts.terminal import Pty, Terminal
from hosts.test_surface_hub import Screens, enters, first
from hosts.workers import Workers

COPY = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/=]+)(?:\x07|\x1b\\\\)")
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


@pytest.mark.timeout(180)
@pytest.mark.req("S4-clipboard-001", "S4-clipboard-003", "S4-clipboard-005")
def test_over_ssh_the_terminal_is_handed_the_text_of_the_view_and_no_more(machine: Machine) -> None:
    observed(machine, observeAfterTokens=100_000, compactAfterTokens=81_000)
    machine.env["SSH_CONNECTION"] = "192.0.2.1 50000 192.0.2.2 22"
    with machine.tui(kind=Pty) as tui:
        first(tui, "The quay is booked by the hour. " + FACT)
        ran(tui, "/om consolidate", "Consolidated.")
        ran(tui, "/om view full", "Copied to the clipboard.")
        copied = eventually(lambda: COPY.findall(tui.written()))
    text = base64.b64decode(copied[-1]).decode()
    assert re.fullmatch(
        r"## Reflections\nNo .+\n\n## Observations\n\[\w{12}\] .+ the user wants all times in UTC", text
    )


@pytest.mark.timeout(180)
@pytest.mark.req("S4-clipboard-006", "S4-clipboard-007")
def test_on_a_desktop_without_a_tool_the_view_is_shown_and_the_tools_are_named(machine: Machine) -> None:
    observed(machine, observeAfterTokens=100_000, compactAfterTokens=81_000)
    machine.env["DISPLAY"] = ":99"
    with machine.tui() as tui:
        first(tui, "The quay is booked by the hour. " + FACT)
        ran(tui, "/om consolidate", "Consolidated.")
        # omp hands the text to the terminal first, and never says that this failed.
        line = {"pi": "wl-clipboard, xclip or xsel", "omp": "Copied to the clipboard."}[machine.host]
        assert "[critical] the user wants all times in UTC" in ran(tui, "/om view full", line)


def ran(tui: Terminal, command: str, text: str) -> str:
    """Run a command, and wait for what it shows."""
    tui.write(command)
    tui.press("Escape")
    eventually(lambda: enters(tui, text), 30)
    return tui.wait(text)
