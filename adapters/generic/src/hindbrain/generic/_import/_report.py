"""What an import did, or would do, in one project."""

from __future__ import annotations

from pathlib import Path

from attrs import define, field, frozen

from hindbrain.contracts import HindbrainError
from hindbrain.generic._import._source import PassedOver
from hindbrain.generic._import._target import Target
from hindbrain.generic._import._values import Tally
from hindbrain.memory.sessions import LineProblem


@frozen(kw_only=True)
class FileReport:
    """One session file: how many documents it is, and the lines of it that could not be read."""

    path: Path
    session: str
    documents: int
    unchanged: bool = False
    broken: tuple[LineProblem, ...] = ()


@define(kw_only=True)
class ImportReport:
    """One project's part of an import. In a dry run it tells what would be done, and nothing was.

    ``new``, ``replaced``, ``same`` and ``refused`` count documents: never imported before, with other content than
    before, as they are in memory, and kept out by the program of ``retain.beforeEnqueue``. ``sent``, ``waiting`` and
    ``given_up`` tell where those of this import stand at the end. ``read_bytes`` is the size of the files looked into.
    ``code`` is that of what stopped the sending, ``error`` what stopped the project as a whole.
    """

    target: Target
    files: list[FileReport] = field(factory=list)
    passed_over: list[PassedOver] = field(factory=list)
    tally: Tally = field(factory=Tally)
    read_bytes: int = 0
    new: int = 0
    replaced: int = 0
    same: int = 0
    refused: int = 0
    sent: int = 0
    waiting: int = 0
    given_up: int = 0
    code: str | None = None
    error: HindbrainError | None = None

    @property
    def to_send(self) -> int:
        """The documents that are, or would be, queued."""
        return self.new + self.replaced
