from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hindbrain.contracts import FactType
from hindbrain.generic import Layer, Places, Settings, load_settings, memory_config, merge
from hindbrain.generic._config import KEYS, observe_config
from hindbrain.observe import ModelChoice, ObserveConfig, Thinking


@pytest.fixture
def places(tmp_path: Path) -> Places:
    for name in ("home/.hindsight", "config", "project/.hindbrain"):
        (tmp_path / name).mkdir(parents=True)
    return Places(
        home=tmp_path / "home", config_dir=tmp_path / "config", project_dir=tmp_path / "project" / ".hindbrain"
    )


def write(folder: Path | None, text: str, name: str = "hindbrain.json") -> None:
    assert folder is not None
    (folder / name).write_text(text, "utf-8")


def nested(path: str, value: Any) -> dict[str, Any]:
    head, _, rest = path.partition(".")
    return {head: nested(rest, value) if rest else value}


def test_without_any_file_every_key_has_its_default(places: Places) -> None:
    settings = load_settings(places, {})
    assert settings["recall.types"] == (FactType.OBSERVATION,)
    assert settings["recall.budget"] == "mid"
    assert settings["hindsight.timeoutMs"] == 12000
    assert {s.origin for s in settings.values.values()} == {"default"}
    assert settings.warnings == ()


def test_layers_win_in_the_documented_order(places: Places) -> None:
    def bank(environ: dict[str, str]) -> tuple[str, str]:
        got = load_settings(places, environ).values["banks.project.bankId"]
        return got.value, got.origin.split(" ")[0]

    (places.home / ".hindsight/coding-agent.json").write_text('{"bankId": "ecosystem"}', "utf-8")
    assert bank({}) == ("ecosystem", "ecosystem")
    shared = {"HINDSIGHT_BANK_ID": "shared"}
    assert bank(shared) == ("shared", "environment")
    write(places.config_dir, json.dumps(nested("banks.project.bankId", "everywhere")))
    assert bank(shared) == ("everywhere", "global")
    assert bank({**shared, "PI_HINDSIGHT_PROJECT_BANK_ID": "seed"}) == ("seed", "environment")
    both = {"PI_HINDSIGHT_PROJECT_BANK_ID": "seed", "HINDBRAIN_BANKS_PROJECT_BANK_ID": "own"}
    assert bank(both) == ("own", "environment")


def test_a_projects_file_may_tune_but_not_redirect(places: Places) -> None:
    write(
        places.project_dir,
        json.dumps({"recall": {"topK": 3}, "hindsight": {"baseUrl": "https://evil.example.com"}, "dataDir": "/tmp/x"}),
    )
    settings = load_settings(places, {})
    assert settings["recall.topK"] == 3
    assert settings["hindsight.baseUrl"] == "http://localhost:8888"
    assert settings["dataDir"] is None
    (warning,) = settings.warnings
    assert "`hindbrain trust`: hindsight.baseUrl, dataDir." in warning
    assert "evil" not in warning


@pytest.mark.req("S2-recall-004")
@pytest.mark.parametrize(
    ("given", "kept"), [(128, 128), (4096, 4096), (127, 2048), (4097, 2048), (10_000, 2048), ("512", 2048)]
)
def test_the_budget_of_confirmed_facts_has_its_own_bounds(given: object, kept: int) -> None:
    settings = merge([Layer(origin="file", values={"facts": {"recallMaxTokens": given}})])
    assert settings["facts.recallMaxTokens"] == kept
    assert settings["recall.maxTokens"] == 800
    dropped = [warning for warning in settings.warnings if "facts.recallMaxTokens was dropped" in warning]
    assert len(dropped) == (given != kept)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.path)
