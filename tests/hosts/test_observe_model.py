"""Which model the workers ask on real pi: that of the session, whoever registered it, or the one that is named."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from _pinned.settings import agent_folder
from hosts.machine import Machine, eventually
from hosts.model import MODEL, Body
from hosts.observing import entries, observed
from hosts.workers import TOOLS, Workers

pytestmark = [pytest.mark.timeout(180), pytest.mark.host("pi")]

SAYING = "The harbour office writes down every ship, its draught and the name of its master. " * 90
PROVIDER = """export default function (pi) {
  pi.registerProvider("late", { baseUrl: %s, apiKey: "none", api: "openai-completions", models: [{ id: "late-1",
    name: "Late", reasoning: false, input: ["text"], contextWindow: 128000, maxTokens: 4096,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }] });
}
"""


class Noting(Workers):
    """Notes by which name it was asked, by the user and by the workers."""

    def __init__(self) -> None:
        super().__init__()
        self.users: set[str] = set()
        self.workers: set[str] = set()

    def take(self, body: Body) -> Iterator[Body]:
        offered = {tool["function"]["name"] for tool in body.get("tools") or ()}
        (self.workers if offered & TOOLS.keys() else self.users).add(body["model"])
        return super().take(body)


@pytest.fixture
def model() -> Iterator[Noting]:
    with Noting() as server:
        yield server


def registered(machine: Machine, **observe: Any) -> None:
    """An observed session, and a provider that another extension registers while pi starts."""
    observed(machine, **observe)
    folder = agent_folder("pi", machine.home) / "extensions"
    (folder / "late.ts").write_text(PROVIDER % json.dumps(machine.model.url), "utf-8")


def observations(machine: Machine) -> list[dict[str, Any]]:
    (session,) = machine.sessions()
    return entries(session, "om.observations.recorded")


@pytest.mark.req("S4-settings-057")
def test_without_a_choice_a_model_that_an_extension_registered_works_for_memory(
    machine: Machine, model: Noting
) -> None:
    registered(machine)
    with machine.rpc() as rpc:
        rpc.started()
        rpc.request("set_model", provider="late", modelId="late-1")
        rpc.prompt(f"{SAYING}\nFACT high decision: the late pilot takes the north channel")
        eventually(lambda: observations(machine))
    assert (model.users, model.workers) == ({"late-1"}, {"late-1"})


@pytest.mark.req("S4-settings-059")
def test_a_model_that_is_named_works_for_memory_and_the_session_keeps_its_own(machine: Machine, model: Noting) -> None:
    registered(machine, model={"provider": "late", "id": "late-1"})
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt(f"{SAYING}\nFACT high decision: the pilot takes the north channel")
        eventually(lambda: observations(machine))
    assert (model.users, model.workers) == ({MODEL}, {"late-1"})


@pytest.mark.req("S4-observer-011")
def test_a_model_that_is_named_and_not_there_is_told_and_the_session_s_own_works(
    machine: Machine, model: Noting
) -> None:
    registered(machine, model={"provider": "late", "id": "gone"})
    with machine.rpc() as rpc:
        rpc.started()
        rpc.send("prompt", message=f"{SAYING}\nFACT high decision: the pilot takes the north channel")
        told = rpc.wait(lambda frame: frame.get("method") == "notify" and "late/gone" in str(frame.get("message")))
        eventually(lambda: observations(machine))
    assert told["notifyType"] == "warning"
    assert model.workers == {MODEL}
