"""Tags that are written, and the tag filters that recall asks with.

Source: spec/memory.md sections 2.4 and 2.5; sharing between hosts is ours (decisions.md).
"""

from __future__ import annotations

from attrs import frozen

from hindbrain.contracts import TagGroup, TagLeaf, TagsMatch, scrub
from hindbrain.memory._config import MemoryConfig
from hindbrain.memory._identity import Project

HOSTS = ("pi", "omp", "cli")
"""Hosts whose tags a shared user scope asks for beside the session's own."""


@frozen(kw_only=True)
class RecallScope:
    """One bank to ask and the filter to ask with; ``kind`` is project or user."""

    kind: str
    bank: str
    filter: tuple[TagGroup, ...]


def _host_tags(host: str) -> tuple[str, str]:
    return f"source:{host}", f"harness:{host}"


def retain_tags(host: str, project: Project, session_key: str | None, extra: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The full set of tags of a retained document, in the upstream order, each once; ``extra`` ones are scrubbed."""
    tags = [*_host_tags(host), f"project:{project.id}", f"repo:{project.repo_key}"]
    if session_key:
        tags.append(f"session:{session_key}")
    return tuple(dict.fromkeys([*tags, *map(scrub, extra)]))


def project_tags(config: MemoryConfig, project: Project) -> tuple[str, ...]:
    """The tags that mean this project when recalling."""
    tags = [f"project:{project.id}", f"repo:{project.repo_key}"]
    if config.scope.legacy_tags:
        tags.append(f"project:{project.legacy_id}")
    return tuple(dict.fromkeys(tags))


def user_tags(config: MemoryConfig, host: str) -> tuple[str, ...]:
    """The tags that mean this user when recalling; empty drops the filter."""
    if config.scope.user_scope_tags is not None:
        return config.scope.user_scope_tags
    hosts = dict.fromkeys([host, *(HOSTS if config.scope.share_hosts else ())])
    return tuple(tag for h in hosts for tag in _host_tags(h))


def recall_scopes(config: MemoryConfig, project: Project, host: str) -> tuple[RecallScope, ...]:
    """The banks this session reads: the project's, and the user's where one is configured."""
    bank = config.project_bank or project.bank
    leaf = TagLeaf(project_tags(config, project), TagsMatch.ANY_STRICT)
    scopes = [RecallScope(kind="project", bank=bank, filter=(leaf,))]
    if config.user_bank:
        tags = user_tags(config, host)
        user_filter = (TagLeaf(tags, TagsMatch.ANY_STRICT),) if tags else ()
        scopes.append(RecallScope(kind="user", bank=config.user_bank, filter=user_filter))
    return tuple(scopes)
