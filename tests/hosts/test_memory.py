"""Memory itself on the real hosts: the sidecar as it is shipped, and the embedded store."""

from pathlib import Path

from hosts.machine import Machine
from hosts.model import text_of
from hosts.remembered import remember


def queue(machine: Machine) -> Path:
    """The project's queue."""
    return machine.project / f".{machine.host}" / "hindsight" / "retain-queue.jsonl"


def shown(machine: Machine, prompt: str) -> str:
    """What the model was shown beside the conversation, in the last request about this prompt."""
    *_, body = machine.model.about(prompt)
    texts = [text_of(message) for message in body["messages"]]
    return "\n".join(text for text in texts if "<hindsight-memory>" in text)


def test_what_one_session_was_told_the_next_one_is_shown(machine: Machine) -> None:
    remember(machine)
    machine.print("Our releases go out on Tuesdays because of the harbour office.")
    assert b"harbour office" in queue(machine).read_bytes()
    machine.print("On which days do our releases go out?")
    assert "Tuesdays" in shown(machine, "On which days do our releases go out?")
    assert "<hindsight-memory>" not in machine.sessions()[-1].read_text("utf-8")
