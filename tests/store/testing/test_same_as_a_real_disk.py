"""The disk in memory answers as a real one does: the same scripts on both, results and errors compared."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindbrain.store._files import FileLayer, OsFileLayer
from hindbrain.store.testing import ForwardingLayer, MemoryLayer

APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND
WRITE = os.O_WRONLY | os.O_CREAT


def put(layer: FileLayer, path: Path, data: bytes) -> None:
    fd = layer.open(path, WRITE)
    layer.write(fd, data)
    layer.close(fd)


def get(layer: FileLayer, path: Path) -> bytes:
    fd = layer.open(path, os.O_RDONLY)
    data = layer.read(fd, 3) + layer.read(fd, 100)
    layer.close(fd)
    return data


def write_and_read(layer: FileLayer, at: Path) -> Any:
    fd = layer.open(at / "f", os.O_RDWR | os.O_CREAT)
    answers = [layer.write(fd, b"abcdef"), layer.write(fd, memoryview(b"gh")), layer.write(fd, b"")]
    layer.fsync(fd)
    parts = [layer.read(fd, 5), layer.pread(fd, 4, 2), layer.pread(fd, 9, 7), layer.pread(fd, 9, 50)]
    layer.close(fd)
    return answers, parts, get(layer, at / "f")


def append(layer: FileLayer, at: Path) -> Any:
    put(layer, at / "f", b"one\n")
    fd = layer.open(at / "f", APPEND)
    layer.write(fd, b"two\n")
    layer.ftruncate(fd, 2)
    layer.write(fd, b"three\n")
    layer.ftruncate(fd, 10)
    found = layer.fstat(fd)
    layer.close(fd)
    return get(layer, at / "f"), found.st_size, stat.S_ISREG(found.st_mode)


def overwrite(layer: FileLayer, at: Path) -> Any:
    put(layer, at / "f", b"long text")
    put(layer, at / "f", b"SHORT")
    kept = get(layer, at / "f")
    layer.close(layer.open(at / "f", os.O_WRONLY | os.O_TRUNC))
    return kept, get(layer, at / "f")


def names(layer: FileLayer, at: Path) -> Any:
    layer.mkdir(at / "d")
    put(layer, at / "a", b"A")
    put(layer, at / "b", b"B")
    layer.link(at / "a", at / "d" / "c")
    layer.replace(at / "a", at / "b")
    layer.replace(at / "b", at / "d" / "e")
    layer.replace(at / "d" / "c", at / "d" / "e")
    layer.sync_dir(at / "d")
    listed = sorted(layer.listdir(at)), sorted(layer.listdir(at / "d"))
    layer.unlink(at / "d" / "c")
    layer.unlink(at / "d" / "e")
    layer.rmdir(at / "d")
    return listed, layer.listdir(at)


def modes(layer: FileLayer, at: Path) -> Any:
    layer.mkdir(at / "d")
    layer.chmod(at / "d", 0o750)
    put(layer, at / "f", b"")
    fd = layer.open(at / "f", os.O_RDONLY)
    layer.fchmod(fd, 0o640)
    layer.close(fd)
    found = layer.lstat(at / "d"), layer.lstat(at / "f")
    same = layer.lstat(at / "f").st_ino == found[1].st_ino
    return [stat.S_IFMT(f.st_mode) | stat.S_IMODE(f.st_mode) for f in found], same, found[1].st_uid


def locks(layer: FileLayer, at: Path) -> Any:
    one, two = layer.open(at / "f", APPEND), layer.open(at / "f", APPEND)
    answers = [layer.try_lock(one), layer.try_lock(one), layer.try_lock(two)]
    layer.unlock(two)
    answers.append(layer.try_lock(two))
    layer.unlock(one)
    answers.append(layer.try_lock(two))
    layer.close(two)
    answers.append(layer.try_lock(one))
    layer.close(one)
    return answers


def open_folder(layer: FileLayer, at: Path) -> Any:
    fd = layer.open(at, os.O_RDONLY)
    kind = stat.S_ISDIR(layer.fstat(fd).st_mode)
    layer.fsync(fd)
    try:
        layer.read(fd, 1)
    finally:
        layer.close(fd)
    return kind


def no_file(layer: FileLayer, at: Path) -> Any:
    layer.open(at / "f", os.O_RDONLY)


def no_folder(layer: FileLayer, at: Path) -> Any:
    put(layer, at / "d" / "f", b"")


def file_as_folder(layer: FileLayer, at: Path) -> Any:
    put(layer, at / "f", b"")
    layer.lstat(at / "f" / "g")


def list_a_file(layer: FileLayer, at: Path) -> Any:
    put(layer, at / "f", b"")
    layer.listdir(at / "f")


def exclusively_again(layer: FileLayer, at: Path) -> Any:
    put(layer, at / "f", b"")
    layer.open(at / "f", WRITE | os.O_EXCL)


def write_a_folder(layer: FileLayer, at: Path) -> Any:
    layer.open(at, os.O_RDWR)


def write_what_is_read_only(layer: FileLayer, at: Path) -> Any:
    put(layer, at / "f", b"")
    layer.write(layer.open(at / "f", os.O_RDONLY), b"x")


def closed(layer: FileLayer, at: Path) -> Any:
    fd = layer.open(at / "f", WRITE)
    layer.close(fd)
    layer.fsync(fd)


def mkdir_twice(layer: FileLayer, at: Path) -> Any:
    layer.mkdir(at / "d")
    layer.mkdir(at / "d")


def rmdir_full(layer: FileLayer, at: Path) -> Any:
    layer.mkdir(at / "d")
    put(layer, at / "d" / "f", b"")
    layer.rmdir(at / "d")


def link_over(layer: FileLayer, at: Path) -> Any:
    put(layer, at / "a", b"")
    put(layer, at / "b", b"")
    layer.link(at / "a", at / "b")


def unlink_folder(layer: FileLayer, at: Path) -> Any:
    layer.mkdir(at / "d")
    layer.unlink(at / "d")


def replace_folder_by_file(layer: FileLayer, at: Path) -> Any:
    layer.mkdir(at / "d")
    put(layer, at / "f", b"")
    layer.replace(at / "f", at / "d")


def replace_full_folder(layer: FileLayer, at: Path) -> Any:
    for name in ("a", "b"):
        layer.mkdir(at / name)
        put(layer, at / name / "f", b"")
    layer.replace(at / "a", at / "b")


SCRIPTS = [
    write_and_read,
    append,
    overwrite,
    names,
    modes,
    locks,
    open_folder,
    no_file,
    no_folder,
    file_as_folder,
    list_a_file,
    exclusively_again,
    write_a_folder,
    write_what_is_read_only,
    closed,
    mkdir_twice,
    rmdir_full,
    link_over,
    unlink_folder,
    replace_folder_by_file,
    replace_full_folder,
]


def outcome(script: Callable[[FileLayer, Path], Any], layer: FileLayer, at: Path) -> Any:
    try:
        return script(layer, at)
    except OSError as error:
        return type(error), error.errno


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_it_answers_as_the_real_disk(script: Callable[[FileLayer, Path], Any], tmp_path: Path) -> None:
    memory = MemoryLayer()
    memory.make_folders(tmp_path)
    assert outcome(script, ForwardingLayer(memory), tmp_path) == outcome(script, OsFileLayer(), tmp_path)
