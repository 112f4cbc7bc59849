"""How far each session has been retained, by what its entries are and not by where they stand."""

from hindbrain.store._cursors._advance import Move, advance, move, new_entries
from hindbrain.store._cursors._book import Book, Lineage
from hindbrain.store._cursors._cursor import HEADS, TAIL, Cursor, Head, Identity
from hindbrain.store._cursors._errors import CursorsNewerError
from hindbrain.store._cursors._file import Cursors
from hindbrain.store._cursors._fingerprint import fingerprint, fold, legacy_fingerprint
from hindbrain.store._cursors._look import Sight, look
from hindbrain.store._cursors._migrate import OldSession, adopted, old_sessions
from hindbrain.store._cursors._prints import Fingerprints
from hindbrain.store._cursors._replay import replay
from hindbrain.store._cursors._view import CursorState, look_at_cursors, read_book

__all__ = [
    "HEADS",
    "TAIL",
    "Book",
    "Cursor",
    "CursorState",
    "Cursors",
    "CursorsNewerError",
    "Fingerprints",
    "Head",
    "Identity",
    "Lineage",
    "Move",
    "OldSession",
    "Sight",
    "adopted",
    "advance",
    "fingerprint",
    "fold",
    "legacy_fingerprint",
    "look",
    "look_at_cursors",
    "move",
    "new_entries",
    "old_sessions",
    "read_book",
    "replay",
]
