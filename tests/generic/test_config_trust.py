"""Whose word counts: a project's file before and after it is trusted, and words that cannot be read."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain.generic import Layer, Places, Settings, SettingsError, load_settings, memory_config, merge, open_backend
from hindbrain.generic._config import BY_PATH, KEYS, Trust, read, schema
from hindbrain.generic._config._private import write_private

UNSAFE = {"backend": "hindsight", "hindsight": {"baseUrl": "https://evil.example"}, "recall": {"topK": 3}}


@pytest.fixture
def places(tmp_path: Path) -> Places:
    for name in ("home", "config", "project/.hindbrain"):
        (tmp_path / name).mkdir(parents=True)
    return Places(home=tmp_path / "home", config_dir=tmp_path / "config", project_dir=tmp_path / "project/.hindbrain")


def write(places: Places, value: object, name: str = "hindbrain.json") -> Path:
    assert places.project_dir is not None
    path = places.project_dir / name
    path.write_text(json.dumps(value), "utf-8")
    return path


def trust(places: Places, path: Path) -> None:
    places.trust.trust(read(path))


@pytest.mark.req("S2-backends-016")
def test_what_a_project_may_not_say_is_refused_and_named(places: Places) -> None:
    write(places, UNSAFE)
    settings = load_settings(places, {})
    assert (settings["backend"], settings["hindsight.baseUrl"]) == ("local", "http://localhost:8888")
    assert settings["recall.topK"] == 3
    (warning,) = settings.warnings
    assert "backend, hindsight.baseUrl" in warning
    assert "evil" not in warning


def test_a_trusted_file_has_the_whole_say(places: Places) -> None:
    trust(places, write(places, UNSAFE))
    settings = load_settings(places, {})
    assert (settings["backend"], settings["hindsight.baseUrl"]) == ("hindsight", "https://evil.example")
    assert settings.warnings == ()


def test_a_file_that_changed_is_not_trusted_any_more_and_this_is_said_once(places: Places) -> None:
    trust(places, write(places, {"backend": "hindsight"}))
    write(places, {"backend": "hindsight", "recall": {"topK": 3}})
    settings = load_settings(places, {})
    assert settings["backend"] == "local"
    assert settings["recall.topK"] == 3
    assert sum("was changed since you trusted it" in warning for warning in settings.warnings) == 1
    write(places, {"backend": "hindsight"})
    assert load_settings(places, {})["backend"] == "hindsight"


def test_trust_is_for_one_file_and_not_for_the_same_bytes_elsewhere(places: Places) -> None:
    trust(places, write(places, UNSAFE))
    assert places.project_dir is not None
    (places.project_dir / "hindbrain.json").rename(places.project_dir / "hindbrain.jsonc")
    assert load_settings(places, {})["backend"] == "local"


def test_trust_can_be_taken_back(places: Places) -> None:
    path = write(places, UNSAFE)
    trust(places, path)
    assert places.trust.forget(path) is True
    assert places.trust.forget(path) is False
    assert load_settings(places, {})["backend"] == "local"


def test_a_folder_reached_by_another_name_is_the_same_folder(places: Places, tmp_path: Path) -> None:
    trust(places, write(places, UNSAFE))
    (tmp_path / "alias").symlink_to(tmp_path / "project")
    elsewhere = Places(home=places.home, config_dir=places.config_dir, project_dir=tmp_path / "alias/.hindbrain")
    assert load_settings(elsewhere, {})["backend"] == "hindsight"


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"version": 2}', "[" * 9000, '{"version": 1, "sha256": 5}'])
def test_a_broken_record_trusts_nothing(places: Places, text: str) -> None:
    trust(places, write(places, UNSAFE))
    (record,) = places.trust.folder.iterdir()
    record.write_text(text, "utf-8")
    assert load_settings(places, {})["backend"] == "local"


def test_a_record_of_another_path_trusts_nothing(places: Places, tmp_path: Path) -> None:
    path = write(places, UNSAFE)
    trust(places, path)
    (record,) = places.trust.folder.iterdir()
    record.write_text(json.dumps(json.loads(record.read_bytes()) | {"path": str(tmp_path / "other")}), "utf-8")
    assert places.trust.of(read(path)) is Trust.NEVER


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs Unix modes")
def test_a_record_that_others_may_write_trusts_nothing(places: Places) -> None:
    trust(places, write(places, UNSAFE))
    (record,) = places.trust.folder.iterdir()
    record.chmod(0o666)
    assert load_settings(places, {})["backend"] == "local"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs Unix modes")
def test_records_are_for_their_owner_only_whatever_the_umask(places: Places) -> None:
    before = os.umask(0)
    try:
        trust(places, write(places, UNSAFE))
    finally:
        os.umask(before)
    (record,) = places.trust.folder.iterdir()
    assert [stat.S_IMODE(p.stat().st_mode) for p in (record, record.parent)] == [0o600, 0o700]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_private(path, b"old")

    def full(_fd: int) -> None:
        raise OSError(28, "full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="full"):
        write_private(path, b"new")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("file", b"old")]


def other_than(default: object) -> list[object]:
    """Values of every form there is; some are of a key's own."""
    texts: list[object] = [
        "local",
        "hindsight",
        "basename",
        "coalesced",
        "/x",
        "https://h.example",
        "env:A",
        "x",
        "low",
    ]
    texts += ["prepend", "always", "2026-01-01", "explicit-only", "ratio", "extractive", "high", "emoji", "verbose"]
    values: list[object] = [True, False, 3, 30, 1000, 1001, 20_000, 30_000, 0.5]
    values += [[], ["x"], ["user"], ["world"], [["x"]], [{"id": "x"}]]
    values.append({"command": ["x"]})
    return [value for value in texts + values if value != default]


