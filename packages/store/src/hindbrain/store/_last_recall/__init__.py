"""The file that shows what the last recall found, for people who ask for it."""

from hindbrain.store._last_recall._errors import LastRecallForeignError, LastRecallPathError, LastRecallUnreadableError
from hindbrain.store._last_recall._file import LastRecall
from hindbrain.store._last_recall._place import NAME, Place, place_of

__all__ = [
    "NAME",
    "LastRecall",
    "LastRecallForeignError",
    "LastRecallPathError",
    "LastRecallUnreadableError",
    "Place",
    "place_of",
]
