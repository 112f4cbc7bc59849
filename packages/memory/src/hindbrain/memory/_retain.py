"""The retain path: new entries of a branch become one job."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from hindbrain.contracts import Coverage, Entry, RetainItem, RetainJob, UpdateMode, scrub
from hindbrain.memory._config import MemoryConfig
from hindbrain.memory._identity import Project
from hindbrain.memory._observation import ObservationScopes, observation_scopes
from hindbrain.memory._operation import digest, operation_id
from hindbrain.memory._projection import believable, iso, project
from hindbrain.memory._scope import retain_tags


@frozen(kw_only=True)
class SessionIdentity:
    """What names a live session. ``key`` is the 16 hex digits of tags and documents; ``lineage`` survives a move.

    ``label`` is the session file's name, or "ephemeral session". ``origin`` is the backend's address.
    """

    host: str
    key: str
    lineage: str
    label: str
    origin: str

    @property
    def document_id(self) -> str:
        """The one document all turns of the session are appended to. Source: spec/memory.md section 6.4."""
        return f"pi-session:{self.key}"

    def observation_scopes(self, config: MemoryConfig, project: Project, bank: str) -> ObservationScopes:
        """The observation scopes of a job of this session to a bank."""
        return observation_scopes(config, project, host=self.host, session=self.key, bank=bank)


def build_job(
    entries: Sequence[Entry],
    config: MemoryConfig,
    session: SessionIdentity,
    project_: Project,
    *,
    covers: Coverage,
    now: str,
    extra_tags: tuple[str, ...] = (),
) -> RetainJob | None:
    """The job that retains these entries, or None where nothing of them is kept.

    The operation id stands for what is retained and where, so the same turn tried again is the same operation.

    Args:
        entries: new entries, oldest first.
        config: which parts are kept.
        session: the session's names.
        project_: the project's identity.
        covers: the range of the session that the job stands for; it names the bank to write to.
        now: the moment of the decision, ISO 8601.
        extra_tags: tags of the session, after the base tags.
    """
    content = project(entries, config.retain)
    if content is None:
        return None
    bank = covers.bank
    last = next((at for e in reversed(entries) if (at := believable(e.at)) is not None), None)
    item = RetainItem(
        content=content,
        document_id=session.document_id,
        context=scrub(f"{project_.id} coding session {session.label}"),
        timestamp=now if last is None else iso(last),
        metadata={"source": "hindbrain", "retainSource": "auto", "imported": "false"},
        tags=retain_tags(session.host, project_, session.key, extra_tags),
        update_mode=UpdateMode.APPEND,
        observation_scopes=session.observation_scopes(config, project_, bank).rows,
    )
    revision = digest(*(each for entry in entries for each in (entry.id, entry.parent_id or "")), content)[:16]
    operation = operation_id(
        origin=session.origin, bank=bank, project=project_.id, document=session.document_id, revision=revision
    )
    return RetainJob(id=operation, bank=bank, item=item, operation_id=operation, created_at=now, covers=covers)


def explicit_item(
    text: str,
    config: MemoryConfig,
    session: SessionIdentity,
    project_: Project,
    *,
    bank: str,
    tags: tuple[str, ...] = (),
    context: str = "",
    in_session: bool = False,
    now: str | None = None,
) -> RetainItem:
    """The item of an explicit retain: its own document, named after what it says, with the base tags merged in.

    Args:
        text: what is to be remembered.
        config: whose observations are made.
        session: the names of the session, or those that stand for the command line.
        project_: the project's identity.
        bank: the bank it goes to; part of the document's name.
        tags: tags of the caller's, after the base tags.
        context: a few words on where the text comes from.
        in_session: whether a session asked for it: then it bears that session's tag, too.
        now: the moment of asking, ISO 8601.

    Source: spec/memory.md section 6.4.
    """
    content = scrub(text)
    name = digest(bank, content, context)[:16]
    return RetainItem(
        content=content,
        document_id=f"pi-explicit:{session.key}:{name}",
        context=scrub(context) or None,
        timestamp=now,
        metadata={"source": "hindbrain", "retainSource": "tool" if in_session else "command", "imported": "false"},
        tags=retain_tags(session.host, project_, session.key if in_session else None, tags),
        update_mode=UpdateMode.REPLACE,
        observation_scopes=session.observation_scopes(config, project_, bank).rows,
    )
