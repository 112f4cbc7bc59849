"""observe alone: what a user said becomes an observation that leads back to it."""

import sys
from pathlib import Path

import hindbrain.observe
from hindbrain.contracts import Entry, Message, TextPart
from hindbrain.observe import LedgerIndex, extract, next_chunk

said = Message(role="user", parts=(TextPart("Use one command."),))
index = LedgerIndex([Entry(id="a1", parent_id=None, kind="message", message=said, at=0)])
chunk = next_chunk(index, 4_000)
assert chunk is not None
(record,) = extract(index, chunk)
assert record.source_ids == ("a1",)
assert Path(hindbrain.observe.__file__).is_relative_to(sys.prefix)
