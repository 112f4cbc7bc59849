"""A checked record's message as a contracts value.

How the roles of the hosts are read (everything else: its content):

- ``bashExecution``, ``pythonExecution``: one text, the command after its prompt sign and the output below it; tool
  ``bash`` or ``python``; an error where it was cancelled or its exit code is not 0. One that the user kept out of the
  model's context (``!!`` or ``$$``) has no message at all, so that it reaches no memory.
- ``fileMention``: a text for each file, ``@path`` above its content, and its image.
- ``system``: the prompt's text, then that of its sections.
- ``hookMessage`` is the ``custom`` of version 2; ``branchSummary`` and ``compactionSummary`` give their summary.

Image bytes become type, size and digest. Blocks of other types, and empty ones, are left out.

Source: spec/pi-host.md section 4, spec/omp-host.md section 4; leaving out what is kept from the model is ours.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator

from hindbrain.contracts import ImagePart, Message, Part, TextPart, ThinkingPart, ToolCallPart
from hindbrain.memory.sessions import _assemble
from hindbrain.memory.sessions._record import Content, FileRecord, MessageRecord, PartRecord, UsageRecord
from hindbrain.memory.sessions._time import milliseconds

_SHELLS = {"bashExecution": ("$ ", "bash"), "pythonExecution": (">>> ", "python")}
_UNLIKELY = 1 << 40
"""More tokens than any context holds: what a damaged file says."""
_BLOB = re.compile(r"blob:sha256:([0-9a-f]{64})")
"""How omp refers to an image it keeps in a file of its own."""


def message_of(record: MessageRecord, at: int | None) -> Message | None:
    """The message, None where it has no role or was kept from the model. ``at`` is for one that has no time."""
    role = record.role
    if not role or record.exclude_from_context:
        return None
    written = milliseconds(record.timestamp)
    at = at if written is None else written
    if role in _SHELLS:
        return _shell(record, role, at)
    found = parts(record.content)
    if record.summary or record.sections or record.files:
        found += _more(record)
    return _assemble.message(
        "custom" if role == "hookMessage" else role,
        found,
        at,
        record.tool_call_id,
        record.tool_name,
        record.is_error,
        record.model,
        record.stop_reason,
        None if record.usage is None else _context_tokens(record.usage),
    )


def _context_tokens(usage: UsageRecord) -> int | None:
    """What the provider counted: its sum, or that of the four parts where it gave all of them and no sum."""
    total = usage.total_tokens
    if total is None or total <= 0:
        if usage.input is None or usage.output is None or usage.cache_read is None or usage.cache_write is None:
            return None
        total = usage.input + usage.output + usage.cache_read + usage.cache_write
    return int(total) if 0 < total < _UNLIKELY else None


def custom_message(content: Content | None, at: int | None) -> Message:
    """What an extension put into the conversation."""
    return Message(role="custom", parts=parts(content), at=at)


def parts(content: Content | None) -> tuple[Part, ...]:
    """The parts of a content: text as it is, or blocks."""
    if not content:
        return ()
    if isinstance(content, str):
        return (TextPart(content),)
    found: list[Part] = []
    for block in content:
        kind = block.type
        if kind == "text" and block.text:
            found.append(TextPart(block.text))
        elif kind == "toolCall" and block.name:
            found.append(ToolCallPart(block.id or "", block.name, block.arguments or {}))
        elif kind == "thinking" and block.thinking:
            found.append(ThinkingPart(block.thinking))
        elif kind == "image":
            found.append(_image(block))
    return tuple(found)


def _image(block: PartRecord) -> ImagePart:
    data = block.data or ""
    kind = block.mime_type or "application/octet-stream"
    if kept := _BLOB.fullmatch(data):
        return ImagePart(kind, None, kept[1])
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        content = b""
    return ImagePart(kind, len(content), hashlib.sha256(content).hexdigest()) if content else ImagePart(kind)


def _more(record: MessageRecord) -> tuple[Part, ...]:
    words = [record.summary, *(record.sections or {}).values()]
    texts = [TextPart(each) for each in words if isinstance(each, str) and each]
    return (*texts, *(part for mentioned in record.files or () for part in _file(mentioned)))


def _file(mentioned: FileRecord) -> Iterator[Part]:
    yield TextPart(f"@{mentioned.path or ''}\n{mentioned.content or ''}".rstrip("\n"))
    if mentioned.image is not None:
        yield _image(mentioned.image)


def _shell(record: MessageRecord, role: str, at: int | None) -> Message:
    sign, tool = _SHELLS[role]
    command = record.command if record.command is not None else record.code
    return Message(
        role=role,
        parts=(TextPart(f"{sign}{command or ''}\n{record.output or ''}".rstrip("\n")),),
        at=at,
        tool_name=tool,
        is_error=record.cancelled or record.exit_code not in {0, None},
    )
