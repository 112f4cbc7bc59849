from __future__ import annotations

from hindbrain.contracts import TagLeaf, TagsMatch
from hindbrain.contracts.testing import planted_secrets
from hindbrain.memory import Checkout, MemoryConfig, ScopeConfig, identify, recall_scopes, retain_tags

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))


def test_the_full_tag_set_in_the_upstream_order() -> None:
    assert retain_tags("pi", PROJECT, "29e67821bedc391a", ("topic:db", "project:acme")) == (
        "source:pi",
        "harness:pi",
        "project:acme",
        "repo:repo-816fc349d3fa",
        "session:29e67821bedc391a",
        "topic:db",
    )


def test_a_secret_in_a_users_tag_is_not_written() -> None:
    for secret in planted_secrets():
        assert not any(secret.core in tag for tag in retain_tags("pi", PROJECT, None, (secret.text,)))


def test_project_recall_asks_for_the_project_and_the_legacy_repo_tag_only() -> None:
    (scope,) = recall_scopes(MemoryConfig(project_bank="proj-a"), PROJECT, "pi")
    assert scope.bank == "proj-a"
    assert scope.filter == (TagLeaf(("project:acme", "repo:repo-816fc349d3fa"), TagsMatch.ANY_STRICT),)


def test_without_a_configured_bank_the_project_has_its_own() -> None:
    (scope,) = recall_scopes(MemoryConfig(), PROJECT, "pi")
    assert scope.bank == "pi-project-repo-816fc349d3fa"


def test_the_unsuffixed_tag_is_asked_for_only_on_request() -> None:
    project = identify(Checkout(cwd="/w", root="/w", remote="https://github.com/a/b-c"), ScopeConfig())
    config = MemoryConfig(scope=ScopeConfig(legacy_tags=True))
    (plain,) = recall_scopes(MemoryConfig(), project, "pi")
    (legacy,) = recall_scopes(config, project, "pi")
    assert isinstance(plain.filter[0], TagLeaf)
    assert isinstance(legacy.filter[0], TagLeaf)
    assert "project:github-com-a-b-c" not in plain.filter[0].tags
    assert "project:github-com-a-b-c" in legacy.filter[0].tags


def test_user_recall_finds_what_any_host_retained_for_the_user() -> None:
    _, user = recall_scopes(MemoryConfig(user_bank="user-a"), PROJECT, "omp")
    assert user.filter == (
        TagLeaf(
            ("source:omp", "harness:omp", "source:pi", "harness:pi", "source:cli", "harness:cli"), TagsMatch.ANY_STRICT
        ),
    )


def test_user_recall_of_one_host_alone() -> None:
    config = MemoryConfig(user_bank="user-a", scope=ScopeConfig(share_hosts=False))
    assert recall_scopes(config, PROJECT, "pi")[1].filter == (
        TagLeaf(("source:pi", "harness:pi"), TagsMatch.ANY_STRICT),
    )


def test_an_empty_list_of_user_tags_drops_the_filter() -> None:
    config = MemoryConfig(user_bank="user-a", scope=ScopeConfig(user_scope_tags=()))
    assert recall_scopes(config, PROJECT, "pi")[1].filter == ()