def test_only_keys_marked_safe_count_from_an_untrusted_layer(key: Any) -> None:
    other = {True: False, False: True}.get(key.default) if isinstance(key.default, bool) else None
    value: Any = other if other is not None else ["x"] if isinstance(key.default, tuple) else "x"
    settings = merge([Layer(origin="project file", values=nested(key.path, value), trusted=False)])
    if not key.project_safe:
        assert settings.values[key.path].origin == "default"
        assert len(settings.warnings) == 1
    dangerous = (
        "hindsight.baseUrl",
        "hindsight.apiKeyRef",
        "recall.enabled",
        "banks.",
        "dataDir",
        "backend",
        "scope.",
        "retain.",
        "embedder.",
    )
    assert not (key.project_safe and key.path.startswith(dangerous))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("recall.topK", True),
        ("recall.topK", "8"),
        ("recall.topK", 0),
        ("recall.topK", 1.5),
        ("recall.enabled", 1),
        ("recall.types", ["observation", "rumour"]),
        ("recall.types", "observation"),
        ("recall.budget", "MID"),
        ("hindsight.timeoutMs", 999),
        ("hindsight.apiKeyRef", "sk-live-not-a-reference"),
        ("hindsight.baseUrl", None),
        ("hindsight.baseUrl", "http://h.example.com"),
        ("dataDir", "banks"),
        ("banks.user.bankId", "../all"),
        ("banks.user.bankId", "-a"),
        ("banks.project.retain.mode", "sometimes"),
        ("scope.userScopeTags", ["a", 1]),
        ("scope.unscopedRecallBanks", ["a", "b/c"]),
        ("observations.enabled", "true"),
        ("observations.scopes", ["a"]),
        ("observations.scopes", [["a"], []]),
        ("observations.scopes", [["a", 1]]),
        ("recall.roles", ["user", "robot"]),
        ("recall.minScores.semantic", "0.5"),
        ("recall.minScores.semantic", True),
        ("recall.minScores.final", float("nan")),
        ("recall.minScores.keyword", float("inf")),
        ("recall.queryTimestamp", "yesterday"),
        ("recall.cacheTtlMs", 0),
        ("recall.storeLastRecall", 1),
        ("retain.flushIntervalMs", -1),
        ("retain.beforeEnqueue", {"command": ["x"], "shell": True}),
        ("recall", 7),
    ],
)
def test_a_value_of_the_wrong_form_is_dropped_and_never_repeated(path: str, value: Any) -> None:
    settings = merge([Layer(origin="global file", values=nested(path, value))])
    assert len(settings.warnings) == 1
    assert path.rsplit(".", maxsplit=1)[-1] in settings.warnings[0]
    assert "sk-live" not in settings.warnings[0]
    if path in settings.values:
        assert settings.values[path].origin == "default"


def test_a_lower_layer_keeps_the_word_where_the_upper_one_is_broken() -> None:
    settings = merge(
        [Layer(origin="a", values={"recall": {"topK": 3}}), Layer(origin="b", values={"recall": {"topK": "many"}})]
    )
    assert (settings["recall.topK"], settings.values["recall.topK"].origin) == (3, "a")


def test_an_unknown_key_is_named_once_with_the_nearest_known_one() -> None:
    layer = Layer(origin="global file", values={"recall": {"topk": 3}})
    settings = merge([layer, layer])
    assert settings.warnings == (
        "global file: the key 'recall.topk' is not known and was passed over. Did you mean recall.topK?",
    )


def test_a_repository_cannot_switch_on_what_the_user_switched_off() -> None:
    mine = Layer(origin="global file", values={"recall": {"enabled": False}})
    theirs = Layer(origin="project file", values={"recall": {"enabled": True}}, trusted=False)
    assert merge([mine, theirs])["recall.enabled"] is False


def test_a_value_where_an_object_belongs_says_so() -> None:
    settings = merge([Layer(origin="global file", values={"retain": []})])
    assert settings.warnings == ("global file: retain was dropped: expected an object with its keys.",)


def test_comments_and_trailing_commas_are_read_and_json_wins_over_jsonc(places: Places) -> None:
    write(places.config_dir, '// mine\n{"recall": {"topK": 4,},}', "hindbrain.jsonc")
    assert load_settings(places, {})["recall.topK"] == 4
    write(places.config_dir, '{"recall": {"topK": 5}}')
    assert load_settings(places, {})["recall.topK"] == 5


