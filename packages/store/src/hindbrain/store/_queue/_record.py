"""What became of jobs, one sealed line each in ``<queue>.acks.jsonl``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import asdict, frozen

from hindbrain.store._queue._seal_line import is_sealed, read_fields, write_sealed
from hindbrain.store._queue._values import Place
from hindbrain.store._seal import SealKey


@frozen
class Ack:
    """These are done: delivered, dead, or dropped. The id of a merge stands for all its members."""

    ids: tuple[str, ...]


@frozen
class Attempt:
    """The job was definitely refused, ``times`` over; ``renewals`` of them made its operation id worthless."""

    id: str
    code: str
    times: int = 1
    renewals: int = 0


@frozen
class Merge:
    """These jobs are one from now on, sent under this operation id."""

    id: str
    operation_id: str
    members: tuple[str, ...]


@frozen
class Plan:
    """Written before the first send: merges, and single jobs into which nothing may be merged any more."""

    merges: tuple[Merge, ...] = ()
    singles: tuple[str, ...] = ()


@frozen
class Aside:
    """A line that was copied to ``<queue>.malformed.jsonl``; the digest says that it is still the same line."""

    id: str | None
    place: Place
    digest: str


Record = Ack | Attempt | Plan | Aside
_KINDS: dict[str, type[Ack | Attempt | Plan | Aside]] = {
    "ack": Ack,
    "attempt": Attempt,
    "plan": Plan,
    "aside": Aside,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def write_record(key: SealKey, record: Record) -> bytes:
    """The record as a sealed line."""
    return write_sealed(key, {_NAMES[type(record)]: asdict(record)})


def read_record(key: SealKey, line: bytes) -> Record | None:
    """The record of a line; None where it does not bear the seal, or a newer version wrote it."""
    fields = read_fields(line) if is_sealed(key, line) else None
    for name, value in (fields or {}).items():
        if name in _KINDS:
            return _record_of(name, value)
    return None


def _record_of(name: str, value: Mapping[str, Any]) -> Record:
    match name:
        case "ack":
            return Ack(tuple(value["ids"]))
        case "attempt":
            return Attempt(value["id"], value["code"], value["times"], value["renewals"])
        case "plan":
            merges = (Merge(each["id"], each["operation_id"], tuple(each["members"])) for each in value["merges"])
            return Plan(tuple(merges), tuple(value["singles"]))
        case _:
            return Aside(value["id"], Place(*value["place"]), value["digest"])
