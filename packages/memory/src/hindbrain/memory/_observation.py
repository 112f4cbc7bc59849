"""Which observations a server is asked to make: rows of tags with placeholders, expanded for one job.

Source: seed 000, "Observation scopes"; spec/memory.md section 2.6. What happens to a faulty row is ours: it is left out
and told, and where no row is left the default ones stand, since a turn must not be lost, nor its observation widened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from attrs import frozen

from hindbrain.contracts import BackendRequestError, TagsMatch, check_tags, scrub
from hindbrain.memory._config import MemoryConfig
from hindbrain.memory._identity import Project, short_hash
from hindbrain.memory._scope import project_bank

PLACEHOLDERS = ("projectId", "repoKey", "sessionId", "cwdHash", "projectBankId", "bankId")
"""The names that may stand in braces. ``bankId`` is the bank a job goes to, ``projectBankId`` the project's own."""

Rows = tuple[tuple[str, ...], ...]

_BRACED = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_]{1,24}")
"""A name in braces that is repeated to the user: without digits, so that no key is."""


@frozen(kw_only=True)
class ObservationScopes:
    """The rows a job carries, each once, and what is wrong with those that were left out.

    ``rows`` None leaves the choice to the server: a job never carries an empty list, which a server takes for one tag
    set of everything.
    """

    rows: Rows | None = None
    problems: tuple[str, ...] = ()


def _braced(name: str) -> str:
    return f"{{{scrub(name)}}}" if _NAME.fullmatch(name) else "a brace that names none"


def _fault(row: tuple[str, ...]) -> str | None:
    """What is wrong with a row as it is written, or None."""
    for tag in row:
        unknown = next((name for name in _BRACED.findall(tag) if name not in PLACEHOLDERS), None)
        if unknown is None and re.search(r"[{}]", _BRACED.sub("", tag)):
            unknown = ""
        if unknown is not None:
            known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            return f"{_braced(unknown)} is no placeholder; there are {known}"
    return None


def _expanded(row: tuple[str, ...], values: Mapping[str, str]) -> tuple[str, ...] | None:
    """The row's tags, or None where they are not what a tag may be."""
    tags = [scrub(_BRACED.sub(lambda found: values[found[1]], tag)).strip() for tag in row]
    try:
        return check_tags(tags, TagsMatch.ANY_STRICT)
    except BackendRequestError:
        return None


def expand(rows: Iterable[tuple[str, ...]], values: Mapping[str, str]) -> ObservationScopes:
    """Put values in place of the placeholders.

    Args:
        rows: lists of tags.
        values: what each of ``PLACEHOLDERS`` stands for.

    Returns:
        The rows that can be used, in order, and one sentence for each other one, without its tags.
    """
    good: dict[tuple[str, ...], None] = {}
    problems: list[str] = []
    for number, row in enumerate(rows):
        fault = _fault(row)
        tags = None if fault else _expanded(row, values)
        if tags is None:
            fault = fault or "it is empty, or one of its tags is blank or holds a control character"
            problems.append(f"observations.scopes[{number}] was left out: {fault}.")
        else:
            good[tags] = None
    return ObservationScopes(rows=tuple(good) or None, problems=tuple(problems))


def observation_scopes(
    config: MemoryConfig, project: Project, *, host: str, session: str, bank: str
) -> ObservationScopes:
    """The scopes of a job that is made now; they stay with it, whatever the settings say when it is sent.

    Args:
        config: the memory path's settings.
        project: the project's identity.
        host: the host's name, of the default row ``harness:<host>``.
        session: the session's key.
        bank: where the job goes.
    """
    if not config.observations.enabled:
        return ObservationScopes()
    values = dict(
        zip(
            PLACEHOLDERS,
            (project.id, project.repo_key, session, short_hash(project.cwd), project_bank(config, project), bank),
            strict=True,
        )
    )
    default = ((f"harness:{host}",), ("project:{projectId}",))
    wanted = config.observations.scopes
    found = expand(default if wanted is None else wanted, values)
    return ObservationScopes(rows=expand(default, values).rows, problems=found.problems) if _spoilt(found) else found


def _spoilt(found: ObservationScopes) -> bool:
    return found.rows is None and bool(found.problems)