@pytest.mark.parametrize("text", ["{", "[]", "", "\x00", "[" * 5000])
def test_a_broken_file_is_told_and_passed_over(places: Places, text: str) -> None:
    write(places.config_dir, text)
    settings = load_settings(places, {})
    assert len(settings.warnings) == 1
    assert "hindbrain.json" in settings.warnings[0]


def test_a_file_that_cannot_be_read_is_told(places: Places) -> None:
    (places.config_dir / "hindbrain.json").mkdir()
    assert "permissions" in load_settings(places, {}).warnings[0]


@pytest.mark.parametrize("target", ["/dev/zero", "/dev/stdin", "pipe"])
def test_a_settings_file_that_is_no_plain_file_is_told_and_never_waited_for(places: Places, target: str) -> None:
    assert places.project_dir is not None
    if target == "pipe":
        os.mkfifo(places.project_dir / "hindbrain.json")
    else:
        (places.project_dir / "hindbrain.json").symlink_to(target)
    settings = load_settings(places, {})
    assert settings["recall.topK"] == 8
    (warning,) = settings.warnings
    assert "project file" in warning
    assert "passed over" in warning


def test_a_settings_file_of_absurd_length_is_told_and_not_parsed(places: Places) -> None:
    write(places.project_dir, json.dumps({"recall": {"topK": 3}}) + " " * 100_000)
    settings = load_settings(places, {})
    assert settings["recall.topK"] == 8
    assert "longer than 100000 bytes" in settings.warnings[0]


def test_the_environment_names_the_token_and_its_value_is_never_read(places: Places) -> None:
    settings = load_settings(places, {"HINDSIGHT_API_KEY": "k-1secret"})
    assert settings["hindsight.apiKeyRef"] == "env:HINDSIGHT_API_KEY"
    both = load_settings(places, {"HINDSIGHT_API_KEY": "b", "HINDSIGHT_API_TOKEN": "a"})
    assert both["hindsight.apiKeyRef"] == "env:HINDSIGHT_API_TOKEN"
    blank = load_settings(places, {"HINDSIGHT_API_KEY": "b", "HINDSIGHT_API_TOKEN": " "})
    assert blank["hindsight.apiKeyRef"] == "env:HINDSIGHT_API_KEY"
    assert "k-1secret" not in repr(settings)


@pytest.mark.parametrize(
    ("name", "text", "path", "value"),
    [
        ("HINDBRAIN_RECALL_ENABLED", "off", "recall.enabled", False),
        ("HINDBRAIN_RECALL_MAX_TOKENS", "123", "recall.maxTokens", 123),
        ("HINDBRAIN_SCOPE_USER_SCOPE_TAGS", "a", "scope.userScopeTags", ("a",)),
        ("HINDBRAIN_RECALL_ROLES", "user, assistant", "recall.roles", ("user", "assistant")),
        ("HINDSIGHT_BASE_URL", "https://h.example.com", "hindsight.baseUrl", "https://h.example.com"),
        ("PI_HINDSIGHT_ENABLED", "no", "enabled", False),
        ("PI_HINDSIGHT_ENABLED", "maybe", "enabled", True),
        ("HINDBRAIN_RECALL_TOP_K", "²", "recall.topK", 8),
        ("HINDBRAIN_RECALL_TOP_K", "9" * 5000, "recall.topK", 8),
        ("HINDBRAIN_OBSERVATIONS_SCOPES", '[["a"], ["b"]]', "observations.scopes", (("a",), ("b",))),
        ("HINDBRAIN_OBSERVATIONS_SCOPES", "[" * 5000, "observations.scopes", None),
        ("HINDSIGHT_API_KEY_REF", "MY_KEY", "hindsight.apiKeyRef", "env:MY_KEY"),
        ("HINDSIGHT_API_KEY_REF", "my key", "hindsight.apiKeyRef", None),
        ("PI_HINDSIGHT_MIN_RERANKER", "0.2", "recall.minScores.reranker", 0.2),
        ("PI_HINDSIGHT_MIN_RERANKER", " ", "recall.minScores.reranker", None),
        ("PI_HINDSIGHT_MIN_SEMANTIC", "much", "recall.minScores.semantic", None),
        ("PI_HINDSIGHT_MIN_SEMANTIC", "nan", "recall.minScores.semantic", None),
    ],
)
def test_environment_variables_are_read_in_the_keys_form(
    places: Places, name: str, text: str, path: str, value: Any
) -> None:
    assert load_settings(places, {name: text})[path] == value


