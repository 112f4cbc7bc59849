"""What becomes of the settings of other tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hindbrain.generic import Layer, memory_config, merge
from hindbrain.generic._config import FileRead
from hindbrain.generic._config._imports import Plan, plan

OURS = FileRead(path=Path("hindbrain.json"))


def source(name: str, tree: dict[str, Any]) -> FileRead:
    return FileRead(path=Path(name), values=tree)


def made_of(name: str, tree: dict[str, Any], ours: FileRead = OURS) -> Plan:
    return plan([source(name, tree)], ours)


def new(made: Plan) -> dict[str, Any]:
    return {change.path: change.new for change in made.changes}


def plan_tree(made: Plan) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path, value in new(made).items():
        *above, last = path.split(".")
        inner = tree
        for name in above:
            inner = inner.setdefault(name, {})
        inner[last] = value
    return tree


def hindsight(tree: dict[str, Any]) -> Plan:
    return made_of("hindsight.json", tree)


def test_the_extensions_own_names_are_ours() -> None:
    made = hindsight({"enabled": False, "recall": {"topK": 3, "types": []}, "retain": {"content": {"user": ["text"]}}})
    assert new(made) == {"enabled": False, "recall.topK": 3, "recall.types": [], "retain.content.user": ["text"]}
    assert made.left == ()


@pytest.mark.parametrize(
    ("banks", "expected"),
    [
        ({"global": {"bankId": "g", "enabled": True}}, {"banks.user.bankId": "g", "banks.user.enabled": True}),
        ({"global": {"bankId": "g"}, "user": {"bankId": "u", "enabled": True}}, {"banks.user.bankId": "u"}),
        ({"life": {"bankId": "l"}, "user": {"bankId": "u", "enabled": True}}, {"banks.user.bankId": "l"}),
        ({"coding": {"bankId": "c"}}, {"banks.project.bankId": "c"}),
        ({"coding": {"bankId": "c"}, "project": {"bankId": "p"}}, {"banks.project.bankId": "p"}),
        ({"user": {"bankId": "u"}}, {"banks.user.bankId": "u", "banks.user.enabled": False}),
        ({"project": {"retain": {"mode": "decision"}}}, {"banks.project.retain.mode": "decision"}),
    ],
)
def test_older_names_of_banks_become_the_two_slots(banks: dict[str, Any], expected: dict[str, Any]) -> None:
    assert expected.items() <= new(hindsight({"banks": banks})).items()


def test_a_list_of_banks_is_taken_with_what_is_of_the_right_form() -> None:
    made = hindsight({"banks": [{"id": "a", "role": "coding"}, {"id": "../b"}]})
    (change,) = made.changes
    assert [bank["id"] for bank in change.new] == ["a"]
    assert "banks[1] was dropped" in made.left[0]
    assert memory_config(merge([Layer(origin="x", values={"banks": change.new})])).project_bank == "a"


@pytest.mark.parametrize("name", ["userRetain", "globalRetain"])
def test_the_router_of_old_becomes_explicit_only(name: str) -> None:
    assert new(hindsight({name: {"mode": "router"}})) == {"banks.user.retain.mode": "explicit-only"}


@pytest.mark.parametrize("key", [{"source": "env", "name": "MY_KEY"}, "env:MY_KEY"])
def test_a_keys_variable_becomes_a_reference(key: object) -> None:
    assert new(hindsight({"hindsight": {"apiKey": key}})) == {"hindsight.apiKeyRef": "env:MY_KEY"}


@pytest.mark.parametrize(
    ("name", "tree"),
    [
        ("hindsight.json", {"hindsight": {"apiKey": "hunter2-plain-key"}}),
        ("hindsight.json", {"hindsight": {"apiKey": {"source": "file", "name": "hunter2"}}}),
        ("hindsight.json", {"recall": {"queryPreamble": "use ghp_hunter2hunter2hunter2hunter2hunter2hunter"}}),
        ("ext_settings.json", {"pi-ext-memory": {"hindsight": {"apiToken": "hunter2"}}}),
        ("coding-agent.json", {"apiToken": "hunter2"}),
        ("settings.json", {"smartCompact": {"hindsightApiKeyEnv": "sk-ant-hunter2hunter2hunter2hunter2"}}),
    ],
)
def test_a_key_is_never_copied_and_never_shown(name: str, tree: dict[str, Any]) -> None:
    made = made_of(name, tree)
    assert made.changes == ()
    (left,) = made.left
    assert "is not taken over" in left
    assert "hunter2" not in repr(made).replace(name, "")


def test_an_open_gate_selects_the_server() -> None:
    assert new(hindsight({"setupComplete": True})) == {"backend": "hindsight"}
    assert new(hindsight({"setupComplete": False})) == {}


def test_what_has_no_place_here_is_named_with_the_reason() -> None:
    tree = {
        "retain": {"redactSecrets": False, "queuePath": "/x"},
        "mentalModels": {"inject": True},
        "banks": {"project": {"retainMission": "hunter2", "derive": "cwd"}, "strange": {}},
        "recall": {"globalQueryPreamble": "hunter2"},
        "colour": "red",
    }
    made = hindsight(tree)
    assert made.changes == ()
    said = "\n".join(made.left)
    for words in (
        "retain.redactSecrets is not taken over: secrets are always taken out",
        "mentalModels.inject is not taken over: it belongs to a part that hindbrain does not have yet",
        "banks.project.retainMission is not taken over: a bank's missions live on the server",
        "banks.project.derive",
        "banks.strange",
        "recall.globalQueryPreamble",
        "colour is not taken over: hindbrain has no such setting",
    ):
        assert words in said
    assert "hunter2" not in said
    assert "red." not in said


def test_a_value_of_the_wrong_form_is_left_with_key_and_form() -> None:
    made = hindsight({"recall": {"topK": "hunter2", "maxTokens": 5}})
    assert new(made) == {"recall.maxTokens": 5}
    assert made.left == (
        "hindsight.json: recall.topK is not taken over: recall.topK expects a whole number from 1 up.",
    )


SMART = {
    "memoryBackend": "hindsight",
    "hindsightBaseUrl": "https://hindsight.example.com",
    "hindsightBankId": "my-agents",
    "hindsightApiKeyEnv": "HINDSIGHT_API_TOKEN",
    "hindsightTimeoutMs": 12000,
    "hindsightRecallMaxTokens": 2048,
}


@pytest.mark.req("S2-backends-017")
def test_the_example_of_the_confirmed_facts_is_taken_whole() -> None:
    made = made_of("settings.json", {"theme": "dark", "smartCompact": SMART})
    assert new(made) == {
        "backend": "hindsight",
        "hindsight.baseUrl": "https://hindsight.example.com",
        "facts.bankId": "my-agents",
        "hindsight.apiKeyRef": "env:HINDSIGHT_API_TOKEN",
        "hindsight.timeoutMs": 12000,
        "facts.recallMaxTokens": 2048,
        "retain.enabled": False,
    }
    assert made.left == ()


def test_turns_do_not_begin_to_leave_with_the_settings_of_confirmed_facts() -> None:
    smart = source("settings.json", {"smartCompact": SMART})
    settings = merge([Layer(origin="imported", values=plan_tree(plan([smart], OURS)))])
    assert memory_config(settings).retain.enabled is False
    assert "my-agents" not in {bank.id for bank in memory_config(settings).banks}
    ours = FileRead(path=Path("hindbrain.json"), values={"backend": "hindsight"})
    assert "retain.enabled" not in new(plan([smart], ours))
    ours = FileRead(path=Path("hindbrain.json"), values={"retain": {"enabled": True}})
    assert "retain.enabled" not in new(plan([smart], ours))
    theirs = source("hindsight.json", {"setupComplete": True})
    assert "retain.enabled" not in new(plan([smart, theirs], OURS))
    said = source("ext_settings.json", {"pi-ext-memory": {"hindsight": {"retainSessions": True}}})
    assert new(plan([smart, said], OURS))["retain.enabled"] is True
    assert "retain.enabled" not in new(made_of("settings.json", {"smartCompact": {"memoryBackend": "local"}}))


@pytest.mark.req("S2-errors-004", "S2-errors-005")
def test_each_invalid_value_costs_itself_and_one_line_that_does_not_repeat_it() -> None:
    broken = {
        "hindsightTimeoutMs": 5,
        "hindsightBankId": "../all",
        "hindsightApiKeyEnv": "sk-ant-abcdefghijklmnopqrstuv",
        "hindsightRecallMaxTokens": 127,
        "memoryBackend": "sqlite",
    }
    made = made_of("settings.json", {"smartCompact": SMART | broken})
    assert new(made) == {"hindsight.baseUrl": "https://hindsight.example.com"}
    assert len(made.left) == 5
    assert new(made_of("settings.json", {"smartCompact": {"hindsightBankId": "coding-agent::repo"}})) == {}
    made = made_of("settings.json", {"smartCompact": {"hindsightBaseUrl": "https://u:hunter2secret@h"}})
    assert new(made) == {}
    said = "\n".join(made.left)
    for secret in ("../all", "sk-ant-", "hunter2secret"):
        assert secret not in said


def test_settings_of_null_and_the_copy_policy_of_old_change_nothing() -> None:
    made = made_of("settings.json", {"smartCompact": {**dict.fromkeys(SMART), "hindsightLocalFallback": "always"}})
    assert made.changes == ()
    (left,) = made.left
    assert "hindsightLocalFallback" in left


def test_a_hosts_file_without_such_a_part_is_passed_over() -> None:
    for name in ("settings.json", "ext_settings.json"):
        assert made_of(name, {"theme": "dark", "enabled": False}) == Plan((), ())


def ext(tree: dict[str, Any], namespace: str = "pi-ext-memory") -> Plan:
    return made_of("ext_settings.json", {namespace: tree})


@pytest.mark.req("S4-settings-006")
def test_observational_memory_goes_under_observe() -> None:
    made = ext({"observeAfterTokens": 5000, "model": {"provider": "p", "id": "m", "thinking": "low"}, "passive": True})
    assert new(made) == {
        "observe.observeAfterTokens": 5000,
        "observe.model.provider": "p",
        "observe.model.id": "m",
        "observe.model.thinking": "low",
        "observe.passive": True,
    }
    assert made.left == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"observeAfterTokens": "5000"},
        {"observeAfterTokens": True},
        {"observerChunkMaxTokens": 255},
        {"compactAfterTokensMode": "auto"},
        {"compactAfterTokensRatio": 1},
        {"model": {"thinking": "ultra"}},
        {"colour": 1},
    ],
)
def test_a_setting_of_observational_memory_is_checked_before_it_is_taken(wrong: dict[str, Any]) -> None:
    made = ext(wrong)
    assert made.changes == ()
    assert len(made.left) == 1


def test_the_server_of_observational_memory_keeps_its_settings() -> None:
    made = ext(
        {
            "hindsight": {
                "enabled": True,
                "apiUrl": "https://h.example",
                "bankId": "",
                "autoRecall": False,
                "retainSessions": False,
                "readTimeoutMs": 15000,
                "mcpUrl": "https://h.example/mcp",
            }
        }
    )
    assert new(made) == {
        "backend": "hindsight",
        "hindsight.baseUrl": "https://h.example",
        "recall.enabled": False,
        "retain.enabled": False,
        "hindsight.timeoutMs": 15000,
    }
    assert "mcpUrl" in made.left[0]
    assert ext({"hindsight": {"enabled": False}}).changes == ()


RENAMED = [
    pytest.param("observationThresholdTokens", 1000, "observeAfterTokens", marks=pytest.mark.req("S4-migration-007")),
    pytest.param("compactionThresholdTokens", 50000, "compactAfterTokens", marks=pytest.mark.req("S4-migration-008")),
    pytest.param("thinkingLevel", "low", "model.thinking", marks=pytest.mark.req("S4-migration-011")),
    pytest.param("observerMaxTurnsPerRun", 8, "agentMaxTurns", marks=pytest.mark.req("S4-migration-012")),
    pytest.param("reflectorMaxTurnsPerPass", 12, "agentMaxTurns", marks=pytest.mark.req("S4-migration-013")),
    pytest.param("prunerMaxTurnsPerPass", 12, "agentMaxTurns", marks=pytest.mark.req("S4-migration-014")),
    pytest.param("passive", True, "passive", marks=pytest.mark.req("S4-migration-016")),
    pytest.param("debugLog", True, "debugLog", marks=pytest.mark.req("S4-migration-017")),
]


@pytest.mark.parametrize("namespace", ["pi-ext-memory", "observational-memory"])
@pytest.mark.parametrize(("old", "value", "name"), RENAMED)
def test_a_setting_of_version_2_is_proposed_under_its_new_name(
    namespace: str, old: str, value: object, name: str
) -> None:
    made = ext({old: value}, namespace)
    (change,) = made.changes
    assert (change.path, change.new, change.was) == (f"observe.{name}", value, f"{namespace}.{old}")


@pytest.mark.req("S4-migration-010")
def test_the_compaction_model_becomes_the_model() -> None:
    made = ext({"compactionModel": {"provider": "openrouter", "id": "google/gemma-4-31b-it"}}, "observational-memory")
    assert new(made) == {"observe.model.provider": "openrouter", "observe.model.id": "google/gemma-4-31b-it"}


@pytest.mark.req("S4-migration-009", "S4-migration-015")
def test_a_setting_that_was_split_or_dropped_is_named_and_its_value_goes_nowhere() -> None:
    made = ext({"reflectionThresholdTokens": 30000, "compactionMaxToolCalls": 5}, "observational-memory")
    assert made.changes == ()
    split, dropped = made.left
    for name in ("reflectAfterTokens", "observationsPoolMaxTokens", "observationsPoolTargetTokens"):
        assert f"observe.{name}" in split
    assert "compactionMaxToolCalls is not taken over: nothing took its place" in dropped


def test_of_three_caps_that_became_one_the_largest_is_kept() -> None:
    tree = {"observerMaxTurnsPerRun": 8, "reflectorMaxTurnsPerPass": 20, "prunerMaxTurnsPerPass": 12}
    assert new(ext(tree, "observational-memory")) == {"observe.agentMaxTurns": 20}


@pytest.mark.req("S4-settings-005")
def test_the_former_namespace_is_read_for_its_own_old_names_only() -> None:
    made = ext({"observeAfterTokens": 5000}, "observational-memory")
    assert made.changes == ()
    (left,) = made.left
    assert "put it under pi-ext-memory" in left


def test_the_new_namespace_wins_over_the_old_one_in_the_same_file() -> None:
    tree = {"pi-ext-memory": {"passive": False}, "observational-memory": {"passive": True}}
    assert new(made_of("ext_settings.json", tree)) == {"observe.passive": False}


def test_the_file_of_the_official_integrations_gives_address_and_bank() -> None:
    tree = {"apiUrl": "https://h.example", "bankId": "a::b", "disabled": True, "retainSessions": False, "logLevel": "x"}
    made = made_of("coding-agent.json", tree)
    assert new(made) == {
        "hindsight.baseUrl": "https://h.example",
        "banks.project.bankId": "a::b",
        "enabled": False,
        "retain.enabled": False,
    }
    assert made.left == ("coding-agent.json: logLevel is not taken over: hindbrain has no such setting.",)


def test_what_is_so_already_is_no_change_and_what_differs_shows_both() -> None:
    ours = FileRead(path=Path("hindbrain.json"), values={"recall": {"topK": 3, "maxTokens": 1}})
    (change,) = made_of("hindsight.json", {"recall": {"topK": 3, "maxTokens": 2}}, ours).changes
    assert (change.path, change.old, change.new) == ("recall.maxTokens", 1, 2)


def test_of_two_files_the_later_wins_and_this_is_told() -> None:
    made = plan([source("a.json", {"recall": {"topK": 1}}), source("b.json", {"recall": {"topK": 2}})], OURS)
    assert new(made) == {"recall.topK": 2}
    assert made.left == ("a.json: recall.topK gives way to recall.topK of b.json.",)


@pytest.mark.parametrize("junk", [{}, {"banks": 5}, {"hindsight": []}, {"userRetain": "x"}, {"": {"": 1}}])
@pytest.mark.parametrize("name", ["hindsight.json", "coding-agent.json", "settings.json", "ext_settings.json"])
def test_a_file_of_strange_shape_changes_nothing(name: str, junk: dict[str, Any]) -> None:
    for tree in (junk, {"smartCompact": junk}, {"pi-ext-memory": junk}, {"observational-memory": 1}):
        assert made_of(name, json.loads(json.dumps(tree))).changes == ()
