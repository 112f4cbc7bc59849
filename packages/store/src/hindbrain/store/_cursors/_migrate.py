"""The three older cursor formats, taken over without sending anything again.

They have no seal, so they may have come with a cloned repository. Therefore nothing in them is believed by position:
an old cursor hides a message only where the message's own content, or the chain over the contents of all before it, is
in the file. What it can do at worst is that messages of this very session are not retained.

Source: spec/memory.md section 6.5 (versions 1 to 3); decisions.md, "Files a user sees"; the limits of trust are ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from hindbrain.contracts import Branch, Entry, JsonValue
from hindbrain.store._cursors._anchor import aligned, covering
from hindbrain.store._cursors._cursor import TAIL, Cursor
from hindbrain.store._cursors._fingerprint import fingerprint, fold

_VERSIONS = (2, 3)


@frozen
class OldSession:
    """An old cursor of one session: fingerprints in the order of retaining.

    With a ``chain`` over the first ``count`` messages (versions 2 and 3) the fingerprints are its tail; without one
    (version 1) they are all that is known.
    """

    fingerprints: tuple[str, ...]
    chain: str = ""
    count: int = 0


def is_older(body: Mapping[str, JsonValue]) -> bool:
    """Whether a JSON object is a file of one of the three formats; version 1 has no version, and lists.

    What says that it is sealed is never older: it is ours, and was changed.
    """
    if "seal" in body or "lineages" in body:
        return False
    if "version" in body:
        return body["version"] in _VERSIONS
    return not body or any(isinstance(value, list) for value in body.values())


def old_sessions(body: JsonValue) -> dict[str, OldSession]:
    """The sessions of an older file by their session id, 16 hex digits; whatever has not its form is left out."""
    if not isinstance(body, Mapping) or not is_older(body):
        return {}
    sessions = body.get("sessions") if "version" in body else body
    if not isinstance(sessions, Mapping):
        return {}
    return {sid: found for sid, value in sessions.items() if (found := _session(value)) is not None}


def _session(value: JsonValue) -> OldSession | None:
    if isinstance(value, list):
        return _bare(value)
    if not isinstance(value, Mapping):
        return None
    if "legacyFingerprints" in value:
        return _bare(value["legacyFingerprints"])
    index, chain, prints = value.get("index"), value.get("chainHash"), value.get("fingerprints")
    if not isinstance(index, int) or isinstance(index, bool) or index < 0 or not isinstance(chain, str):
        return None
    known = _texts(prints)
    return None if known is None else OldSession(known[-TAIL:], chain, index + 1)


def _bare(value: JsonValue) -> OldSession | None:
    known = _texts(value)
    return OldSession(known) if known else None


def _texts(value: JsonValue) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return None
    return tuple(value)


def adopted(old: OldSession, branch: Branch, old_prints: Mapping[str, str]) -> Cursor:
    """The cursor that stands for an old one on this branch, empty where nothing of the session is in it.

    ``old_prints`` gives the older fingerprint (``legacy_fingerprint``) of each message of the branch by its entry id;
    a message that is missing there is not recognised.
    """
    messages = [entry for entry in branch.path() if entry.message is not None]
    prints = [old_prints.get(entry.id, "") for entry in messages]
    return covering(Cursor(), messages, _own(messages), _covered(old, prints))


def _own(messages: Sequence[Entry]) -> list[str]:
    return [fingerprint(entry) for entry in messages]


def _covered(old: OldSession, prints: Sequence[str]) -> set[int]:
    if not old.chain:
        known = set(old.fingerprints)
        return set(range(max((place for place, each in enumerate(prints) if each in known), default=-1) + 1))
    if len(prints) >= old.count and fold(prints[: old.count]) == old.chain:
        return set(range(old.count))
    covered = aligned(old.fingerprints, prints, full=True)
    # What lies before the tail was retained or given up by the old program: offering it now would be the burst.
    return covered | set(range(min(covered, default=0)))
