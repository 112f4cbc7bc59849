"""Test support: disks that record, fail, are killed and lose power, for everything that stands on a FileLayer."""

from hindbrain.store.testing._faulty import Fault, FaultyLayer, Killed
from hindbrain.store.testing._forwarding import ForwardingLayer
from hindbrain.store.testing._memory import MemoryLayer
from hindbrain.store.testing._recording import Operation, RecordingLayer, replay

__all__ = ["Fault", "FaultyLayer", "ForwardingLayer", "Killed", "MemoryLayer", "Operation", "RecordingLayer", "replay"]