FLOORS = ("semantic", "keyword", "reranker", "final")


def floors(settings: Settings) -> dict[str, float]:
    found = memory_config(settings).recall.min_scores
    return {name: value for name in FLOORS if (value := getattr(found, name)) is not None}


@pytest.mark.req("S0-floors-002", "S0-floors-003")
def test_floors_are_four_numbers_of_the_file_and_a_fifth_is_told(places: Places) -> None:
    write(places.config_dir, json.dumps({"recall": {"minScores": {**dict.fromkeys(FLOORS, 0.5), "other": 0.5}}}))
    settings = load_settings(places, {})
    assert floors(settings) == dict.fromkeys(FLOORS, 0.5)
    assert settings.values["recall.minScores.reranker"].origin.endswith("hindbrain.json")
    (warning,) = settings.warnings
    assert "recall.minScores.other" in warning


@pytest.mark.req("S0-floors-004", "S0-floors-005")
def test_the_two_variables_win_over_the_file_and_leave_the_other_floors(places: Places) -> None:
    write(places.config_dir, json.dumps({"recall": {"minScores": {"reranker": 0.5, "keyword": 0.1}}}))
    variables = {"PI_HINDSIGHT_MIN_RERANKER": "0.2", "PI_HINDSIGHT_MIN_SEMANTIC": "0.3"}
    assert floors(load_settings(places, variables)) == {"reranker": 0.2, "semantic": 0.3, "keyword": 0.1}
    settings = load_settings(places, {"PI_HINDSIGHT_MIN_RERANKER": "hunter2"})
    assert floors(settings) == {"reranker": 0.5, "keyword": 0.1}
    assert "PI_HINDSIGHT_MIN_RERANKER" in settings.warnings[0]
    assert "hunter2" not in settings.warnings[0]


@pytest.mark.req("S0-floors-006")
def test_the_seeds_name_no_variable_for_the_other_two_floors(places: Places) -> None:
    assert floors(load_settings(places, {"PI_HINDSIGHT_MIN_FINAL": "0.9", "PI_HINDSIGHT_MIN_KEYWORD": "0.9"})) == {}


@pytest.mark.req("S0-scopes-017")
def test_observation_scopes_are_kept_as_they_are_written(places: Places) -> None:
    write(places.config_dir, '{"observations": {"enabled": true, "scopes": [["harness:pi"], ["repo:{repoKey}"]]}}')
    found = memory_config(load_settings(places, {})).observations
    assert (found.enabled, found.scopes) == (True, (("harness:pi",), ("repo:{repoKey}",)))


def test_the_seeds_variable_of_the_users_bank_switches_it_on(places: Places) -> None:
    write(places.config_dir, '{"banks": {"user": {"bankId": "a", "enabled": false}}}')
    assert memory_config(load_settings(places, {})).user_bank is None
    assert memory_config(load_settings(places, {"PI_HINDSIGHT_USER_BANK_ID": "b"})).user_bank == "b"


def test_a_file_of_nothing_but_strange_keys_is_told_in_a_few_lines() -> None:
    layer = Layer(origin="project file", values={f"strange{n}": n for n in range(5000)}, trusted=False)
    assert len(merge([layer]).warnings) == 11


def test_every_setting_has_a_line_about_itself() -> None:
    assert [key.path for key in KEYS if not key.about.endswith(".") or "|" in key.about + key.form.words] == []


def test_a_token_in_the_ecosystems_file_is_not_taken_over(places: Places) -> None:
    (places.home / ".hindsight/coding-agent.json").write_text(
        '{"apiUrl": "https://h.example.com", "apiToken": "k-1secret"}', "utf-8"
    )
    settings = load_settings(places, {})
    assert settings["hindsight.baseUrl"] == "https://h.example.com"
    assert settings["hindsight.apiKeyRef"] is None
    assert any("apiKeyRef" in w for w in settings.warnings)
    assert "k-1secret" not in repr(settings)


