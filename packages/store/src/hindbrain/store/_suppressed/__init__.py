"""Memories the user does not want to see, by id."""

from hindbrain.store._suppressed._codec import Suppression
from hindbrain.store._suppressed._errors import MemoryIdError, SuppressedFullError, SuppressedNewerError
from hindbrain.store._suppressed._file import Suppressed

__all__ = ["MemoryIdError", "Suppressed", "SuppressedFullError", "SuppressedNewerError", "Suppression"]
