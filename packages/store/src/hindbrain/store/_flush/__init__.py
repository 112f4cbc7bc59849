"""Delivers what waits in the queue."""

from hindbrain.store._flush._flusher import Flusher
from hindbrain.store._flush._policy import FlushPolicy
from hindbrain.store._flush._report import Delivery, FlushOutcome, FlushReport, ReceiptSink
from hindbrain.store._flush._round import Gate

__all__ = ["Delivery", "FlushOutcome", "FlushPolicy", "FlushReport", "Flusher", "Gate", "ReceiptSink"]
