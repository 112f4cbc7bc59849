"""A disk in memory that knows what would survive a loss of power."""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from attrs import define

from hindbrain.store.testing._crash import file_states, folder_states
from hindbrain.store.testing._node import Change, File, Folder, Node, Rename

_PERMISSIONS = 0o7777
_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR


@define(eq=False)
class _Open:
    node: Node
    flags: int
    position: int = 0


class MemoryLayer:
    """A FileLayer in memory: files and folders, no links; a user, no others; locks between its descriptors.

    Bytes are durable after the file's ``fsync``, names after their folder's ``sync_dir``. ``crash_states`` gives the
    disks that a loss of power may leave now. ``clock`` gives the times of changes, in seconds; without one
    every change has the next whole number.
    """

    def __init__(self, *, clock: Callable[[], float] | None = None) -> None:
        self._clock = clock if clock is not None else itertools.count().__next__
        self._root = Folder(0o700)
        self._open: dict[int, _Open] = {}
        self._locks: dict[int, int] = {}

    @classmethod
    def holding(cls, files: Mapping[Path, bytes], *, clock: Callable[[], float] | None = None) -> MemoryLayer:
        """A disk with these files, all durable, and the folders they need."""
        disk = cls(clock=clock)
        for path, data in files.items():
            disk.make_folders(path.parent)
            disk._parent(path).apply(Rename(None, path.name, File(0o600, data)))
        disk.settle()
        return disk

    def make_folders(self, path: Path) -> None:
        """Make a folder and those above it, durably."""
        for folder in (*reversed(path.parents), path):
            if folder.name and folder.name not in self._parent(folder).names:
                self.mkdir(folder)
                self.sync_dir(folder.parent)

    def files(self) -> dict[Path, bytes]:
        """Every file, as it is now."""
        return {path: bytes(node.data) for path, node in _walk(Path("/"), self._root) if isinstance(node, File)}

    def settle(self) -> None:
        """Make everything durable."""
        for _, node in _walk(Path("/"), self._root):
            node.settle()

    def doubt(self, fd: int) -> None:
        """Let a sync of this file fail: its pending bytes may be lost, and no later sync brings them back.

        Source: "Can Applications Recover from fsync Failures?" (ATC'20).
        """
        node = self._open[fd].node
        if isinstance(node, File):
            node.doubt()

    # -- loss of power

    def crash_states(self) -> Iterator[MemoryLayer]:
        """The disks that a loss of power may leave now, each usable as a disk of its own.

        Each file and folder with unsynced changes goes through its states, once with all others as if nothing of them
        had arrived, and once as if everything had.
        """
        nodes = list(dict.fromkeys(self._all_nodes()))
        states: dict[Node, list[bytes] | list[dict[str, Node]]] = {
            node: file_states(node) if isinstance(node, File) else folder_states(node) for node in nodes
        }
        moving = [node for node in nodes if len(states[node]) > 1]
        for others in (0, -1) if moving else (0,):
            chosen: dict[Node, bytes | dict[str, Node]] = {node: states[node][others] for node in nodes}
            yield self._load(chosen)
            for node in moving:
                for state in states[node][1:-1] if others else states[node][1:]:
                    yield self._load({**chosen, node: state})

    def _all_nodes(self) -> Iterator[Node]:
        """Everything that is there, and what is there only durably, or was there in between."""
        waiting: list[Node] = [self._root]
        seen: set[Node] = set()
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            yield node
            if isinstance(node, Folder):
                waiting += [*node.names.values(), *node.durable.values()]
                waiting += [change.node for change in node.changes if change.node is not None]

    def _load(self, chosen: Mapping[Node, bytes | dict[str, Node]]) -> MemoryLayer:
        disk = MemoryLayer(clock=self._clock)
        copies: dict[Node, Node] = {}

        def copy(node: Node) -> Node:
            if node not in copies:
                state = chosen[node]
                copies[node] = File(node.mode, state, state) if isinstance(state, bytes) else fill(node, state)
            return copies[node]

        def fill(folder: Node, state: dict[str, Node]) -> Folder:
            names = {name: copy(inside) for name, inside in state.items()}
            return Folder(folder.mode, names, dict(names))

        names = chosen[self._root]
        disk._root = fill(self._root, names if isinstance(names, dict) else {})
        return disk

    # -- FileLayer

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        folder = self._parent(path)
        node = folder.names.get(path.name)
        if node is None:
            if not flags & os.O_CREAT:
                raise _error(errno.ENOENT)
            node = File(mode & _PERMISSIONS, changed=self._clock())
            self._rename(folder, Rename(None, path.name, node))
        elif flags & os.O_CREAT and flags & os.O_EXCL:
            raise _error(errno.EEXIST)
        elif isinstance(node, Folder) and flags & _ACCESS != os.O_RDONLY:
            raise _error(errno.EISDIR)
        if flags & os.O_TRUNC and isinstance(node, File):
            node.apply(Change(0, None))
        fd = min(set(range(3, len(self._open) + 4)) - self._open.keys())
        self._open[fd] = _Open(node, flags)
        return fd

    def close(self, fd: int) -> None:
        node = self._opened(fd).node
        if self._locks.get(node.number) == fd:
            del self._locks[node.number]
        del self._open[fd]

    def read(self, fd: int, count: int) -> bytes:
        opened = self._opened(fd)
        data = self.pread(fd, count, opened.position)
        opened.position += len(data)
        return data

    def pread(self, fd: int, count: int, offset: int) -> bytes:
        return bytes(self._file(fd, os.O_RDONLY).data[offset : offset + count])

    def write(self, fd: int, data: bytes | memoryview) -> int:
        file, opened = self._file(fd, os.O_WRONLY), self._opened(fd)
        at = len(file.data) if opened.flags & os.O_APPEND else opened.position
        if data:
            file.apply(Change(at, bytes(data)))
            file.changed = self._clock()
        opened.position = at + len(data)
        return len(data)

    def fsync(self, fd: int) -> None:
        self._opened(fd).node.settle()

    def ftruncate(self, fd: int, length: int) -> None:
        self._file(fd, os.O_WRONLY).apply(Change(length, None))

    def fchmod(self, fd: int, mode: int) -> None:
        self._opened(fd).node.mode = mode

    def fstat(self, fd: int) -> os.stat_result:
        return _stat(self._opened(fd).node)

    def lstat(self, path: Path) -> os.stat_result:
        return _stat(self._node(path))

    def chmod(self, path: Path, mode: int) -> None:
        self._node(path).mode = mode

    def replace(self, source: Path, target: Path) -> None:
        node = self._node(source)
        before, after = self._parent(source), self._parent(target)
        there = after.names.get(target.name)
        if there is node:
            return
        if isinstance(there, Folder):
            raise _error(errno.ENOTEMPTY if there.names else errno.EISDIR)
        if before is after:
            self._rename(before, Rename(source.name, target.name, node))
        else:
            self._rename(after, Rename(None, target.name, node))
            self._rename(before, Rename(source.name, None, None))

    def link(self, source: Path, target: Path) -> None:
        node, folder = self._node(source), self._parent(target)
        if target.name in folder.names:
            raise _error(errno.EEXIST)
        self._rename(folder, Rename(None, target.name, node))

    def unlink(self, path: Path) -> None:
        if isinstance(self._node(path), Folder):
            raise _error(errno.EISDIR)
        self._rename(self._parent(path), Rename(path.name, None, None))

    def mkdir(self, path: Path, mode: int = 0o700) -> None:
        folder = self._parent(path)
        if path.name in folder.names:
            raise _error(errno.EEXIST)
        self._rename(folder, Rename(None, path.name, Folder(mode, changed=self._clock())))

    def rmdir(self, path: Path) -> None:
        if self._folder(path).names:
            raise _error(errno.ENOTEMPTY)
        self._rename(self._parent(path), Rename(path.name, None, None))

    def listdir(self, path: Path) -> list[str]:
        return list(self._folder(path).names)

    def sync_dir(self, path: Path) -> None:
        self._folder(path).settle()

    def try_lock(self, fd: int) -> bool:
        return self._locks.setdefault(self._opened(fd).node.number, fd) == fd

    def unlock(self, fd: int) -> None:
        if self._locks.get(self._opened(fd).node.number) == fd:
            del self._locks[self._opened(fd).node.number]

    # -- finding things

    def _rename(self, folder: Folder, change: Rename) -> None:
        folder.apply(change)
        folder.changed = self._clock()

    def _node(self, path: Path) -> Node:
        node: Node = self._root
        for part in path.parts[1:]:
            if not isinstance(node, Folder):
                raise _error(errno.ENOTDIR)
            if part not in node.names:
                raise _error(errno.ENOENT)
            node = node.names[part]
        return node

    def _folder(self, path: Path) -> Folder:
        node = self._node(path)
        if not isinstance(node, Folder):
            raise _error(errno.ENOTDIR)
        return node

    def _parent(self, path: Path) -> Folder:
        return self._folder(path.parent)

    def _opened(self, fd: int) -> _Open:
        if fd not in self._open:
            raise _error(errno.EBADF)
        return self._open[fd]

    def _file(self, fd: int, access: int) -> File:
        opened = self._opened(fd)
        if not isinstance(opened.node, File):
            raise _error(errno.EISDIR)
        if opened.flags & _ACCESS not in {access, os.O_RDWR}:
            raise _error(errno.EBADF)
        return opened.node


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _stat(node: Node) -> os.stat_result:
    owner = os.geteuid() if hasattr(os, "geteuid") else 0
    times = (node.changed, node.changed, node.changed)
    return os.stat_result((node.kind | node.mode, node.number, 1, 1, owner, 0, node.size, *times))


def _walk(path: Path, node: Node) -> Iterator[tuple[Path, Node]]:
    yield path, node
    if isinstance(node, Folder):
        for name, inside in node.names.items():
            yield from _walk(path / name, inside)
