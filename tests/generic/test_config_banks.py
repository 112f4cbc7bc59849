from __future__ import annotations

from typing import Any

import pytest

from hindbrain.generic import Layer, Settings, memory_config, merge
from hindbrain.memory import Access, BankEntry, RetainMode

PROJECT, USER = "banks.project.bankId", "banks.user.bankId"


def settings(*layers: dict[str, Any]) -> Settings:
    return merge(Layer(origin=f"file {n}", values=values) for n, values in enumerate(layers))


def entries(*layers: dict[str, Any]) -> tuple[BankEntry, ...]:
    return memory_config(settings(*layers)).banks


def shape(*layers: dict[str, Any]) -> list[tuple[str | None, str, str]]:
    return [(entry.id, entry.role, str(entry.retain_mode)) for entry in entries(*layers)]


@pytest.mark.req("S0-missions-002")
def test_a_list_of_banks_needs_no_more_than_their_ids_and_roles() -> None:
    found = settings({"banks": [{"id": "proj-a", "role": "coding"}]})
    assert found.warnings == ()
    assert memory_config(found).banks == (BankEntry(id="proj-a"),)
    assert memory_config(found).project_bank == "proj-a"


@pytest.mark.req("S0-banks-006", "S0-banks-007")
def test_the_role_gives_the_mode_where_an_entry_names_none() -> None:
    listed = [{"id": "p", "role": "coding"}, {"id": "u", "role": "life"}, {"id": "z", "role": "notes"}]
    assert shape({"banks": listed}) == [
        ("p", "coding", "always"),
        ("u", "life", "explicit-only"),
        ("z", "notes", "explicit-only"),
    ]


@pytest.mark.req("S0-banks-005")
@pytest.mark.parametrize("role", ["coding", "life"])
def test_a_mode_that_is_none_of_the_three_is_told_and_the_roles_applies(role: str) -> None:
    found = settings({"banks": [{"id": "a", "role": role, "retain": {"mode": "sk-sometimes"}}]})
    (warning,) = found.warnings
    assert "banks[0].retain.mode" in warning
    assert "always, decision or explicit-only" in warning
    assert "sk-sometimes" not in warning
    assert memory_config(found).banks == (BankEntry(id="a", role=role),)


@pytest.mark.parametrize("mode", list(RetainMode))
def test_each_of_the_three_modes_is_taken(mode: RetainMode) -> None:
    (entry,) = entries({"banks": [{"id": "a", "role": "life", "retain": {"mode": str(mode)}}]})
    assert entry.retain_mode is mode


@pytest.mark.parametrize(
    "broken",
    [
        {"id": "../all"},
        {"id": ""},
        {"id": 5},
        {"role": "life"},
        {"id": "b", "role": "Two words"},
        {"id": "b", "role": 7},
        {"id": "b", "enabled": "yes"},
        {"id": "b", "access": "readonly"},
        {"id": "b", "access": True},
        {"id": "b", "retain": "always"},
        {"id": "b", "access": "hunter2", "retain": {"mode": "hunter2"}},
        "b",
        None,
        ["b"],
    ],
)
def test_an_entry_of_the_wrong_form_is_left_out_whole_and_the_others_stay(broken: object) -> None:
    found = settings({"banks": [{"id": "a"}, broken]})
    (warning,) = found.warnings
    assert warning.startswith("file 0: banks[1] was dropped")
    assert "hunter2" not in warning
    assert memory_config(found).banks == (BankEntry(id="a"),)


@pytest.mark.parametrize("value", ["a", 7, {"a": 1}, True, [{"id": "a"}] * 65])
def test_what_is_no_list_of_banks_is_dropped_and_nothing_may_be_sent(value: object) -> None:
    found = settings({"banks": value})
    assert len(found.warnings) == 1
    assert memory_config(found).banks == (BankEntry(id=None),)
    assert isinstance(value, dict) or set(found.doubtful) == {"banks"}


def test_a_bank_named_twice_counts_once() -> None:
    found = settings({"banks": [{"id": "a", "access": "read"}, {"id": "a", "access": "write"}]})
    assert memory_config(found).banks == (BankEntry(id="a", access=Access.READ),)
    assert "same bank" in found.warnings[0]


