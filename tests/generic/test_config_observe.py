"""The settings of observational memory, from files and the environment to the engine's own value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hindbrain.generic import Layer, Places, Settings, load_settings, merge
from hindbrain.generic._config import KEYS, observe_config
from hindbrain.observe import ModelChoice, ObserveConfig, Thinking, compact_threshold

PASSIVE = "PI_OBSERVATIONAL_MEMORY_PASSIVE"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    for name in ("home", "config", "project/.pi"):
        (tmp_path / name).mkdir(parents=True)
    return Places(home=tmp_path / "home", config_dir=tmp_path / "config", project_dir=tmp_path / "project/.pi")


def write(folder: Path | None, **values: Any) -> None:
    assert folder is not None
    (folder / "hindbrain.json").write_text(json.dumps({"observe": values}), "utf-8")


def given(**values: Any) -> Settings:
    return merge([Layer(origin="test", values={"observe": values})])


@pytest.mark.req("S4-settings-001", "S4-settings-002", "S4-settings-003", "S4-settings-004")
def test_a_project_speaks_over_the_user_key_by_key(places: Places) -> None:
    write(places.config_dir, observeAfterTokens=12_000, reflectAfterTokens=30_000, agentMaxTurns=15)
    config = observe_config(load_settings(places, {}))
    assert (config.observe_after_tokens, config.reflect_after_tokens, config.agent_max_turns) == (12_000, 30_000, 15)
    write(places.project_dir, observeAfterTokens=7_000, agentMaxTurns=8)
    config = observe_config(load_settings(places, {}))
    assert (config.observe_after_tokens, config.reflect_after_tokens, config.agent_max_turns) == (7_000, 30_000, 8)
    assert places.config_dir is not None
    (places.config_dir / "hindbrain.json").unlink()
    assert observe_config(load_settings(places, {})).observe_after_tokens == 7_000


@pytest.mark.req("S4-settings-007", "S4-settings-008")
def test_the_environment_switches_passive_mode_and_nothing_else(places: Places) -> None:
    assert observe_config(load_settings(places, {PASSIVE: "1"})) == ObserveConfig(passive=True)
    write(places.config_dir, passive=False)
    found = load_settings(places, {PASSIVE: " YES "}).values["observe.passive"]
    assert (found.value, found.origin.split(" ")[0]) == (True, "environment")


@pytest.mark.req("S4-settings-009")
def test_the_environment_switches_passive_mode_off_again_and_other_words_say_nothing(places: Places) -> None:
    write(places.config_dir, passive=True)
    for word in ("off", "0", "No", " FALSE "):
        assert observe_config(load_settings(places, {PASSIVE: word})).passive is False
    assert observe_config(load_settings(places, {PASSIVE: "perhaps"})).passive is True


@pytest.mark.req("S4-settings-010", "S4-settings-025", "S4-settings-027", "S4-settings-029")
def test_without_any_setting_the_engine_has_its_defaults_and_nothing_is_said(places: Places) -> None:
    settings = load_settings(places, {})
    assert (observe_config(settings), settings.warnings) == (ObserveConfig(), ())
    assert observe_config(settings).compact_after_tokens_mode == "calibrated"
    assert observe_config(settings).observations_pool_max_tokens == 20_000
    assert compact_threshold(observe_config(given(compactAfterTokensMode="ratio")), 200_000) == 136_000


@pytest.mark.req("S4-settings-011")
def test_a_typical_file_is_taken_as_it_is_written(places: Places) -> None:
    write(
        places.config_dir,
        observeAfterTokens=10_000,
        reflectAfterTokens=20_000,
        compactAfterTokens=81_000,
        compactAfterTokensMode="calibrated",
        compactAfterTokensRatio=0.68,
        observationsPoolMaxTokens=20_000,
        observationsPoolTargetTokens=10_000,
        agentMaxTurns=16,
        model={"provider": "openrouter", "id": "google/gemma-4-31b-it", "thinking": "low"},
        showWorkerNotifications=True,
        passive=False,
        debugLog=False,
    )
    settings = load_settings(places, {})
    chosen = ModelChoice(provider="openrouter", id="google/gemma-4-31b-it", thinking=Thinking.LOW)
    assert observe_config(settings) == ObserveConfig(observations_pool_target_tokens=10_000, model=chosen)
    assert settings.warnings == ()


@pytest.mark.req("S4-settings-017", "S4-settings-026", "S4-settings-052", "S4-settings-053")
@pytest.mark.parametrize(
    ("key", "value", "form"),
    [
        ("observerChunkMaxTokens", 100, "256"),
        ("compactAfterTokensMode", "auto", "ratio"),
        ("observeAfterTokens", True, "whole number"),
        ("observeAfterTokens", "5000", "whole number"),
        ("observeAfterTokens", 0, "whole number"),
    ],
)
def test_a_value_of_another_form_counts_for_nothing_and_is_told_once(key: str, value: Any, form: str) -> None:
    settings = given(**{key: value})
    assert observe_config(settings) == ObserveConfig()
    (warning,) = settings.warnings
    assert f"observe.{key}" in warning
    assert form in warning
    assert not isinstance(value, str) or value not in warning


@pytest.mark.req("S4-settings-028")
def test_a_ratio_lies_between_nothing_and_all() -> None:
    for wrong in (0, 1, 1.5, -0.2, float("nan")):
        settings = given(compactAfterTokensRatio=wrong)
        assert observe_config(settings).compact_after_tokens_ratio == 0.68
        assert len(settings.warnings) == 1
    assert observe_config(given(compactAfterTokensRatio=0.999)).compact_after_tokens_ratio == 0.999


@pytest.mark.req("S4-settings-030", "S4-settings-054")
def test_the_pools_target_is_half_of_its_maximum_unless_a_smaller_one_is_set() -> None:
    def target(**values: int) -> int:
        return observe_config(given(**values)).pool_target

    assert target(observationsPoolMaxTokens=30_000) == 15_000
    assert target(observationsPoolMaxTokens=20_000, observationsPoolTargetTokens=20_000) == 10_000
    assert target(observationsPoolMaxTokens=20_000, observationsPoolTargetTokens=19_999) == 19_999


@pytest.mark.req("S4-settings-055")
def test_there_are_seven_words_for_how_much_a_model_thinks() -> None:
    for word in ("off", "minimal", "low", "medium", "high", "xhigh", "max"):
        choice = observe_config(given(model={"provider": "p", "id": "m", "thinking": word})).model
        assert (choice and choice.thinking.value) == word
    settings = given(model={"provider": "p", "id": "m", "thinking": "ultra"})
    choice = observe_config(settings).model
    assert (choice and choice.thinking) == Thinking.LOW
    assert len(settings.warnings) == 1


def test_half_a_model_is_none() -> None:
    assert observe_config(given(model={"provider": "p"})).model is None
    assert observe_config(given(model={"id": "m"})).model is None


@pytest.mark.parametrize(
    ("written", "seconds"),
    [(60, 60), ("30m", 1_800), ("1h", 3_600), ("45 s", 45), (0, None), (False, None), ("never", None)],
)
def test_the_silence_is_seconds_or_a_duration_or_never(written: Any, seconds: int | None) -> None:
    settings = given(idleCompactionTtl=written)
    assert (observe_config(settings).idle_compaction_ttl, settings.warnings) == (seconds, ())


@pytest.mark.parametrize("wrong", ["soon", "1d", -1, True, 2_147_484, "999999h"])
def test_a_silence_of_another_form_is_told(wrong: Any) -> None:
    settings = given(idleCompactionTtl=wrong)
    assert (observe_config(settings).idle_compaction_ttl, len(settings.warnings)) == (1_800, 1)


def test_what_starts_workers_names_a_model_or_writes_a_file_is_not_for_a_project_to_say() -> None:
    safe = {key.path for key in KEYS if key.path.startswith("observe.") and key.project_safe}
    for name in (
        "enabled",
        "passive",
        "model.provider",
        "model.id",
        "model.thinking",
        "observer",
        "debugLog",
        "subagents",
    ):
        assert f"observe.{name}" not in safe
