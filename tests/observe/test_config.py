from __future__ import annotations

from typing import Any

import pytest

from hindbrain.observe import BudgetError, ModelChoice, ObserveConfig, ObserveSettingError, Thinking


def test_the_defaults_are_those_of_the_seed() -> None:
    config = ObserveConfig()
    assert (config.observe_after_tokens, config.reflect_after_tokens, config.compact_after_tokens) == (
        10_000,
        20_000,
        81_000,
    )
    assert (config.agent_max_turns, config.agent_max_tokens) == (16, 32_000)
    assert (config.idle_compaction_ttl, config.idle_compaction_min_tokens) == (1_800, 75_000)
    assert config.model is None
    assert config.observer == "model"
    assert config.show_worker_notifications
    assert (config.passive, config.debug_log, config.subagents) == (False, False, False)


@pytest.mark.parametrize("name", ["agent_max_turns", "agent_max_tokens", "idle_compaction_min_tokens"])
@pytest.mark.parametrize("value", [0, -1, True, 1.5])
def test_a_count_is_a_whole_number_from_one_up(name: str, value: Any) -> None:
    with pytest.raises(BudgetError) as caught:
        ObserveConfig(**{name: value})
    assert caught.value.field == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("observer", "none"),
        ("idle_compaction_ttl", 0),
        ("idle_compaction_ttl", 2_147_484),
        ("idle_compaction_ttl", True),
        ("idle_compaction_ttl", 1.5),
    ],
)
def test_a_setting_of_another_form_is_named_and_its_value_is_not_repeated(name: str, value: Any) -> None:
    with pytest.raises(ObserveSettingError) as caught:
        ObserveConfig(**{name: value})
    assert caught.value.field == name
    assert str(value) not in str(caught.value).replace("2147483", "")


def test_the_longest_and_no_idle_time_are_forms_of_it() -> None:
    assert ObserveConfig(idle_compaction_ttl=2_147_483).idle_compaction_ttl == 2_147_483
    assert ObserveConfig(idle_compaction_ttl=None).idle_compaction_ttl is None


def test_a_choice_of_model_needs_both_names() -> None:
    assert ModelChoice(provider="openrouter", id="google/gemma").thinking is Thinking.LOW
    for provider, model in ((" ", "m"), ("p", "")):
        with pytest.raises(ObserveSettingError):
            ModelChoice(provider=provider, id=model)
