"""What became of the newest retains: counts for people to look at, never what was retained."""

from hindbrain.store._receipts._codec import decode, encode
from hindbrain.store._receipts._file import RetainReceipts
from hindbrain.store._receipts._outcome import RetainOutcome, outcome_of, total
from hindbrain.store._receipts._receipt import KEPT, RetainReceipt, RetainSource, find, record

__all__ = [
    "KEPT",
    "RetainOutcome",
    "RetainReceipt",
    "RetainReceipts",
    "RetainSource",
    "decode",
    "encode",
    "find",
    "outcome_of",
    "record",
    "total",
]
