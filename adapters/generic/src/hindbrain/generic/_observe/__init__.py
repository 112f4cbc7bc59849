"""Observational memory of a live session: the engine, its workers in the background, and what a host asks of it."""

from hindbrain.generic._observe._debug import DebugLog
from hindbrain.generic._observe._live import live_observing
from hindbrain.generic._observe._observing import Observing
from hindbrain.generic._observe._values import Cancelled, CompactionAnswer, CompactionAsk, Told
from hindbrain.generic._observe._zone import local_zone

__all__ = [
    "Cancelled",
    "CompactionAnswer",
    "CompactionAsk",
    "DebugLog",
    "Observing",
    "Told",
    "live_observing",
    "local_zone",
]
