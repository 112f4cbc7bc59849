"""A session is forked, walked back in, left and taken up again: what is new is kept, what was there is not again."""

from pathlib import Path

import pytest
from hosts.kept import entries, kept, twice_or_never
from hosts.machine import Machine, Rpc, eventually
from hosts.remembered import jobs, remember

pytestmark = pytest.mark.timeout(180)

WALK = """
import { writeFileSync } from "node:fs";
type Ctx = { navigateTree(id: string, options: object): Promise<unknown> };
export default (host: { registerCommand(name: string, command: object): void }) =>
  host.registerCommand("walk", { description: "Goes to an entry", handler: async (id: string, ctx: Ctx) => {
    await ctx.navigateTree(id, { summarize: false });
    writeFileSync(%r, id);
  } });
"""
"""What the host's /tree does once an entry is chosen, for a test that has no screen."""


def test_forks_walks_and_other_sessions_keep_only_what_is_new(machine: Machine, tmp_path: Path) -> None:
    remember(machine)
    done = tmp_path / "walked"
    (tmp_path / "walk.ts").write_text(WALK % str(done))
    with machine.rpc("-e", str(tmp_path / "walk.ts")) as rpc:
        rpc.started()
        for text in ("The first plan is blue.", "The second plan is green.", "The third plan is red."):
            rpc.prompt(text)
        first = machine.sessions()[-1]
        # Back to the first answer, and on from there: another branch of the same session.
        walk(rpc, messages(first, "assistant")[0], done)
        rpc.prompt("The fourth plan is grey.")
        assert last(machine) == ["The fourth plan is grey."]
        # And back to the branch that was left: nothing of it is new.
        walk(rpc, messages(first, "assistant")[2], done)
        rpc.prompt("The fifth plan is white.")
        assert last(machine) == ["The fifth plan is white."]
        # A fork copies what was said before, under another id.
        rpc.request("fork" if machine.host == "pi" else "branch", entryId=messages(first, "user")[2])
        rpc.prompt("The sixth plan is black.")
        assert last(machine) == ["The sixth plan is black."]
        forked = machine.sessions()[-1]
        assert forked != first
        # Another session, and back to the one that was forked.
        rpc.request("new_session")
        rpc.prompt("The seventh plan is pink.")
        assert last(machine) == ["The seventh plan is pink."]
        rpc.request("switch_session", sessionPath=str(first))
        rpc.prompt("The eighth plan is brown.")
        assert last(machine) == ["The eighth plan is brown."]
    machine.print("The ninth plan is violet.", "--session" if machine.host == "pi" else "--resume", str(forked))
    assert last(machine) == ["The ninth plan is violet."]
    assert len([text for text in kept(machine) if text.startswith("The ") and text.endswith(".")]) == 9
    assert twice_or_never(machine) == {}


def walk(rpc: Rpc, entry: str, done: Path) -> None:
    """Go to an entry of the session's tree; omp says that it has taken a command before it has run it."""
    done.unlink(missing_ok=True)
    rpc.request("prompt", message=f"/walk {entry}")
    eventually(lambda: done.exists() and done.read_text() == entry)


def messages(session: Path, role: str) -> list[str]:
    """The ids of a session's messages of a role, in the order of the file."""
    return [str(entry["id"]) for entry in entries(session) if entry.get("message", {}).get("role") == role]


def last(machine: Machine) -> list[str]:
    """The user's sentences in the job that was made last."""
    content = str(jobs(machine)[-1]["item"]["content"])
    return [line for line in content.split('"') if line.startswith("The ")]
