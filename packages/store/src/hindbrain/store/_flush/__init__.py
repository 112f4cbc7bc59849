"""Delivers what waits in the queue."""

from hindbrain.store._flush._flusher import Flusher
from hindbrain.store._flush._means import Gate
from hindbrain.store._flush._policy import FlushPolicy
from hindbrain.store._flush._report import Delivery, FlushOutcome, FlushReport, ReceiptSink

__all__ = ["Delivery", "FlushOutcome", "FlushPolicy", "FlushReport", "Flusher", "Gate", "ReceiptSink"]