def test_own_variables_have_one_name_a_key() -> None:
    assert len({key.own_env for key in KEYS}) == len(KEYS)


def values_of(settings: Settings) -> str:
    return repr(memory_config(settings))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("enabled", False),
        ("banks.project.bankId", "b"),
        ("banks.user.bankId", "b"),
        ("scope.projectId", "p"),
        ("scope.projectIdStrategy", "basename"),
        ("scope.userScopeTags", ["t"]),
        ("scope.legacyTags", True),
        ("scope.shareHosts", False),
        ("recall.enabled", False),
        ("recall.types", ["world"]),
        ("recall.budget", "high"),
        ("recall.maxTokens", 1),
        ("recall.userMaxTokens", 1),
        ("recall.preferObservations", False),
        ("recall.includeSourceFacts", True),
        ("recall.maxSourceFactsTokens", 1),
        ("recall.contextTurns", 1),
        ("recall.roles", ["user"]),
        ("recall.maxQueryChars", 1),
        ("recall.queryPreamble", "x"),
        ("recall.includeDateInQuery", True),
        ("recall.includeRepoHintsInQuery", False),
        ("recall.queryTimestamp", "2026-01-01"),
        ("recall.topK", 1),
        ("recall.deadlineMs", 100),
        ("recall.injectionPosition", "prepend"),
        ("recall.cacheTtlMs", 1),
        ("recall.minScores.semantic", 0.5),
        ("recall.minScores.keyword", 0),
        ("recall.minScores.reranker", -1.5),
        ("recall.minScores.final", 2),
        ("recall.storeLastRecall", True),
        ("recall.storeLastRecallFailures", True),
        ("recall.lastRecallPath", "x.json"),
        ("banks", []),
        ("banks.project.enabled", False),
        ("banks.project.retain.mode", "decision"),
        ("scope.unscopedRecallBanks", ["b"]),
        ("scope.includeSharedObservations", True),
        ("observations.enabled", False),
        ("observations.scopes", [["a", "b"], ["{projectId}"]]),
        ("retain.beforeEnqueue", {"command": ["x"], "timeoutMs": 1}),
        ("retain.flushIntervalMs", 1),
        ("retain.enabled", False),
        ("retain.content.user", []),
        ("retain.content.assistant", []),
        ("retain.content.toolResult", []),
        ("retain.toolFilter.toolCall.exclude", []),
        ("retain.toolFilter.toolResult.exclude", []),
        ("retain.compactToolCalls", False),
        ("retain.strip.message", []),
        ("retain.strip.topLevel", []),
    ],
)
def test_every_memory_setting_reaches_the_memory_path(path: str, value: Any) -> None:
    assert values_of(merge([Layer(origin="x", values=nested(path, value))])) != values_of(merge([]))


@pytest.mark.req("S4-migration-002")
def test_a_name_of_version_2_warns_and_leaves_the_default() -> None:
    settings = merge([Layer(origin="global file", values={"observe": {"observationThresholdTokens": 1000}})])
    (warning,) = settings.warnings
    assert "observe.observationThresholdTokens" in warning
    assert observe_config(settings) == ObserveConfig()


@pytest.mark.req("S4-migration-018")
def test_the_example_of_version_3_is_in_force_as_it_stands() -> None:
    model = {"provider": "openrouter", "id": "google/gemma-4-31b-it", "thinking": "low"}
    numbers = {"observeAfterTokens": 10_000, "reflectAfterTokens": 20_000, "compactAfterTokens": 81_000}
    pools = {"observationsPoolMaxTokens": 20_000, "observationsPoolTargetTokens": 10_000}
    example = {**numbers, **pools, "agentMaxTurns": 12, "model": model, "passive": False}
    settings = merge([Layer(origin="global file", values={"observe": example})])
    config = observe_config(settings)
    assert settings.warnings == ()
    assert config.model == ModelChoice(provider="openrouter", id="google/gemma-4-31b-it", thinking=Thinking.LOW)
    plain = ObserveConfig(observations_pool_target_tokens=10_000, agent_max_turns=12, model=config.model)
    assert config == plain
