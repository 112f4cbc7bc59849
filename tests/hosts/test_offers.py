"""What the real sidecar offers on the real hosts: the tools the model sees, and the commands the user has."""

from typing import Any

import pytest
from hosts.machine import Machine
from hosts.remembered import remember

TOOLS = {
    "hindsight_recall",
    "hindsight_retain",
    "hindsight_retain_user",
    "hindsight_status",
    "hindsight_delete_document",
}
COMMANDS = {"hindsight", "hindsight:retain", "hindsight:next-opt-out", "hindsight:tag", "hindsight:queue"}
"""What the seed gives the user."""


@pytest.mark.req("S0-scopes-034", "S0-retain-009", "S0-banks-014")
def test_the_model_is_offered_the_tools_of_memory_with_what_they_take(machine: Machine) -> None:
    remember(machine)
    machine.print("hello there")
    declared = {tool["function"]["name"]: tool["function"] for tool in machine.model.requests[0]["tools"]}
    assert set(declared) >= TOOLS
    recall, retain, user = (
        declared[name] for name in ("hindsight_recall", "hindsight_retain", "hindsight_retain_user")
    )
    assert {"tagGroups", "minScores"} <= set(recall["parameters"]["properties"])
    # omp adds an argument of its own, in which the model says what it is about to do.
    assert set(recall["parameters"]["required"]) - {"i"} == {"query"}
    assert "$ref" not in str(recall)
    assert "content" in retain["parameters"]["required"]
    assert "tags" not in retain["parameters"]["required"]
    tags = retain["parameters"]["properties"]["tags"]
    assert (tags["type"], tags["items"]["type"]) == ("array", "string")
    for words in ("preferred tool", "identity", "preferences", "cross-project workflows"):
        assert words in user["description"]


@pytest.mark.req("S0-snapshot-010")
def test_the_user_has_the_commands_of_memory_and_none_for_the_last_recall(machine: Machine) -> None:
    remember(machine)
    with machine.rpc() as rpc:
        rpc.started()
        ask = {"pi": "get_commands", "omp": "get_available_commands"}[machine.host]
        found: list[Any] = rpc.request(ask)["commands"]
    names = {command["name"] for command in found if command["name"].startswith("hindsight")}
    assert names >= COMMANDS
    assert [name for name in names if name.endswith("recall")] == []
