from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hindbrain.memory import NoProjectError, ScopeConfig, identify, read_checkout


def git(cwd: Path, *args: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *args], cwd=cwd, check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "main"
    root.mkdir()
    git(root, "init")
    git(root, "commit", "--allow-empty", "-m", "first")
    git(root, "remote", "add", "origin", "https://github.com/luxus/finalform.git")
    return root


def test_a_sub_directory_belongs_to_the_checkouts_root(repo: Path) -> None:
    (repo / "a" / "b").mkdir(parents=True)
    checkout = read_checkout(str(repo / "a" / "b"))
    assert Path(checkout.root) == repo.resolve()
    assert checkout.remote == "https://github.com/luxus/finalform.git"


def test_a_linked_worktree_is_the_main_checkouts_project(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", str(tmp_path / "linked"), "-b", "other")
    assert read_checkout(str(tmp_path / "linked")).root == str(repo.resolve())


@pytest.mark.req("S0-scopes-003")
def test_two_clones_of_one_remote_are_one_project(tmp_path: Path) -> None:
    ways = {"one": "git@github.com:luxus/finalform.git", "two": "https://tok:x@github.com/luxus/finalform"}
    for folder, remote in ways.items():
        (tmp_path / folder).mkdir()
        git(tmp_path / folder, "init")
        git(tmp_path / folder, "remote", "add", "origin", remote)
    found = [identify(read_checkout(str(tmp_path / folder)), ScopeConfig()) for folder in ways]
    assert {project.id for project in found} == {"github-com-luxus-finalform"}
    pinned = [identify(read_checkout(str(tmp_path / folder)), ScopeConfig(project_id="acme")) for folder in ways]
    assert {project.id for project in pinned} == {"acme"}
    by_name = ScopeConfig(project_id_strategy="basename")
    assert [identify(read_checkout(str(tmp_path / folder)), by_name).id for folder in ways] == ["one", "two"]


def test_a_submodule_is_a_project_of_its_own_and_a_bare_repository_its_own_root(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--bare", str(repo), "bare.git")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", str(tmp_path / "bare.git"), "sub")
    assert read_checkout(str(repo / "sub")).root == str((repo / "sub").resolve())
    assert read_checkout(str(tmp_path / "bare.git")).root == str((tmp_path / "bare.git").resolve())


def test_variables_that_name_another_repository_are_not_listened_to(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init")
    monkeypatch.setenv("GIT_DIR", str(repo / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(repo))
    checkout = read_checkout(str(other))
    assert (checkout.root, checkout.remote) == (str(other.resolve()), None)


def test_a_directory_without_git_is_its_own_root(tmp_path: Path) -> None:
    checkout = read_checkout(str(tmp_path))
    assert (checkout.root, checkout.remote) == (str(tmp_path.resolve()), None)


def test_a_directory_that_is_gone_still_has_an_identity(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    assert read_checkout(str(gone)).root == str(gone)


def test_the_root_of_the_file_system_is_no_project() -> None:
    with pytest.raises(NoProjectError, match="no project"):
        read_checkout("/")


def test_the_home_directory_is_no_project(tmp_path: Path) -> None:
    with pytest.raises(NoProjectError):
        read_checkout(str(tmp_path), home=str(tmp_path))


def test_a_machine_without_git_falls_back_to_the_folder(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    (repo / "deep").mkdir()
    checkout = read_checkout(str(repo / "deep"))
    assert (checkout.root, checkout.remote) == (str(repo.resolve()), None)


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "loop", "file/below"])
def test_a_directory_that_cannot_be_looked_at_is_its_own_root(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()
    checkout = read_checkout(str(tmp_path / name))
    assert checkout.root == str(tmp_path / name)
    assert checkout.remote is None