def test_a_field_that_is_not_known_is_told_and_the_missions_of_old_are_not() -> None:
    found = settings({"banks": [{"id": "a", "colour": "red", "mission": {}, "retainMission": "x"}]})
    (warning,) = found.warnings
    assert "'colour'" in warning
    assert "red" not in warning


def test_the_two_slots_are_a_short_way_to_write_two_entries() -> None:
    slots = {"banks": {"project": {"bankId": "p"}, "user": {"bankId": "u"}}}
    assert shape(slots) == [("p", "coding", "always"), ("u", "user", "explicit-only")]
    assert shape({}) == [(None, "coding", "always")]
    assert shape({"banks": {"user": {"enabled": True}}}) == [(None, "coding", "always")]


def test_a_slot_may_name_its_own_mode() -> None:
    modes = {"project": {"retain": {"mode": "explicit-only"}}, "user": {"bankId": "u", "retain": {"mode": "always"}}}
    assert shape({"banks": modes}) == [(None, "coding", "explicit-only"), ("u", "user", "always")]


def test_a_slot_that_is_switched_off_names_no_user_bank() -> None:
    config = memory_config(settings({"banks": {"user": {"bankId": "u", "enabled": False}}}))
    assert config.user_bank is None
    assert [entry.enabled for entry in config.banks] == [True, False]


def test_a_list_takes_the_place_of_the_slots_below_it_and_gives_way_to_those_above() -> None:
    slots = {"banks": {"project": {"bankId": "p"}, "user": {"bankId": "u"}}}
    listed = {"banks": [{"id": "a"}, {"id": "b", "role": "life"}]}
    assert [row[0] for row in shape(slots, listed)] == ["a", "b"]
    assert [row[:2] for row in shape(listed, slots)] == [("p", "coding"), ("u", "life")]
    assert [row[:2] for row in shape({"banks": [{"id": "n", "role": "notes"}]}, slots)] == [
        ("p", "coding"),
        ("n", "notes"),
        ("u", "user"),
    ]
    assert [row[0] for row in shape(listed, {"banks": None})] == [None]


@pytest.mark.req("S0-banks-010", "S0-banks-011")
@pytest.mark.parametrize("name", ["userRetain", "globalRetain"])
def test_the_older_names_of_the_user_banks_mode_mean_that_mode(name: str) -> None:
    user = {"banks": {"user": {"bankId": "u", "retain": {"mode": "always"}}}}
    assert shape(user, {name: {"mode": "explicit-only"}})[1] == ("u", "user", "explicit-only")
    assert shape(user | {name: {"mode": "explicit-only"}})[1] == ("u", "user", "always")
    listed = {"banks": [{"id": "u", "role": "user", "retain": {"mode": "always"}}]}
    assert shape({name: {"mode": "explicit-only"}} | listed) == [("u", "user", "always")]


@pytest.mark.req("S0-banks-012", "S0-router-030")
@pytest.mark.parametrize("mode", ["always", "decision", "router", True, None])
def test_the_older_names_take_one_value_only(mode: object) -> None:
    found = settings({"banks": {"user": {"bankId": "u"}}, "userRetain": {"mode": mode}})
    assert memory_config(found).banks[1].retain_mode is RetainMode.EXPLICIT_ONLY
    if mode is not None:
        (warning,) = found.warnings
        assert "userRetain.mode" in warning
        assert "explicit-only" in warning


def test_by_default_only_the_projects_bank_gets_every_turn() -> None:
    found = entries({"banks": {"project": {"bankId": "p"}, "user": {"bankId": "u"}}})
    assert [entry.id for entry in found if entry.retained_always] == ["p"]


@pytest.mark.req("S0-router-031")
def test_no_setting_chooses_a_way_of_routing_but_the_modes_of_the_banks() -> None:
    from hindbrain.generic._config import KEYS

    assert [key.path for key in KEYS if "rout" in key.path.lower() or "strategy" in key.path.lower()] == [
        "scope.projectIdStrategy"
    ]
