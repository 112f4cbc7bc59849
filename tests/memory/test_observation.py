"""The tag sets observations are made for, expanded when a job is made."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import Coverage, Entry, Message, RetainItem, TextPart
from hindbrain.contracts.testing import planted_secrets
from hindbrain.memory import (
    PLACEHOLDERS,
    BankEntry,
    Checkout,
    MemoryConfig,
    ObservationConfig,
    ObservationScopes,
    ScopeConfig,
    SessionIdentity,
    build_job,
    explicit_item,
    identify,
    observation_scopes,
    session_key,
)

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
KEY = session_key("/tmp/session.jsonl")
SESSION = SessionIdentity(host="pi", key=KEY, lineage="s1", label="session.jsonl", origin="local")
DEFAULT = (("harness:pi",), ("project:acme",))


def config(*rows: tuple[str, ...], enabled: bool = True) -> MemoryConfig:
    return MemoryConfig(
        banks=(BankEntry(id="proj-a"), BankEntry(id="user-a", role="user")),
        observations=ObservationConfig(enabled=enabled, scopes=rows),
    )


def expanded(*rows: tuple[str, ...], bank: str = "proj-a") -> ObservationScopes:
    return observation_scopes(config(*rows), PROJECT, host="pi", session=KEY, bank=bank)


@pytest.mark.parametrize(
    ("written", "bank", "meant"),
    [
        pytest.param("repo:{repoKey}", "proj-a", "repo:repo-816fc349d3fa", marks=pytest.mark.req("S0-scopes-023")),
        pytest.param("session:{sessionId}", "proj-a", f"session:{KEY}", marks=pytest.mark.req("S0-scopes-024")),
        pytest.param("cwd:{cwdHash}", "proj-a", "cwd:816fc349d3fa", marks=pytest.mark.req("S0-scopes-025")),
        pytest.param("bank:{projectBankId}", "proj-a", "bank:proj-a", marks=pytest.mark.req("S0-scopes-026")),
        pytest.param("bank:{projectBankId}", "user-a", "bank:proj-a", marks=pytest.mark.req("S0-scopes-026")),
        pytest.param("bank:{bankId}", "user-a", "bank:user-a", marks=pytest.mark.req("S0-scopes-027")),
        pytest.param("bank:{bankId}", "archive-1", "bank:archive-1", marks=pytest.mark.req("S0-scopes-028")),
        pytest.param("project:{projectId}", "proj-a", "project:acme", marks=pytest.mark.req("S0-scopes-029")),
        pytest.param("{projectId}/{bankId}", "b", "acme/b", marks=pytest.mark.req("S0-scopes-029")),
    ],
)
def test_each_placeholder_stands_for_its_value(written: str, bank: str, meant: str) -> None:
    assert expanded((written,), bank=bank) == ObservationScopes(rows=((meant,),))


def test_the_hash_of_the_working_directory_is_that_of_its_name_as_the_host_gave_it() -> None:
    project = identify(Checkout(cwd="/repo/sub/../sub", root="/repo"), ScopeConfig())
    found = observation_scopes(config(("cwd:{cwdHash}",)), project, host="pi", session=KEY, bank="b")
    assert found.rows == ((f"cwd:{hashlib.sha256(b'/repo/sub/../sub').hexdigest()[:12]}",),)


@pytest.mark.req("S0-scopes-029")
@pytest.mark.parametrize("bad", ["b:{RepoKey}", "{nope}", "{}", "{repoKey", "repoKey}", "{{repoKey}}", "{ repoKey }"])
def test_a_brace_that_is_no_placeholder_costs_its_row_and_never_stands_in_a_tag(bad: str) -> None:
    found = expanded(("a:{repoKey}", bad), ("kept",))
    assert found.rows == (("kept",),)
    (problem,) = found.problems
    assert problem.startswith("observations.scopes[0] was left out: ")
    assert all(f"{{{name}}}" in problem for name in PLACEHOLDERS)


@pytest.mark.req("S0-scopes-029")
def test_the_name_that_is_none_is_told() -> None:
    assert "{RepoKey} is no placeholder" in expanded(("b:{RepoKey}",)).problems[0]


@pytest.mark.parametrize("bad", [(), ("",), (" ",), ("a", "\t"), ("a\x00b",), ("a\nb",)])
def test_an_empty_row_and_a_blank_tag_cost_their_row(bad: tuple[str, ...]) -> None:
    found = expanded(bad, ("kept",))
    assert found.rows == (("kept",),)
    assert len(found.problems) == 1


def test_a_row_that_comes_to_the_same_tags_counts_once() -> None:
    assert expanded(("a", "repo:{repoKey}"), ("a", "repo:repo-816fc349d3fa"), (" a ",), ("a",)).rows == (
        ("a", "repo:repo-816fc349d3fa"),
        ("a",),
    )


def test_where_no_row_can_be_used_the_default_stands_and_the_faults_are_told() -> None:
    found = expanded(("{nope}",), (" ",))
    assert found.rows == DEFAULT
    assert len(found.problems) == 2


@pytest.mark.req("S0-scopes-007")
@pytest.mark.parametrize("host", ["pi", "omp"])
def test_by_default_observations_are_made_for_the_host_and_for_the_project(host: str) -> None:
    found = observation_scopes(MemoryConfig(), PROJECT, host=host, session=KEY, bank="b")
    assert found == ObservationScopes(rows=((f"harness:{host}",), ("project:acme",)))


def test_switched_off_or_without_a_row_a_job_names_no_scopes() -> None:
    off = config(("a",), enabled=False)
    assert observation_scopes(off, PROJECT, host="pi", session=KEY, bank="b") == ObservationScopes()
    assert expanded() == ObservationScopes()


def test_a_secret_in_a_tag_is_not_written() -> None:
    for secret in planted_secrets():
        found = expanded((secret.text.replace("{", "").replace("}", ""),), ("{" + secret.core + "}",))
        assert secret.core not in repr(found)


@given(st.lists(st.lists(st.text(max_size=12), max_size=3), max_size=4))
def test_whatever_is_written_a_job_can_be_made_of_it(rows: list[list[str]]) -> None:
    found = expanded(*map(tuple, rows))
    RetainItem(content="x", document_id="d", observation_scopes=found.rows)
    assert not any(c in tag for row in found.rows or () for tag in row for c in "{}")
    assert len(found.problems) <= len(rows)


@pytest.mark.req("S0-scopes-027", "S0-scopes-030")
def test_an_explicit_retain_names_the_bank_it_goes_to() -> None:
    item = explicit_item("Deploy on Fridays", config(("bank:{bankId}",)), SESSION, PROJECT, bank="team-x")
    assert item.observation_scopes == (("bank:team-x",),)


def test_a_turns_job_carries_its_scopes_expanded() -> None:
    entry = Entry(id="a", parent_id=None, kind="message", message=Message(role="user", parts=(TextPart("hello"),)))
    covers = Coverage(lineage="s1", bank="user-a", first_id="a", last_id="a", chain="c")
    for settings, rows in ((config(("bank:{bankId}",)), (("bank:user-a",),)), (config(enabled=False), None)):
        job = build_job((entry,), settings, SESSION, PROJECT, covers=covers, now="2026-01-02T03:04:05.000Z")
        assert job is not None
        assert job.item.observation_scopes == rows
