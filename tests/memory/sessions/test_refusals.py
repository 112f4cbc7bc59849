"""Files that are not read at all say what they are and what to do."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindbrain.contracts import HindbrainError
from hindbrain.memory.sessions import SessionFileError, SessionReader, Unreadable, iter_session, read_session

DOORS: list[Callable[[Path], Any]] = [read_session, lambda path: list(iter_session(path))]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"hello\nworld\n",
        bytes(range(11, 256)) * 4 + b"\n",
        b'{"type":"user","uuid":"1","message":{"role":"user","content":"another program"}}\n',
        b'{"type":"user","uuid":"1"}\n{"type":"session","id":"too late"}\n',
        b'{"type":"title","v":1,"title":""}\n{"type":"message","id":"a"}\n',
        b'{"type":"title","v":1,"title":""}\n{"type":"title"}\n',
        b'{"type":"message","id":"a"}',
        b'{"a": 1}',
    ],
)
def test_a_file_without_a_session_header_is_no_session(
    door: Callable[[Path], Any], tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(content)

    with pytest.raises(SessionFileError) as caught:
        door(path)

    assert caught.value.reason is Unreadable.NOT_A_SESSION
    assert "notes.jsonl" in str(caught.value)
    assert caught.value.next_step


@pytest.mark.parametrize("door", [*DOORS, lambda path: SessionReader(path).read_new()])
def test_a_missing_file_and_a_folder_are_told_apart(door: Callable[[Path], Any], tmp_path: Path) -> None:
    for path, reason in [
        (tmp_path / "gone.jsonl", Unreadable.MISSING),
        (tmp_path, Unreadable.NOT_A_FILE),
    ]:
        with pytest.raises(HindbrainError) as caught:
            door(path)
        assert isinstance(caught.value, SessionFileError)
        assert (caught.value.reason, caught.value.code) == (reason, "session-file")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(SessionFileError) as caught:
        read_session(tmp_path / "pipe")

    assert caught.value.reason is Unreadable.NOT_A_FILE


def test_a_file_the_system_refuses_is_no_access(tmp_path: Path) -> None:
    with pytest.raises(SessionFileError) as caught:
        read_session(tmp_path / ("x" * 5000))

    assert caught.value.reason is Unreadable.NO_ACCESS
