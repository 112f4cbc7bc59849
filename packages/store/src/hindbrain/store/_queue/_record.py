"""What became of jobs, one sealed line each in ``<queue>.acks.jsonl``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from hindbrain.store._queue._seal_line import is_sealed, read_fields, to_json, write_sealed
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
class Taken:
    """The backend took the job and works on it in these operations; ``at`` is when, ISO 8601 in UTC."""

    id: str
    operations: tuple[str, ...]
    at: str


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


Record = Ack | Attempt | Taken | Plan | Aside


def write_record(key: SealKey, record: Record) -> bytes:
    """The record as a sealed line."""
    return write_sealed(key, to_json(_fields_of(record))[1:-1])


def read_record(key: SealKey, line: bytes) -> Record | None:
    """The record of a line; None where it does not bear the seal, or a newer version wrote it."""
    fields = read_fields(line) if is_sealed(key, line) else None
    return None if fields is None else _record_of(fields)


def _fields_of(record: Record) -> dict[str, Any]:
    match record:
        case Ack():
            return {"ack": record.ids}
        case Attempt():
            return {
                "attempt": record.id,
                "code": record.code,
                "times": record.times,
                "renewals": record.renewals,
            }
        case Taken():
            return {"taken": record.id, "operations": record.operations, "at": record.at}
        case Plan():
            merges = [{"id": each.id, "operation": each.operation_id, "of": each.members} for each in record.merges]
            return {"merges": merges, "singles": record.singles}
        case Aside():
            return {"aside": record.place, "id": record.id, "digest": record.digest}


def _record_of(fields: Mapping[str, Any]) -> Record | None:
    match fields:
        case {"ack": ids}:
            return Ack(tuple(ids))
        case {"attempt": job_id, "code": code, "times": times, "renewals": renewals}:
            return Attempt(job_id, code, times, renewals)
        case {"taken": job_id, "operations": operations, "at": at}:
            return Taken(job_id, tuple(operations), at)
        case {"merges": merges, "singles": singles}:
            made = (Merge(each["id"], each["operation"], tuple(each["of"])) for each in merges)
            return Plan(tuple(made), tuple(singles))
        case {"aside": place, "id": job_id, "digest": digest}:
            return Aside(job_id, Place(*place), digest)
        case _:
            return None