def nested(path: str, value: object) -> dict[str, Any]:
    name, _, rest = path.partition(".")
    return {name: nested(rest, value) if rest else value}


def said(path: str, value: object, *, trusted: bool) -> Settings:
    return merge([Layer(origin="p", values=nested(path, value), trusted=trusted)])


def taken(path: str, *, trusted: bool) -> bool:
    """Whether some value of this key counts from a project's file."""
    values = other_than(BY_PATH[path].default)
    return any(said(path, value, trusted=trusted).values != merge([]).values for value in values)


def leaves(node: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every setting of the schema, with what the schema says of it."""
    if "x-projectSafe" in node:
        yield path, node
    for form in (node, *node.get("anyOf", ())):
        for name, below in form.get("properties", {}).items():
            yield from leaves(below, f"{path}.{name}" if path else name)


LEAVES = dict(leaves(schema()))


def test_the_walk_over_the_schema_meets_every_setting() -> None:
    assert LEAVES.keys() == BY_PATH.keys()


@pytest.mark.parametrize("path", LEAVES)
def test_no_key_of_the_schema_counts_from_an_untrusted_project_but_those_marked_safe(path: str) -> None:
    assert taken(path, trusted=True)
    assert taken(path, trusted=False) is LEAVES[path]["x-projectSafe"]


@pytest.mark.parametrize("path", [path for path, leaf in LEAVES.items() if not leaf["x-projectSafe"]])
def test_a_key_that_is_not_safe_is_refused_by_name_and_changes_nothing(path: str) -> None:
    for value in other_than(BY_PATH[path].default):
        settings = said(path, value, trusted=False)
        assert settings.values == merge([]).values
        assert settings.refused == {}
        if said(path, value, trusted=True).values != merge([]).values:
            assert [path in warning and "hindbrain trust" in warning for warning in settings.warnings] == [True]


NUMBERS = [path for path, leaf in LEAVES.items() if leaf["x-projectSafe"] and leaf.get("type") == "integer"]


@pytest.mark.parametrize("path", NUMBERS)
def test_a_safe_number_has_bounds_in_an_untrusted_project_and_wider_ones_for_the_user(path: str) -> None:
    assert "x-projectBounds" in LEAVES[path], "give the key project_bounds: a repository may set it"
    least, most = LEAVES[path]["x-projectBounds"]
    assert least <= LEAVES[path]["default"] <= most < LEAVES[path]["maximum"]
    for value in {least, most}:
        assert said(path, value, trusted=False)[path] == value
    settings = said(path, most + 1, trusted=False)
    assert settings.values == merge([]).values
    (warning,) = settings.warnings
    assert path in warning
    assert str(most) in warning
    assert str(most + 1) not in warning
    assert said(path, most + 1, trusted=True)[path] == most + 1


def test_an_untrusted_project_cannot_undo_what_the_user_said_by_going_out_of_bounds() -> None:
    mine = Layer(origin="global file", values={"recall": {"maxTokens": 100}})
    theirs = Layer(origin="project file", values={"recall": {"maxTokens": 1_000_000}}, trusted=False)
    assert merge([mine, theirs])["recall.maxTokens"] == 100


def test_a_turn_waits_and_grows_within_reason_in_any_repository() -> None:
    most = {path: LEAVES[path]["x-projectBounds"][1] for path in NUMBERS}
    assert most["recall.deadlineMs"] <= 10_000
    assert most["hindsight.timeoutMs"] <= 30_000
    assert all(most[path] <= 4096 for path in most if path.startswith("recall.") and path.endswith("Tokens"))


def test_what_is_safe_neither_leads_memory_elsewhere_nor_says_what_is_kept() -> None:
    safe = {key.path for key in KEYS if key.project_safe}
    other = {path for path in safe if not path.startswith(("recall.", "observe.", "status."))}
    assert other == {"hindsight.timeoutMs", "notifications.recall", "notifications.retain"}
    assert not safe & {"recall.storeLastRecall", "recall.storeLastRecallFailures", "recall.lastRecallPath"}


def test_a_project_may_set_thresholds_of_observation_but_not_start_it_nor_choose_its_model() -> None:
    unsafe = {key.path for key in KEYS if key.path.startswith("observe.") and not key.project_safe}
    assert unsafe == {
        *("observe.enabled", "observe.passive", "observe.debugLog", "observe.subagents", "observe.observer"),
        *("observe.model.provider", "observe.model.id", "observe.model.thinking"),
        *(f"observe.endpoint.{name}" for name in ("baseUrl", "model", "apiKeyRef", "window")),
    }


DESTINATIONS = [
    ("hindsight.baseUrl", {"hindsight": {"baseUrl": "https://u:hunter2@h.example"}}),
    ("hindsight.baseUrl", {"hindsight": {"baseUrl": 7}}),
    ("hindsight.apiKeyRef", {"hindsight": {"apiKeyRef": "sk-ant-abcdefghijklmnopqrstuv"}}),
    ("hindsight.apiKeyRef", {"hindsight": {"apiKeyRef": "env:SK_ANT_ABCDEFGHIJKLMNOPQRSTUVWXYZ"}}),
    ("banks.project.bankId", {"banks": {"project": {"bankId": "../all"}}}),
    ("banks", {"banks": "all"}),
]


def with_server(*layers: dict[str, Any]) -> Settings:
    return merge(Layer(origin="file", values=v) for v in ({"backend": "hindsight"}, *layers))


@pytest.mark.parametrize(("path", "values"), DESTINATIONS)
async def test_a_destination_that_cannot_be_read_sends_nothing(path: str, values: dict[str, Any]) -> None:
    settings = with_server({"hindsight": {"baseUrl": "https://h.example"}}, values)
    assert set(settings.doubtful) == {path}
    with pytest.raises(SettingsError) as caught:
        async with open_backend(settings):
            raise AssertionError
    assert path in str(caught.value)
    for secret in ("hunter2", "sk-ant", "SK_ANT", "../all"):
        assert secret not in str(caught.value) + "".join(settings.warnings)


async def test_a_later_word_that_can_be_read_heals_it() -> None:
    settings = with_server({"hindsight": {"baseUrl": "nowhere"}}, {"hindsight": {"baseUrl": "https://h.example"}})
    assert settings.doubtful == {}
    async with open_backend(settings):
        pass


def test_an_untrusted_file_cannot_switch_memory_off_by_a_broken_destination() -> None:
    broken = Layer(origin="project file", values={"hindsight": {"baseUrl": "nowhere"}}, trusted=False)
    assert merge([broken]).doubtful == {}


@pytest.mark.parametrize("value", ["rm -rf", {"command": "rm"}, {"command": []}, {"command": ["x"], "timeoutMs": 0}])
def test_a_gate_that_cannot_be_read_lets_nothing_through(value: object) -> None:
    settings = merge([Layer(origin="file", values={"retain": {"beforeEnqueue": value}})])
    gate = memory_config(settings).retain.before_enqueue
    assert gate is not None
    assert gate.command == ()
    assert len(settings.warnings) == 1


def test_a_gate_is_an_argv_and_a_deadline() -> None:
    values = {"retain": {"beforeEnqueue": {"command": ["policy", "--strict"]}}}
    gate = memory_config(merge([Layer(origin="file", values=values)])).retain.before_enqueue
    assert gate is not None
    assert (gate.command, gate.timeout_ms) == (("policy", "--strict"), 5000)
