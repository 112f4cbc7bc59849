"""How each role and each kind of content is read."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindbrain.contracts import Entry, ImagePart, Message, TextPart, ThinkingPart, ToolCallPart
from hindbrain.memory.sessions import read_session

Read = Callable[..., Entry]


@pytest.fixture
def read(write: Callable[..., Path]) -> Read:
    """The entry of one message, given by its fields."""

    def read(**message: Any) -> Entry:
        file = read_session(write({"type": "message", "id": "a", "parentId": None, "message": message}))
        assert file.problems == ()
        return file.entries[0]

    return read


@pytest.fixture
def message(read: Read) -> Callable[..., Message]:
    """The message of the fields."""

    def message(**fields: Any) -> Message:
        found = read(**fields).message
        assert found is not None
        return found

    return message


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"totalTokens": 737, "input": 1}, 737),
        ({"totalTokens": 0, "input": 5, "output": 171, "cacheRead": 2, "cacheWrite": 9_000}, 9_178),
        ({"input": 5, "output": 171, "cacheRead": 2, "cacheWrite": 9_000.5, "totalTokens": None}, 9_178),
        ({"totalTokens": -1, "input": 5, "output": 171, "cacheRead": 2}, None),
        ({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0}, None),
        ({"input": -9, "output": 1, "cacheRead": 0, "cacheWrite": 0}, None),
        ({"totalTokens": 1e300}, None),
        ({}, None),
        (None, None),
    ],
)
def test_how_full_the_context_was_is_what_the_provider_counted(
    message: Callable[..., Message], usage: Any, counted: int | None
) -> None:
    assert message(role="assistant", content="x", usage=usage).context_tokens == counted


@pytest.mark.parametrize(
    ("fields", "text", "tool", "failed"),
    [
        ({"role": "bashExecution", "command": "ls", "output": "a\nb\n", "exitCode": 0}, "$ ls\na\nb", "bash", False),
        ({"role": "bashExecution", "command": "false", "output": "", "exitCode": 1}, "$ false", "bash", True),
        ({"role": "bashExecution", "command": "sleep 9", "output": "", "cancelled": True}, "$ sleep 9", "bash", True),
        ({"role": "bashExecution", "command": "x", "output": "", "exitCode": None}, "$ x", "bash", False),
        ({"role": "pythonExecution", "code": "1+1", "output": "2", "exitCode": 0}, ">>> 1+1\n2", "python", False),
    ],
)
def test_a_users_own_command_is_one_text_with_its_outcome(
    message: Callable[..., Message], fields: dict[str, Any], text: str, tool: str, *, failed: bool
) -> None:
    found = message(**fields)

    assert found.parts == (TextPart(text),)
    assert (found.role, found.tool_name, found.is_error) == (fields["role"], tool, failed)


def test_a_command_kept_from_the_model_has_no_message(read: Read) -> None:
    hidden = {"role": "bashExecution", "command": "cat key", "output": "hunter2", "excludeFromContext": True}

    assert read(**hidden).message is None


def test_mentioned_files_are_texts_and_images(message: Callable[..., Message]) -> None:
    picture = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"png").decode()}
    files = [{"path": "a.md", "content": "alpha\n"}, {"path": "b.png", "content": "", "image": picture}]

    found = message(role="fileMention", files=files)

    digest = hashlib.sha256(b"png").hexdigest()
    assert found.parts == (TextPart("@a.md\nalpha"), TextPart("@b.png"), ImagePart("image/png", 3, digest))


def test_a_system_prompt_is_its_text_and_its_sections(message: Callable[..., Message]) -> None:
    found = message(role="system", content="", sections={"preamble": "be kind", "tools": None, "cwd": "/p"})

    assert found.parts == (TextPart("be kind"), TextPart("/p"))


@pytest.mark.parametrize("role", ["branchSummary", "compactionSummary"])
def test_a_summary_message_gives_its_summary(message: Callable[..., Message], role: str) -> None:
    assert message(role=role, summary="what happened").text == "what happened"


def test_blocks_keep_their_order_and_unknown_or_empty_ones_are_left_out(message: Callable[..., Message]) -> None:
    content = [
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "x"},
        {"type": "thinking", "thinking": "", "redacted": True},
        {"type": "text", "text": "words"},
        {"type": "video", "data": "AAAA"},
        {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a", "deep": [1, {"x": None}]}},
        {"type": "toolCall", "id": "c2", "arguments": {}},
        {"type": "toolCall", "name": "ls"},
        {"type": "text", "text": ""},
    ]

    found = message(role="assistant", content=content)

    assert found.parts == (
        ThinkingPart("hm"),
        TextPart("words"),
        ToolCallPart("c1", "read", {"path": "a", "deep": [1, {"x": None}]}),
        ToolCallPart("", "ls", {}),
    )


@pytest.mark.parametrize(
    ("data", "size", "sha256"),
    [
        (base64.b64encode(b"bytes").decode(), 5, hashlib.sha256(b"bytes").hexdigest()),
        ("blob:sha256:" + "ab" * 32, None, "ab" * 32),
        ("not base64!", None, None),
        ("é", None, None),
        ("", None, None),
    ],
)
def test_an_image_is_kept_by_type_size_and_digest_only(
    message: Callable[..., Message], data: str, size: int | None, sha256: str | None
) -> None:
    content = [{"type": "image", "mimeType": "image/png", "data": data}, {"type": "image"}]

    found = message(role="user", content=content)

    assert found.parts == (ImagePart("image/png", size, sha256), ImagePart("application/octet-stream"))


def test_a_message_without_a_role_is_none_and_its_entry_stays(read: Read) -> None:
    found = read(content="who said this?")

    assert (found.id, found.kind, found.message) == ("a", "message", None)


@pytest.mark.parametrize("role", ["developer", "user", "somethingNew"])
def test_other_roles_are_the_hosts_own_word(message: Callable[..., Message], role: str) -> None:
    found = message(role=role, content="hello", timestamp=1_796_083_201_250)

    assert (found.role, found.text, found.at) == (role, "hello", 1_796_083_201_250)


def test_an_unknown_entry_type_is_kept_without_a_message(write: Callable[..., Path]) -> None:
    odd = {
        "type": "reset_boundary",
        "id": "r",
        "parentId": None,
        "timestamp": "2026-12-01T00:00:00Z",
        "extra": {"a": 1},
    }

    (found,) = read_session(write(odd)).entries

    assert found == Entry(id="r", parent_id=None, kind="reset_boundary", at=1_796_083_200_000, line=2)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (b'"data":{"a": [1,2]}', '{"a": [1,2]}'),
        (b'"data": "text"', '"text"'),
        (b'"data":0,"details":{"b":2}', "0"),
        (b'"data":null,"details":{"b":2}', '{"b":2}'),
        (b'"details":{"b":"\xff"}', '{"b":"\ufffd"}'),
        (b'"data":null', None),
        (b'"other":1', None),
    ],
)
def test_an_entrys_data_is_its_payload_or_its_details_as_written(
    write: Callable[..., Path], written: bytes, read: str | None
) -> None:
    (found,) = read_session(write(b'{"type":"custom","id":"a",' + written + b"}\n")).entries

    assert found.data == read
