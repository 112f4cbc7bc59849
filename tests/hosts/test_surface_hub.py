"""``/hindsight`` in a terminal of the real hosts: its list, its keys, its pages, and the footer.

With HINDBRAIN_SCREENS set to a folder the screens are written there; docs/screens was made so.
"""

import os
from pathlib import Path

import pytest
from hosts.machine import Machine, eventually
from hosts.remembered import jobs, remember
from hosts.terminal import Terminal
from hosts.test_surface_commands import away, back, record

PAGES = ("status", "queue", "receipts", "last recall")
pytestmark = pytest.mark.timeout(180)
SETTINGS = ("retainStructuredChunkSize", "retainMission", "reflectMission", "observationsMission")


@pytest.mark.req("S0-flush-001", "S0-receipts-004", "S0-governance-003", "S0-governance-004")
@pytest.mark.req("S0-missions-012", "S0-missions-014")
def test_the_hub_shows_memory_and_takes_its_keys(machine: Machine) -> None:
    remember(machine)
    screens = Screens(machine)
    away(machine)
    with machine.tui() as tui:
        first(tui, "Our releases go out on Tuesdays because of the harbour office.")
        tui.wait("memory: 1 queued")
        tui.say("The office of the harbour opens at eight.")
        tui.wait("memory: 2 queued")
        run(tui, "/hindsight", "enter open")
        screens.keep("hub-queued", tui.wait("queue     2 waiting, 0 given up"))
        back(machine)
        tui.press("f")
        tui.wait("2 sent, 0 waiting.")
        tui.wait("queue     0 waiting, 0 given up")
        tui.press("Enter")
        screens.keep("status", tui.wait("came to   1 item, 1 operation, "))
        leave(tui)
        tui.press("Down")
        tui.wait("> queue")
        tui.press("Enter")
        screens.keep("queue", tui.wait("Hindsight memory: queue"))
        leave(tui)
        tui.press("m")
        tui.wait("Mode of this session")
        shown = screens.keep("mode", tui.wait("ignored"))
        assert all(mode in shown for mode in ("normal", "read-only", "ignored"))
        tui.press("Down")
        tui.press("Enter")
        tui.wait("The mode is read-only now.")
        assert record(machine)["mode"] == "read-only"
        tui.press("x")
        screens.keep("hub", tui.wait("The next run is kept out of memory, for good."))
        assert record(machine)["nextRetainMode"] == "off"
        tui.press("o")
        screens.keep("doctor", tui.wait(f"source:{machine.host}"))
        leave(tui)
        tui.resize(60, 24)
        tui.wait("o doctor\n")
        screens.keep("hub-narrow", tui.wait("esc close"))
        tui.resize(100, 30)
        tui.wait("enter open   esc close")
        tui.press("Escape")
        tui.wait("The next run is kept out of memory, for good.")
    assert len(jobs(machine)) == 2
    assert not [name for name in SETTINGS if name in screens.text]


def test_the_last_recall_the_receipts_and_the_completions_are_shown(machine: Machine) -> None:
    remember(machine)
    screens = Screens(machine)
    machine.print("Our releases go out on Tuesdays because of the harbour office.")
    with machine.tui() as tui:
        first(tui, "On which days do our releases go out?")
        tui.wait("ok: On which")
        screens.keep("footer", tui.wait("memory: retained"))
        run(tui, "/hindsight", "2 shown with the last prompt")
        for page, text in (("receipts", "pi-session:"), ("last recall", "- Our releases go out on Tuesdays")):
            for item in PAGES[1 : PAGES.index(page) + 1]:
                tui.press("Down")
                tui.wait(f"> {item}")
            tui.press("Enter")
            screens.keep(page.replace(" ", "-"), tui.wait(text))
            leave(tui)
        tui.press("Escape")
        eventually(lambda: "esc close" not in tui.wait(""))
        tui.write("/hindsight:retain o")
        tui.wait("on")
        screens.keep("completions", tui.wait("off"))


class Screens:
    """What was seen on one host, and where it is kept."""

    def __init__(self, machine: Machine) -> None:
        self.text = ""
        self._machine = machine
        self._folder = os.environ.get("HINDBRAIN_SCREENS")

    def keep(self, name: str, screen: str) -> str:
        """Note a screen, and write it where it is asked for; the machine's folder reads as the user's home."""
        self.text += screen
        plain = screen.replace(str(self._machine.home), "~").replace(str(self._machine.root), "~")
        if self._folder:
            file = Path(self._folder, self._machine.host, f"{name}.txt")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join(line.rstrip() for line in plain.strip("\n").splitlines()) + "\n", "utf-8")
        return screen


def first(tui: Terminal, text: str) -> None:
    """Say the first thing: a host shows its editor some time before it takes an Enter."""
    eventually(lambda: "128k" in tui.wait("").lower(), 30)
    tui.write(text)
    eventually(lambda: enters(tui, f"ok: {text[:20]}"), 30)


def enters(tui: Terminal, text: str) -> bool:
    """Press Enter; whether a text comes of it within two seconds."""
    tui.press("Enter")
    try:
        return text in tui.wait(text, 2)
    except AssertionError:
        return False


def run(tui: Terminal, command: str, text: str) -> str:
    """Run a command whose list of completions is open, and wait for what it shows."""
    tui.write(command)
    tui.press("Escape")
    # A key that follows an escape at once is one key with it.
    eventually(lambda: "What waits to be sent" not in tui.wait(""))
    tui.press("Enter")
    return tui.wait(text)


def leave(tui: Terminal) -> None:
    """Leave a page for the list it was opened from."""
    tui.press("Escape")
    tui.wait("enter open")
