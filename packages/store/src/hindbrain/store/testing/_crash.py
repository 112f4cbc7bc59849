"""What a loss of power may leave of files and folders: the model of ALICE (OSDI'14), one thing lost at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hindbrain.store.testing._node import Change, File, Folder, Node, Rename, apply, rename

_SECTOR = 512
_EVERY_CUT_UP_TO = 2048
_CUTS_PER_LONG_WRITE = 64


def file_states(file: File) -> list[bytes]:
    """The bytes a file may have, first as if nothing unsynced had arrived, last as if all had.

    Between the two: every prefix of the changes and every cut of its last one, one change lost, one sector zeroed, one
    sector stale while all others arrived.
    """
    if not file.changes:
        return [file.durable]
    states = list(dict.fromkeys(_file_states(file)))
    # The same bytes may have come up in between, so the last is put last.
    states.remove(bytes(file.data))
    return [*states, bytes(file.data)]


def _file_states(file: File) -> Iterator[bytes]:
    open_ones = [number for number, firm in enumerate(file.firm) if not firm]
    for number in open_ones:
        before = {other for other in open_ones if other < number}
        yield _with(file, before)
        change = file.changes[number]
        for length in _cuts(change):
            yield _with(file, before, Change(change.at, (change.data or b"")[:length]))
    for number in open_ones:
        yield _with(file, set(open_ones) - {number})
    everything = _with(file, set(open_ones))
    yield from _sector_states(file, open_ones, everything)
    yield everything


def _with(file: File, chosen: set[int], last: Change | None = None) -> bytes:
    data = bytearray(file.durable)
    for number, change in enumerate(file.changes):
        if file.firm[number] or number in chosen:
            apply(data, change)
    if last is not None:
        apply(data, last)
    return bytes(data)


def _cuts(change: Change) -> Sequence[int]:
    length = len(change.data or b"")
    if length <= _EVERY_CUT_UP_TO:
        return range(1, length)
    return range(1, length, max(1, length // _CUTS_PER_LONG_WRITE))


def _sector_states(file: File, open_ones: list[int], everything: bytes) -> Iterator[bytes]:
    for start in sorted({sector for number in open_ones for sector in _sectors(file.changes[number])}):
        zeroed, stale = bytearray(everything), bytearray(everything)
        for number in open_ones:
            change = file.changes[number]
            first = max(start, change.at)
            end = min(start + _SECTOR, change.at + len(change.data or b""), len(everything))
            if first < end:
                zeroed[first:end] = bytes(end - first)
                stale[first:end] = file.durable[first:end].ljust(end - first, b"\0")
        yield bytes(zeroed)
        yield bytes(stale)


def _sectors(change: Change) -> range:
    return range(change.at // _SECTOR * _SECTOR, change.at + len(change.data or b""), _SECTOR)


def folder_states(folder: Folder) -> list[dict[str, Node]]:
    """The names a folder may have: every prefix of its unsynced changes, and each change lost alone."""
    changes = folder.changes
    chosen = [changes[:length] for length in range(len(changes) + 1)]
    chosen[-1:-1] = [changes[:number] + changes[number + 1 :] for number in range(len(changes) - 1)]
    return [_named(folder, some) for some in chosen]


def _named(folder: Folder, changes: Sequence[Rename]) -> dict[str, Node]:
    names = dict(folder.durable)
    rename(names, changes)
    return names
