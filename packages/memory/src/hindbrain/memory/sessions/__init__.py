"""Read the session files of pi (versions 1 to 3) and omp as values, whole, step by step, or while they grow."""

from hindbrain.memory.sessions._errors import SessionFileError, Unreadable
from hindbrain.memory.sessions._lineage import SessionNames, names_of, names_of_new
from hindbrain.memory.sessions._lines import MAX_LINE
from hindbrain.memory.sessions._raw import raw_messages
from hindbrain.memory.sessions._reader import SessionReader, iter_session, parse_entries, parse_message, read_session
from hindbrain.memory.sessions._values import (
    HostName,
    Item,
    LineProblem,
    Reason,
    Restart,
    SessionFile,
    SessionHeader,
)

__all__ = [
    "MAX_LINE",
    "HostName",
    "Item",
    "LineProblem",
    "Reason",
    "Restart",
    "SessionFile",
    "SessionFileError",
    "SessionHeader",
    "SessionNames",
    "SessionReader",
    "Unreadable",
    "iter_session",
    "names_of",
    "names_of_new",
    "parse_entries",
    "parse_message",
    "raw_messages",
    "read_session",
]
