"""Installing a shim: what is written where, and what is left alone."""

from __future__ import annotations

import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from click.testing import CliRunner

from hindbrain.generic._cli import main
from hindbrain.generic.hosts import (
    ForeignFolderError,
    HostKind,
    Placed,
    _kinds,
    install,
    shim_files,
    survey,
    uninstall,
)
from hindbrain.generic.hosts._place import PlaceError


@pytest.fixture
def kind(tmp_path: Path) -> HostKind:
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist/index.ts").write_text("import './core.ts'\n")
    (tmp_path / "dist/core.ts").write_text("export {}\n")
    return HostKind(
        name="omp",
        version="1.2.3",
        module="hindbrain.omp",
        shim=tmp_path / "dist/index.ts",
        core=tmp_path / "dist/core.ts",
        protocol=1,
        home=".omp/agent",
        profiles=("OMP_PROFILE", ".omp/profiles"),
        manifest="omp",
        settings="config.yml",
        trial_settings=lambda url, model: {"config.yml": f"{url} {model}"},
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "agent/extensions/hindbrain"


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


def test_what_is_installed_is_whole_and_says_whose_it_is(kind: HostKind, folder: Path) -> None:
    assert install(folder, shim_files(kind, "/venv/bin/python")) is Placed.NEW
    assert names(folder) == {"index.ts", "core.ts", "shim.json", "package.json"}
    command = {"command": ["/venv/bin/python", "-I", "-m", "hindbrain.omp"], "version": "1.2.3", "protocol": 1}
    assert json.loads((folder / "shim.json").read_text()) == command
    package = json.loads((folder / "package.json").read_text())
    assert (package["name"], package["omp"]) == ("hindbrain-omp", {"extensions": ["./index.ts"]})
    assert names(folder.parent.parent) == {"extensions"}


def test_installing_again_changes_nothing_and_another_version_replaces(kind: HostKind, folder: Path) -> None:
    files = shim_files(kind, "python")
    install(folder, files)
    before = folder.stat().st_ino
    assert install(folder, files) is Placed.SAME
    assert folder.stat().st_ino == before
    (folder / "left-over.ts").write_text("old")
    assert install(folder, shim_files(evolve(kind, version="2"), "python")) is Placed.REPLACED
    assert "left-over.ts" not in names(folder)
    assert names(folder.parent.parent) == {"extensions"}


def test_a_dry_run_writes_nothing(kind: HostKind, folder: Path) -> None:
    assert install(folder, shim_files(kind, "python"), dry_run=True) is Placed.NEW
    assert not folder.parent.exists()
    install(folder, shim_files(kind, "python"))
    assert uninstall(folder, dry_run=True) is Placed.REMOVED
    assert folder.exists()


def test_uninstalling_takes_our_folder_only(kind: HostKind, folder: Path) -> None:
    assert uninstall(folder) is Placed.ABSENT
    install(folder, shim_files(kind, "python"))
    (folder.parent / "other.ts").write_text("theirs")
    assert uninstall(folder) is Placed.REMOVED
    assert names(folder.parent) == {"other.ts"}


@pytest.mark.parametrize("marker", [None, "{", "[]", '{"name": "somebody"}'])
def test_a_folder_that_is_not_ours_is_left_alone(kind: HostKind, folder: Path, marker: str | None) -> None:
    folder.mkdir(parents=True)
    if marker is not None:
        (folder / "package.json").write_text(marker)
    with pytest.raises(ForeignFolderError):
        install(folder, shim_files(kind, "python"))
    with pytest.raises(ForeignFolderError):
        uninstall(folder)
    assert names(folder) == ({"package.json"} if marker is not None else set())


def test_a_link_is_left_alone_wherever_it_leads(kind: HostKind, folder: Path, tmp_path: Path) -> None:
    ours = tmp_path / "elsewhere/extensions/hindbrain"
    install(ours, shim_files(kind, "python"))
    folder.parent.mkdir(parents=True)
    folder.symlink_to(ours)
    with pytest.raises(ForeignFolderError):
        install(folder, shim_files(kind, "python"))
    with pytest.raises(ForeignFolderError):
        uninstall(folder)
    assert len(names(ours)) == 4


def test_a_folder_that_cannot_be_written_says_so(kind: HostKind, folder: Path) -> None:
    folder.parent.parent.mkdir()
    folder.parent.write_text("a file where a folder belongs")
    with pytest.raises(PlaceError):
        install(folder, shim_files(kind, "python"))


def test_a_disk_that_refuses_leaves_the_old_shim(kind: HostKind, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(folder, shim_files(kind, "python"))
    real = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise OSError(28, "full")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(PlaceError):
        install(folder, shim_files(evolve(kind, version="2"), "python"))
    assert json.loads((folder / "package.json").read_text())["version"] == "1.2.3"
    assert names(folder.parent.parent) == {"extensions"}


def test_the_survey_names_what_is_in_the_way(kind: HostKind, folder: Path) -> None:
    install(folder, shim_files(kind, sys.executable))
    assert survey(kind, folder).problems == ()
    (folder.parent / "pi-hindsight").mkdir()
    install(folder, shim_files(evolve(kind, version="0.9"), "/gone/python"))
    problems = " ".join(survey(kind, folder).problems)
    assert all(word in problems for word in ("0.9", "/gone/python", "pi-hindsight"))
    (folder / "shim.json").write_text("{")
    assert "shim.json" in " ".join(survey(kind, folder).problems)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("memory:\n  backend: hindsight\n", "hindsight"),
        ("a: 1\nmemory:\n  # words\n  autosave: true\n  backend: 'local'\nother:\n  backend: x\n", "local"),
        ("memory.backend: mnemopi\n", "mnemopi"),
        ("memory: {backend: local}\n", "local"),
        ("memory:\n  backend: off\n", None),
        ("other:\n  backend: local\n", None),
        ("\x00\xff", None),
    ],
)
def test_the_hosts_own_memory_is_noticed(
    kind: HostKind, folder: Path, tmp_path: Path, text: str, told: str | None
) -> None:
    settings = tmp_path / "config.yml"
    settings.write_text(text, encoding="utf-8")
    problems = " ".join(survey(kind, folder, settings=settings).problems)
    assert (f"backend: {told}" in problems) if told else problems == ""


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "home/.omp/agent"),
        ({"OMP_PROFILE": "work"}, "home/.omp/profiles/work/agent"),
        ({"OMP_PROFILE": "work", "PI_CODING_AGENT_DIR": "/elsewhere"}, "/elsewhere"),
    ],
)
def test_the_hosts_folder_is_where_the_host_looks(kind: HostKind, environ: dict[str, str], expected: str) -> None:
    assert kind.agent_dir(environ, Path("home")) == Path(expected)


