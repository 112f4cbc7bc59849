"""The todo list of omp, and of an extension of pi, as the sidecar reads it."""

import json
from pathlib import Path

import pytest
from hosts.machine import Machine

from hindbrain.contracts import TaskState
from hindbrain.generic.sidecar._tasks import tasks_of

TODO = """
type Run = (id: string, input: { tasks: object[] }) => Promise<object>;
type Tool = { name: string; execute: Run } & Record<string, unknown>;
const text = (said: string) => [{ type: "text", text: said }];
export default (host: { registerTool(tool: Tool): void }) => host.registerTool({
  name: "todo", label: "Todo", description: "Keeps a list",
  parameters: { type: "object", required: ["tasks"],
    properties: { tasks: { type: "array", items: { type: "object" } } } },
  execute: async (_id, { tasks }) => ({ content: text("kept"), details: { nextId: tasks.length + 1, tasks } }),
});
"""
"""A list in the form of the extension that many use with pi, which has none of its own."""


def state(said: str) -> TaskState:
    return tasks_of(json.loads(said.partition(" ")[2])["entries"])


@pytest.mark.host("pi")
def test_a_list_that_an_extension_of_pi_keeps_is_read(machine: Machine, tmp_path: Path) -> None:
    machine.install()
    (tmp_path / "todo.ts").write_text(TODO)
    tasks = [{"subject": "paint the hull", "status": "pending"}, {"subject": "wash it", "status": "completed"}]
    with machine.rpc("-e", str(tmp_path / "todo.ts")) as rpc:
        rpc.started()
        rpc.prompt("Nothing to do yet.")
        assert state(rpc.command("/hindsight tasks")) == TaskState(available=False)
        rpc.prompt(f"CALL todo {json.dumps({'tasks': tasks})}")
        found = state(rpc.command("/hindsight tasks"))
    assert found == TaskState(available=True, open_tasks=("paint the hull",))


@pytest.mark.host("omp")
def test_the_list_of_omp_is_read(machine: Machine) -> None:
    machine.install()
    items = ["paint the hull", "moor at the quay"]
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt(f"CALL todo {json.dumps({'op': 'init', 'list': [{'phase': 'Ship', 'items': items}]})}")
        assert state(rpc.command("/hindsight tasks")) == TaskState(available=True, open_tasks=tuple(items))
        rpc.prompt(f"CALL todo {json.dumps({'op': 'done', 'task': items[0]})}")
        assert state(rpc.command("/hindsight tasks")).open_tasks == (items[1],)
