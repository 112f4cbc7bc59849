"""memory alone: a message becomes what is retained of it."""

import json
import sys
from pathlib import Path

import hindbrain.memory
from hindbrain.contracts import Entry, Message, TextPart
from hindbrain.memory import RetainConfig, project

message = Message(role="user", parts=(TextPart("Use one command."),))
content = project([Entry(id="a1", parent_id=None, kind="message", message=message, at=0)], RetainConfig())
assert content is not None
assert json.loads(content)[0]["content"] == [{"type": "text", "text": "Use one command."}]
assert Path(hindbrain.memory.__file__).is_relative_to(sys.prefix)
