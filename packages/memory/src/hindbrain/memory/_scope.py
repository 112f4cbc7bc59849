"""Tags that are written, and the tag filters that recall asks with.

Source: spec/memory.md sections 2.4 and 2.5; sharing between hosts is ours (decisions.md).
"""

from __future__ import annotations

from attrs import frozen

from hindbrain.contracts import TagGroup, TagLeaf, TagOr, TagsMatch, scrub
from hindbrain.memory._banks import CODING, BankEntry
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


def bank_of(entry: BankEntry, config: MemoryConfig, project: Project) -> str:
    """The bank an entry means: its own, else the configured one, else that of the project's identity."""
    return entry.id or config.project_bank or project.bank


def _entries(config: MemoryConfig) -> tuple[BankEntry, ...]:
    """All entries, with the user bank that was named beside them, if any."""
    if not config.user_bank or any(entry.id == config.user_bank for entry in config.banks):
        return config.banks
    return (*config.banks, BankEntry(id=config.user_bank, role="user"))


def project_bank(config: MemoryConfig, project: Project) -> str:
    """The project's bank: of the first coding entry, or of the identity where there is none."""
    coding = next((entry for entry in config.banks if entry.role == CODING), None)
    return project.bank if coding is None else bank_of(coding, config, project)


def retain_banks(config: MemoryConfig, project: Project) -> tuple[str, ...]:
    """The banks that get every turn. Empty where no entry is writable and in the mode ``always``.

    Source: seed 000, "Global memory routing".
    """
    chosen = (bank_of(entry, config, project) for entry in _entries(config) if entry.retained_always)
    return tuple(dict.fromkeys(chosen))


def _filter(entry: BankEntry, bank: str, config: MemoryConfig, project: Project, host: str) -> tuple[TagGroup, ...]:
    tags = user_tags(config, host) if entry.is_user else project_tags(config, project)
    if bank in config.scope.unscoped_recall_banks or not tags:
        return ()
    leaf = TagLeaf(tags, TagsMatch.ANY_STRICT)
    if entry.role == CODING and config.scope.include_shared_observations:
        return (TagOr((leaf, TagLeaf((), TagsMatch.EXACT))),)
    return (leaf,)


def recall_scopes(config: MemoryConfig, project: Project, host: str) -> tuple[RecallScope, ...]:
    """The banks this session reads, in the order of the settings, each once.

    A bank listed as unscoped has no filter; shared observations are those of the project's bank without any tag.

    Source: spec/memory.md section 2.5.
    """
    scopes: dict[str, RecallScope] = {}
    for entry in _entries(config):
        if not entry.readable:
            continue
        bank, kind = bank_of(entry, config, project), "user" if entry.is_user else "project"
        scopes.setdefault(bank, RecallScope(kind=kind, bank=bank, filter=_filter(entry, bank, config, project, host)))
    return tuple(scopes.values())


def scope_of(bank: str, config: MemoryConfig, project: Project, host: str) -> RecallScope:
    """The scope of a bank that was named by hand: the user's tags for the user's bank, else the project's.

    A bank that the settings do not list is asked with the project's tags, too. Whether it may be read is not looked at.

    Source: spec/memory.md section 2.5.
    """
    entry = next((e for e in _entries(config) if e.enabled and bank_of(e, config, project) == bank), BankEntry(id=bank))
    kind = "user" if entry.is_user else "project"
    return RecallScope(kind=kind, bank=bank, filter=_filter(entry, bank, config, project, host))


def is_readable(bank: str, config: MemoryConfig, project: Project) -> bool:
    """Whether a bank may be asked: one of its entries is readable, or the settings do not list it."""
    listed = [entry for entry in _entries(config) if bank_of(entry, config, project) == bank]
    return not listed or any(entry.readable for entry in listed)