@pytest.fixture
def run(kind: HostKind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command, with one host and a home of its own."""

    class Point(EntryPoint):
        def load(self) -> HostKind:
            return kind

    monkeypatch.setattr(_kinds, "entry_points", lambda group: [Point("omp", "x:y", group)])
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    (tmp_path / "project/.git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    for name in ("PI_CODING_AGENT_DIR", "OMP_PROFILE"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str) -> tuple[int, dict[str, Any]]:
        done = CliRunner().invoke(main, [*arguments, "--json", "--data-dir", str(tmp_path / "data")])
        return done.exit_code, json.loads(done.stdout) if done.stdout else {}

    return call


def test_the_commands_install_show_and_take_away(run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "home/.omp/agent/extensions/hindbrain"
    assert run("hosts")[1]["data"]["hosts"][0]["version"] is None
    code, told = run("install", "omp")
    assert (code, told["data"]["result"], Path(told["data"]["folder"])) == (0, "installed", folder)
    code, told = run("hosts")
    assert (code, told["data"]["hosts"][0]["version"]) == (0, "1.2.3")
    assert run("uninstall", "omp")[1]["data"]["result"] == "removed"
    assert not folder.exists()


def test_a_project_has_a_folder_of_its_own(run: Any, tmp_path: Path) -> None:
    _, told = run("install", "omp", "--project")
    assert Path(told["data"]["folder"]) == tmp_path / "project/.omp/extensions/hindbrain"


def test_a_path_can_be_printed_for_a_host_that_is_told_by_hand(run: Any, tmp_path: Path) -> None:
    _, told = run("install", "omp", "--print-path")
    assert (Path(told["data"]["folder"]) / "index.ts").is_file()
    assert not (tmp_path / "home").exists()
    assert run("install", "omp", "--print-path", "--project")[0] == 2


def test_a_host_without_an_adapter_is_named(run: Any) -> None:
    code, told = run("install", "emacs")
    assert (code, told["error"]["code"]) == (3, "no-such-host")
    assert "omp" in told["error"]["next"]
