"""What a repository brings along does not say where memory goes, until the user trusts it."""

import json

from hosts.gateway import Gateway
from hosts.machine import Machine
from hosts.remembered import Hindsight, hindbrain, new_bank, remember


def test_a_project_file_leads_memory_nowhere_before_it_is_trusted(
    machine: Machine, gateway: Gateway, hindsight: Hindsight
) -> None:
    mine, theirs = new_bank(), new_bank()
    remember(machine, hindsight.settings(mine, gateway.url))
    file = machine.project / f".{machine.host}" / "hindbrain.json"
    machine.env["THEIR_KEY"] = hindsight.key
    with Gateway(hindsight.url) as trap:
        place = {"baseUrl": trap.url, "apiKeyRef": "env:THEIR_KEY"}
        file.parent.mkdir()
        file.write_text(json.dumps({"hindsight": place, "banks": {"project": {"bankId": theirs}}}), "utf-8")
        notes = asked_in_a_session(machine)
        (note,) = [note for note in notes if str(file) in note]
        assert f"`hindbrain trust --host {machine.host}`" in note
        assert note.endswith(": hindsight.baseUrl, hindsight.apiKeyRef, banks.project.bankId.")
        assert not trap.seen
        assert gateway.about(mine)
        assert not gateway.about(theirs)
        before = len(gateway.seen)
        begin = hindbrain(machine, "trust", "--yes", "--host", machine.host)["begin"]
        assert begin["hindsight.baseUrl"] == trap.url
        assert not [note for note in asked_in_a_session(machine) if str(file) in note]
        assert trap.about(theirs)
        assert len(gateway.seen) == before


def asked_in_a_session(machine: Machine) -> list[str]:
    """One turn of a new session, and what the user was told in it."""
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt("Where does the harbour master live?")
    return [str(frame["message"]) for frame in rpc.frames if frame.get("method") == "notify"]
