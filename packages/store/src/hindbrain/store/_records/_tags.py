"""The form of a session tag."""

from __future__ import annotations

import unicodedata

from hindbrain.store._records._errors import RecordValueError

MAX_LENGTH = 80
_CONTROL = {"Cc", "Cs"}


def check_tag(tag: str) -> str:
    """The tag without the white space around it: 1 to 80 characters, no control characters, no half of a pair.

    Raises:
        RecordValueError: it has another form; the tag is not repeated.

    Source: spec/memory.md section 9.
    """
    trimmed = tag.strip()
    if not 1 <= len(trimmed) <= MAX_LENGTH or any(unicodedata.category(each) in _CONTROL for each in trimmed):
        raise RecordValueError(
            "The tag",
            f"1 to {MAX_LENGTH} characters without control characters",
            next_step="The session's tags were not changed.",
        )
    return trimmed
