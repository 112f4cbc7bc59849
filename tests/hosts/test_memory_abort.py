"""Esc while a recall takes its time: the turn ends at once, and nothing of the recall stays."""

import pytest
from hosts.gateway import Gateway
from hosts.machine import Machine, eventually
from hosts.remembered import Hindsight, new_bank, remember, sidecars

RECALL = "/memories/recall"
# Longer than the waits here: what ends the recall is the abort.
PATIENT = {"recall": {"deadlineMs": 30_000}}


@pytest.mark.req("S0-abort-006", "S0-abort-007", "S0-abort-009")
def test_escape_ends_a_slow_recall_and_leaves_nothing_of_it(
    machine: Machine, gateway: Gateway, hindsight: Hindsight
) -> None:
    remember(machine, hindsight.settings(new_bank(), gateway.url, **PATIENT))
    with machine.tui() as tui:
        eventually(lambda: sidecars(machine), 30)
        tui.wait("project")
        gateway.held = RECALL
        tui.say("Which quay is ours?")
        eventually(lambda: gateway.about(RECALL))
        tui.wait("recalling")
        tui.press("Escape")
        eventually(lambda: gateway.about(RECALL)[0].closed, 4)
        eventually(lambda: "recalling" not in tui.wait(""), 4)
        screen = tui.wait("")
        # omp asks for a title, too, without any tools.
        assert not [body for body in machine.model.about("Which quay is ours?") if "tools" in body]
        gateway.held = None
        tui.say("Which quay is ours?")
        tui.wait("ok: Which quay is ours?")
        again = tui.wait("")
    assert len(gateway.about(RECALL)) == 2
    for shown in (screen, again):
        assert "hindbrain" not in shown
        assert "rror" not in shown
