"""The project: its identity and how it was found, the banks, and the filters as they will be sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hindbrain.contracts import TagAnd, TagGroup, TagLeaf, TagNot, TagOr
from hindbrain.generic._doctor._case import Case
from hindbrain.generic._doctor._finding import Finding, ok, problem, warning
from hindbrain.memory import (
    BankEntry,
    Project,
    bank_of,
    observation_scopes,
    project_bank,
    recall_scopes,
    retain_banks,
    retain_tags,
)

_HOW = {
    "pin": "pinned by scope.projectId",
    "remote": "named after the git remote",
    "basename": "named after the folder",
}


def identity(case: Case) -> Iterator[Finding]:
    """Everything that follows from which project this is."""
    project = case.project
    if project is None:
        return
    text = f"{project.id} ({_HOW[project.how]}), root {project.root}"
    data = {"id": project.id, "how": project.how, "root": project.root, "cwd": case.cwd, "host": case.host}
    yield ok("project", text, **data, repo_key=project.repo_key)
    yield from _banks(case, project)
    yield from _scopes(case, project)
    tags = retain_tags(case.tag, project, "<sessionId>")
    yield ok("tags", ", ".join(tags), tags=list(tags))
    yield from _observations(case, project)


def _banks(case: Case, project: Project) -> Iterator[Finding]:
    used = {entry.is_user for entry in case.config.banks if entry.enabled}
    profile = {(False,): "project only", (True,): "user only", (False, True): "project and user"}.get(
        tuple(sorted(used)), "none"
    )
    if used:
        yield ok("profile", profile, profile=profile)
    else:
        yield warning("profile", "No bank is used.", "Enable one: banks.project.enabled or banks.user.enabled.")
    for entry in case.config.banks:
        bank = bank_of(entry, case.config, project)
        said = "given by the project's identity" if entry.id is None else f"named by {_origin(case, entry)}"
        state = f"{entry.access}, retain {entry.retain_mode}" if entry.enabled else "not used"
        data = {"bank": bank, "role": entry.role, "enabled": entry.enabled, "access": str(entry.access)}
        yield ok("banks", f"{bank}: {entry.role}, {state}, {said}", **data, retain_mode=str(entry.retain_mode))
    always = retain_banks(case.config, project)
    if not always and case.config.enabled and case.config.retain.enabled:
        yield warning("banks", "No bank takes every turn: nothing is retained by itself.", "See banks and retain.mode.")


def _origin(case: Case, entry: BankEntry) -> str:
    """The layer that names the bank: a slot's own word, or the list."""
    values = case.settings.values
    slot = values["banks.user.bankId" if entry.is_user else "banks.project.bankId"]
    return slot.origin if slot.value == entry.id else values["banks"].origin


def _scopes(case: Case, project: Project) -> Iterator[Finding]:
    scopes = recall_scopes(case.config, project, case.tag)
    for scope in scopes:
        groups = [_shown(group) for group in scope.filter]
        told = json.dumps(groups, ensure_ascii=False) if groups else "no tag filter"
        yield ok("scopes", f"{scope.bank} ({scope.kind}): {told}", bank=scope.bank, kind=scope.kind, tag_groups=groups)
    if not scopes:
        yield warning("scopes", "No bank is read: nothing is recalled.", "See banks and their access.")


def _shown(group: TagGroup) -> dict[str, Any]:
    """A tag group as a server is sent it."""
    match group:
        case TagLeaf():
            return {"tags": list(group.tags), "match": group.match.value}
        case TagAnd():
            return {"and": [_shown(each) for each in group.groups]}
        case TagOr():
            return {"or": [_shown(each) for each in group.groups]}
        case TagNot():
            return {"not": _shown(group.group)}


def _observations(case: Case, project: Project) -> Iterator[Finding]:
    """The observation scopes as a turn's job would carry them; the session's own id is left as its placeholder."""
    bank = project_bank(case.config, project)
    scopes = observation_scopes(case.config, project, host=case.tag, session="<sessionId>", bank=bank)
    advice = "Mend observations.scopes; `hindbrain config show --origin` says which file sets it."
    yield from (problem("observations", text, advice) for text in scopes.problems)
    if scopes.rows is None:
        yield ok("observations", "jobs name no observation scopes; the server chooses")
    else:
        rows = [list(row) for row in scopes.rows]
        yield ok("observations", json.dumps(rows, ensure_ascii=False), scopes=rows)
