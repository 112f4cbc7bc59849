from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.memory import Checkout, ScopeConfig, identify, session_key
from hindbrain.memory._identity import normalise_remote, unique_slug, upstream_slug


@pytest.mark.parametrize(
    "remote",
    [
        "git@github.com:luxus/finalform.git",
        "https://github.com/luxus/finalform",
        "https://tok:x@github.com/luxus/finalform.git",
        "ssh://git@github.com/luxus/finalform.git",
        "https://github.com/luxus/finalform/",
        "git://github.com/luxus//finalform.git",
        "  https://GitHub.com/luxus/finalform.git/ ",
    ],
)
def test_every_way_to_clone_is_one_project(remote: str) -> None:
    project = identify(Checkout(cwd="/w/one", root="/w/one", remote=remote), ScopeConfig())
    assert project.id == "github-com-luxus-finalform"
    assert project.how == "remote"


def test_a_remote_never_carries_its_credentials_into_the_identity() -> None:
    project = identify(Checkout(cwd="/w", root="/w", remote="https://user:hunter2@h.example.com/a/b"), ScopeConfig())
    assert "hunter2" not in project.id
    assert "user" not in project.id


def test_two_remotes_with_one_upstream_slug_get_two_identities() -> None:
    a, b = (
        identify(Checkout(cwd="/w", root="/w", remote=f"https://github.com/{path}"), ScopeConfig())
        for path in ("luxus/final-form", "luxus-final/form")
    )
    assert a.legacy_id == b.legacy_id == "github-com-luxus-final-form"
    assert a.id != b.id


def test_a_slug_that_was_cut_keeps_a_hash_of_the_whole() -> None:
    long = "x" * 60
    assert upstream_slug(long) == "x" * 48
    assert unique_slug(long) != unique_slug(long + "y")
    assert unique_slug(long).startswith("x" * 48 + "-")


@given(st.text(alphabet=string.ascii_lowercase + string.digits + "-./_é ", max_size=70), st.data())
def test_different_names_never_share_an_identity(name: str, data: st.DataObject) -> None:
    other = data.draw(st.text(alphabet=string.ascii_lowercase + string.digits + "-./_é ", max_size=70))
    same = unique_slug(name) == unique_slug(other)
    assert same == (name.lower() == other.lower()) or "." in name + other


def test_the_pin_wins_over_remote_and_folder() -> None:
    checkout = Checkout(cwd="/w/one", root="/w/one", remote="https://github.com/a/b")
    project = identify(checkout, ScopeConfig(project_id=" acme "))
    assert (project.id, project.how) == ("acme", "pin")


def test_without_a_remote_the_folder_names_the_project() -> None:
    project = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig())
    assert (project.id, project.how) == ("repo", "basename")
    assert project.repo_key == "repo-816fc349d3fa"


def test_the_basename_strategy_ignores_the_remote() -> None:
    checkout = Checkout(cwd="/w/tool", root="/w/tool", remote="https://github.com/a/b")
    assert identify(checkout, ScopeConfig(project_id_strategy="basename")).id == "tool"


def test_the_session_key_is_that_of_the_session_files_path() -> None:
    assert session_key("/tmp/session.jsonl") == "29e67821bedc391a"


@pytest.mark.parametrize("text", ["", "   ", "https://", ".git"])
def test_an_empty_remote_falls_back_to_the_folder(text: str) -> None:
    assert normalise_remote(text) == ""
    assert identify(Checkout(cwd="/w/tool", root="/w/tool", remote=text), ScopeConfig()).how == "basename"
