"""``hindbrain trust | untrust | config``, through the command in this process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hindbrain.generic._cli import _settings_group, main
from hindbrain.generic._config import schema

Run = Callable[..., Result]
UNSAFE = {"backend": "hindsight", "recall": {"topK": 3}, "enabled": "hunter2", "strange": 1}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("HIND", "PI_", "XDG")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "project/.hindbrain").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


@pytest.fixture
def run(home: Path) -> Run:
    def run_(*args: str, **options: Any) -> Result:
        return CliRunner().invoke(main, [*args, "--config-dir", str(home / "config")], **options)

    return run_


@pytest.fixture
def ours(home: Path) -> Path:
    return home / "config/hindbrain.json"


@pytest.fixture
def theirs(home: Path) -> Path:
    return home / "project/.hindbrain/hindbrain.json"


def write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")


def data(done: Result) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(done.stdout)
    assert said["ok"] is (done.exit_code == 0)
    inside: dict[str, Any] = said["data"] or said["error"]
    assert inside
    return inside


def setting(run: Run, path: str) -> Any:
    return data(run("config", "show", "--json"))["settings"][path]


def test_trust_shows_what_would_begin_to_count_and_records_nothing_by_itself(run: Run, theirs: Path) -> None:
    write(theirs, UNSAFE)
    done = run("trust", "--json")
    said = data(done)
    assert done.exit_code == 0
    assert (said["was"], said["trusted"], said["begin"]) == ("never", False, {"backend": "hindsight"})
    assert (said["already"], said["dropped"], said["unknown"]) == (["recall.topK"], ["enabled"], ["strange"])
    assert "hunter2" not in done.output
    assert setting(run, "backend") == "local"


def test_trust_holds_until_the_file_changes_or_is_untrusted(run: Run, theirs: Path) -> None:
    write(theirs, {"backend": "hindsight"})
    assert "is trusted now" in run("trust", "--yes").stdout
    assert setting(run, "backend") == "hindsight"
    assert data(run("trust", "--json"))["was"] == "trusted"
    write(theirs, {"backend": "hindsight", "enabled": True})
    assert setting(run, "backend") == "local"
    assert data(run("trust", "--json"))["was"] == "changed"
    assert run("trust", "--yes").exit_code == 0
    assert [run("untrust").exit_code for _ in range(2)] == [0, 1]
    assert setting(run, "backend") == "local"


@pytest.mark.parametrize(("answer", "backend"), [("y", "hindsight"), ("n", "local")])
def test_a_person_is_shown_the_file_and_asked(
    run: Run, theirs: Path, monkeypatch: pytest.MonkeyPatch, answer: str, backend: str
) -> None:
    class Terminal:
        class stdin:  # noqa: N801 - it stands for sys.stdin
            @staticmethod
            def isatty() -> bool:
                return True

    monkeypatch.setattr(_settings_group, "sys", Terminal)
    write(theirs, {"backend": "hindsight"})
    done = run("trust", input=f"{answer}\n")
    assert 'begins to count: backend = "hindsight"' in done.output
    assert setting(run, "backend") == backend


def test_what_a_file_holds_cannot_write_on_the_terminal_or_pass_for_something_else(run: Run, theirs: Path) -> None:
    write(theirs, {"scope": {"projectId": "\x1b[2Jx\u202ey"}, "str\x1bange": 1, "recall": {"top\u202eK": 1}})
    done = run("trust")
    assert not {"\x1b", "\u202e"} & set(done.output)
    assert "\\u202e" in done.output


def test_a_secret_in_a_projects_file_is_not_shown(run: Run, theirs: Path) -> None:
    write(theirs, {"scope": {"projectId": "ghp_" + "aB3" * 12}})
    assert data(run("trust", "--json"))["begin"] == {"scope.projectId": "(looks like a secret)"}


@pytest.mark.parametrize("text", [None, "{"])
def test_where_there_is_nothing_to_trust_nothing_is(run: Run, theirs: Path, text: str | None) -> None:
    if text is not None:
        write(theirs, text)
    done = run("trust", "--yes", "--json")
    assert done.exit_code == 3
    assert "nothing was trusted" in data(done)["message"].lower()


def test_outside_a_project_there_is_nothing_to_trust_or_to_set(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "elsewhere").mkdir()
    monkeypatch.chdir(home / "elsewhere")
    for args in (("trust", "--yes"), ("untrust",), ("config", "set", "enabled", "no", "--project")):
        assert run(*args).exit_code == 3


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        ("recall.topK", "5", 5),
        ("recall.enabled", "off", False),
        ("recall.enabled", "true", True),
        ("recall.types", "world,observation", ["world", "observation"]),
        ("recall.types", "[]", []),
        ("recall.queryPreamble", "5", "5"),
        ("recall.queryPreamble", "", ""),
        ("recall.minScores.reranker", "0.2", 0.2),
        ("scope.projectId", "null", None),
        ("hindsight.baseUrl", "https://h.example", "https://h.example"),
        ("hindsight.apiKeyRef", "env:MY_KEY", "env:MY_KEY"),
        ("retain.beforeEnqueue", '{"command": ["x"]}', {"command": ["x"], "timeoutMs": 5000}),
        ("observations.scopes", '[["a"]]', [["a"]]),
        ("userRetain.mode", "explicit-only", "explicit-only"),
    ],
)
def test_set_writes_a_value_that_then_counts(run: Run, ours: Path, path: str, text: str, value: object) -> None:
    done = run("config", "set", path, text, "--json")
    assert done.exit_code == 0, done.output
    path = "banks.user.retain.mode" if path == "userRetain.mode" else path
    assert data(done) == {"file": str(ours), "key": path, "old": None, "new": value}
    shown = data(run("config", "show", "--origin", "--json"))
    assert shown["settings"][path] == value
    assert shown["origins"][path] == f"global file {ours}"


@pytest.mark.parametrize(
    ("path", "text", "code"),
    [
        ("recall.topK", "hunter2", 3),
        ("recall.topK", "0", 3),
        ("hindsight.apiKeyRef", "hunter2", 3),
        ("hindsight.baseUrl", "https://u:hunter2@h.example", 3),
        ("recall.queryPreamble", "password=hunter2hunter2", 3),
        ("banks", '[{"id": "a", "access": "hunter2"}]', 3),
        ("userRetain.mode", "always", 0),
        ("recall.topk", "5", 2),
        ("recall", "5", 2),
    ],
)
def test_set_writes_nothing_that_is_of_the_wrong_form_or_secret(
    run: Run, ours: Path, path: str, text: str, code: int
) -> None:
    done = run("config", "set", path, text)
    assert done.exit_code == code
    assert ours.exists() is (code == 0)
    assert "hunter2" not in done.output


def test_set_leaves_a_file_with_comments(run: Run, ours: Path) -> None:
    write(ours, '// mine\n{"recall": {"topK": 3}}')
    done = run("config", "set", "recall.topK", "5")
    assert done.exit_code == 3
    assert "comments" in done.output
    assert ours.read_text("utf-8").startswith("// mine")


def test_set_says_where_another_word_wins(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDBRAIN_RECALL_TOP_K", "7")
    assert "HINDBRAIN_RECALL_TOP_K" in run("config", "set", "recall.topK", "5").output


def test_set_in_a_project_keeps_the_trust_that_was_there_and_gives_none(run: Run, theirs: Path) -> None:
    assert "only after `hindbrain trust`" in run("config", "set", "backend", "hindsight", "--project").output
    assert setting(run, "backend") == "local"
    assert run("config", "set", "recall.topK", "3", "--project").output.count("counts only after") == 0
    assert setting(run, "recall.topK") == 3
    run("trust", "--yes")
    assert "warning" not in run("config", "set", "scope.projectId", "p", "--project").output
    assert (setting(run, "backend"), setting(run, "scope.projectId")) == ("hindsight", "p")
    assert json.loads(theirs.read_bytes()) == {
        "backend": "hindsight",
        "recall": {"topK": 3},
        "scope": {"projectId": "p"},
    }


def test_set_in_a_project_follows_no_link(run: Run, home: Path, theirs: Path) -> None:
    write(home / "victim.json", {"a": 1})
    theirs.symlink_to(home / "victim.json")
    assert run("config", "set", "recall.topK", "3", "--project").exit_code == 3
    assert json.loads((home / "victim.json").read_bytes()) == {"a": 1}


def test_check_is_content_with_sound_settings_and_names_each_file(run: Run, ours: Path, theirs: Path) -> None:
    write(ours, {"recall": {"topK": 3}, "observe": {"passive": True}})
    done = run("config", "check", "--json")
    said = data(done)
    assert (done.exit_code, said["findings"]) == (0, [])
    assert [row["state"] for row in said["files"]] == ["absent", "read", "absent"]
    assert "Nothing is wrong" in run("config", "check").stdout
    write(theirs, {"recall": {"topK": 4}})
    assert data(run("config", "check", "--json"))["files"][2] == {"path": str(theirs), "state": "untrusted"}
    run("trust", "--yes")
    assert data(run("config", "check", "--json"))["files"][2]["state"] == "trusted"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ("{", "syntax"),
        ({"recall": {"topK": "hunter2"}}, "recall.topK was dropped"),
        ({"recall": {"topk": 1}}, "Did you mean recall.topK"),
        ({"embedder": {"baseUrl": "https://h.example"}}, "only together"),
        ({"recall": {"storeLastRecallFailures": True}}, "no effect while"),
        ({"recall": {"maxSourceFactsTokens": 9}}, "no effect while"),
        ({"observations": {"scopes": [["x:{nope}", "{projectId}"]]}}, "placeholder 'nope'"),
        ({"banks": [{"id": "a", "access": "read"}]}, "nothing is retained automatically"),
        (
            {"backend": "hindsight", "embedder": {"baseUrl": "https://h.example", "model": "m"}},
            "makes its own embeddings",
        ),
    ],
)
def test_check_fails_with_what_is_wrong(run: Run, ours: Path, values: object, words: str) -> None:
    write(ours, values)
    done = run("config", "check", "--json")
    (finding,) = (each for each in data(done)["findings"] if "nothing reads it yet" not in each)
    assert done.exit_code == 1
    assert words in finding
    assert "hunter2" not in finding


@pytest.mark.req("S2-backends-017", "S4-settings-006")
def test_import_shows_the_changes_and_writes_them_only_when_told(run: Run, home: Path, ours: Path) -> None:
    write(home / ".pi/agent/settings.json", {"smartCompact": {"hindsightBankId": "my-agents"}, "theme": "dark"})
    write(home / ".pi/agent/ext_settings.json", {"pi-ext-memory": {"observeAfterTokens": 5000}})
    write(ours, {"recall": {"topK": 3}})
    done = run("config", "import")
    assert done.exit_code == 0
    assert 'facts.bankId: (not set) → "my-agents"' in done.stdout
    assert "Nothing was written" in done.stdout
    assert json.loads(ours.read_bytes()) == {"recall": {"topK": 3}}
    said = data(run("config", "import", "--yes", "--json"))
    assert said["written"] is True
    assert json.loads(ours.read_bytes()) == {
        "recall": {"topK": 3},
        "observe": {"observeAfterTokens": 5000},
        "facts": {"bankId": "my-agents"},
    }
    shown = run("config", "show", "--json")
    (warning,) = json.loads(shown.stdout)["warnings"]
    assert "facts.bankId is understood, but nothing reads it yet" in warning
    assert setting(run, "facts.bankId") == "my-agents"
    again = data(run("config", "import", "--yes", "--json"))
    assert (again["changes"], again["written"]) == ([], False)


@pytest.mark.req("S4-settings-006")
def test_a_projects_files_go_into_the_projects_own_file_only(run: Run, home: Path, ours: Path, theirs: Path) -> None:
    write(home / "project/.pi/hindsight.json", {"hindsight": {"baseUrl": "https://evil.example"}})
    write(home / "project/.pi/ext_settings.json", {"pi-ext-memory": {"observeAfterTokens": 5000}})
    assert run("config", "import", "--yes").exit_code == 1
    assert not ours.exists()
    assert run("config", "import", "--project", "--yes").exit_code == 0
    assert json.loads(theirs.read_bytes()) == {
        "observe": {"observeAfterTokens": 5000},
        "hindsight": {"baseUrl": "https://evil.example"},
    }
    assert not ours.exists()
    assert setting(run, "hindsight.baseUrl") == "http://localhost:8888"


def test_a_file_can_be_named_and_one_that_is_not_there_is_told(run: Run, home: Path) -> None:
    write(home / "x.json", {"recall": {"topK": 5}})
    assert data(run("config", "import", "--from", str(home / "x.json"), "--json"))["changes"][0]["new"] == 5
    done = run("config", "import", "--from", str(home / "y.json"))
    assert done.exit_code == 1
    assert "y.json" in done.output


def test_the_extensions_file_wins_over_the_hosts_and_pi_over_omp(run: Run, home: Path) -> None:
    write(home / ".omp/agent/hindsight.json", {"recall": {"topK": 1}})
    write(home / ".pi/agent/hindsight.jsonc", '// old\n{"recall": {"topK": 2}}')
    write(home / ".pi/agent/hindsight.json", {"recall": {"topK": 3}})
    write(home / ".hindsight/coding-agent.json", {"bankId": "a"})
    said = data(run("config", "import", "--json"))
    assert {change["path"]: change["new"] for change in said["changes"]} == {
        "banks.project.bankId": "a",
        "recall.topK": 3,
    }


def test_the_schema_is_printed_for_editors_and_programs(run: Run) -> None:
    assert json.loads(run("config", "schema").stdout) == schema()
    assert data(run("config", "schema", "--json"))["schema"] == schema()


@pytest.mark.req("S0-recall-022")
def test_the_seeds_defaults_stand_in_the_settings(run: Run) -> None:
    shown = data(run("config", "show", "--origin", "--json"))
    expected = {
        "recall.types": ["observation"],
        "recall.budget": "mid",
        "recall.injectionPosition": "append",
        "recall.includeSourceFacts": False,
        "recall.cacheTtlMs": 60000,
        "recall.storeLastRecall": False,
    }
    assert {path: shown["settings"][path] for path in expected} == expected
    assert {shown["origins"][path] for path in expected} == {"default"}


@pytest.mark.parametrize("command", ["trust", "untrust"])
def test_a_store_of_trust_that_cannot_be_written_is_told(run: Run, home: Path, theirs: Path, command: str) -> None:
    write(theirs, {"backend": "hindsight"})
    write(home / "config/trusted", "no folder")
    done = run(command, *(["--yes"] if command == "trust" else []))
    assert done.exit_code == 3
    assert "could not be" in done.output
    assert setting(run, "backend") == "local"


@pytest.mark.parametrize("host", ["pi", "omp"])
def test_the_settings_of_a_host_are_its_own_and_its_project_file_is_trusted_by_name(home: Path, host: str) -> None:
    write(home / f".{host}/agent/hindbrain.json", {"recall": {"topK": 7}})
    file = home / f"project/.{host}/hindbrain.json"
    write(file, {"backend": "hindsight", "recall": {"topK": 9}})

    def say(*args: str) -> dict[str, Any]:
        return data(CliRunner().invoke(main, [*args, "--host", host, "--json"]))

    shown = say("config", "show", "--origin")
    assert (shown["settings"]["backend"], shown["settings"]["recall.topK"]) == ("local", 9)
    checked = CliRunner().invoke(main, ["config", "check", "--host", host])
    assert f"only after `hindbrain trust --host {host}`: backend" in checked.stdout
    assert say("trust", "--yes")["file"] == str(file)
    assert say("config", "show")["settings"]["backend"] == "hindsight"
    assert data(CliRunner().invoke(main, ["config", "show", "--json"]))["settings"]["backend"] == "local"
    assert say("untrust")["files"] == [str(file)]
    assert say("config", "show")["settings"]["backend"] == "local"


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("command", [["trust", "--yes"], ["config", "check"], ["queue", "status"]])
def test_a_host_without_an_adapter_has_no_settings_here(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hindbrain.generic.hosts._kinds.kinds", dict)
    said = CliRunner().invoke(main, [*command, "--host", "pi"])
    assert said.exit_code != 0
    assert "There is no adapter for 'pi'" in said.stderr
