"""What is known of earlier imports: the values of manifest and checkpoint. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import asdict, define, field, frozen

from hindbrain.contracts import JsonValue

PENDING, QUEUED, REFUSED = "pending", "queued", "refused"
COMPLETED, FAILED = "completed", "failed"


@frozen(kw_only=True)
class Imported:
    """A document that is in the queue, or went through it.

    It stands for the entries of its session from ``first`` to ``last``, and ``revision`` for its content. ``job`` is
    the queue's id of what carries it, ``generation`` how often the content was another one. ``status`` is pending
    (about to be queued), queued, completed, failed (the job was given up) or refused (by the program of
    ``retain.beforeEnqueue``).
    """

    session: str
    revision: str
    job: str
    generation: int
    messages: int
    first: str
    last: str
    status: str = QUEUED

    def is_of(self, revision: str) -> bool:
        """Whether it was imported with this content."""
        return self.revision == revision and self.status not in {PENDING, REFUSED}


@frozen(kw_only=True)
class FileRecord:
    """What a session file became: as it was then, under which profile, and the ids of its documents."""

    size: int
    mtime: int
    profile: str
    session: str
    documents: tuple[str, ...] = ()
    broken_lines: int = 0


@define
class Records:
    """Documents by place (a bank of one backend) and id, and files by path."""

    imports: dict[str, dict[str, Imported]] = field(factory=dict)
    files: dict[str, FileRecord] = field(factory=dict)

    def put(self, place: str, document: str, imported: Imported) -> None:
        """Know a document."""
        self.imports.setdefault(place, {})[document] = imported

    def update(self, other: Records) -> None:
        """Know what the other knows; the other is the newer one."""
        for place, documents in other.imports.items():
            self.imports.setdefault(place, {}).update(documents)
        self.files.update(other.files)

    def __len__(self) -> int:
        return len(self.files) + sum(map(len, self.imports.values()))

    def body(self) -> dict[str, JsonValue]:
        """As JSON."""
        imports = {place: {name: asdict(each) for name, each in docs.items()} for place, docs in self.imports.items()}
        return {"imports": imports, "files": {path: asdict(each) for path, each in self.files.items()}}

    @classmethod
    def of(cls, body: Mapping[str, Any] | None) -> Records:
        """From JSON.

        Raises:
            KeyError, TypeError, AttributeError: the form is another one.
        """
        if body is None:
            return cls()
        imports = {at: {name: Imported(**each) for name, each in docs.items()} for at, docs in body["imports"].items()}
        files = {
            path: FileRecord(**{**each, "documents": tuple(each["documents"])}) for path, each in body["files"].items()
        }
        return cls(imports, files)
