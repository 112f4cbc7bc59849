"""Any order of edits, branches, rewinds, forks, crashes and restarts: each content of each entry is offered once."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hindbrain.contracts import Branch, Coverage, Entry, Message, TextPart
from hindbrain.store._cursors import Book, Cursor, fingerprint, move, new_entries
from hindbrain.store._cursors._codec import decode, encode
from hindbrain.store._seal import SealKey

KEY = SealKey(bytes(32))
SHORT = 8
"""The tail of these cursors, so that a few messages lie before it."""
WORDS = ("ok", "yes", "go on", "no")


class Sessions(RuleBasedStateMachine):
    """A lineage of session files against the set of what was offered."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[str, Entry] = {}
        self.files: list[set[str]] = [set()]
        self.file = 0
        self.leaf: str | None = None
        self.cursor = Cursor()
        self.disk = encode(Book(), KEY)
        self.log: list[Coverage] = []
        self.offered: set[tuple[str, str]] = set()

    def branch(self) -> Branch:
        return Branch({i: e for i, e in self.entries.items() if i in self.files[self.file]}, self.leaf)

    def expected(self) -> list[Entry]:
        path = self.branch().path() if self.leaf else ()
        return [e for e in path if e.message and (e.id, e.message.text) not in self.offered]

    def persist(self) -> None:
        self.disk = encode(Book().with_cursor("line", "bank", self.cursor), KEY)

    def settle(self, entries: list[Entry], *, job: bool) -> None:
        branch = self.branch()
        moved = move(self.cursor, branch, entries)
        assert (moved is None) == (not entries)
        if moved is not None:
            self.cursor = moved.cursor.with_tail((), length=SHORT)
            if job:
                self.log.append(moved.coverage("line", "bank"))
            else:
                self.persist()
        self.offered |= {(e.id, e.message.text) for e in entries if e.message}

    def run(self, *, job: bool = True) -> None:
        new = list(new_entries(self.branch(), self.cursor))
        assert new == self.expected()
        self.settle(new, job=job)

    @rule(count=st.sampled_from([1, 2, 5, 12]), words=st.sampled_from(WORDS), label=st.booleans())
    def talk(self, count: int, words: str, label: bool) -> None:
        for _ in range(count):
            message = Message(role="user", parts=(TextPart(words),))
            self.add("message", message)
        if label:
            self.add("label", None)

    def add(self, kind: str, message: Message | None) -> None:
        entry = Entry(id=f"e{len(self.entries)}", parent_id=self.leaf, kind=kind, message=message)
        self.entries[entry.id] = entry
        self.files[self.file].add(entry.id)
        self.leaf = entry.id

    @rule(seed=st.integers(0, 10**6))
    def rewind(self, seed: int) -> None:
        known = sorted(self.files[self.file])
        if known:
            self.leaf = known[seed % len(known)]

    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        """Of an entry that the tail can still name, with words it never had or had before."""
        self.run()
        tail = {each.entry_id for each in self.cursor.tail}
        near = [e.id for e in self.branch().path() if e.id in tail] if self.leaf else []
        if near:
            entry_id = data.draw(st.sampled_from(near))
            words = data.draw(st.sampled_from([*WORDS, f"edit {len(self.offered)}"]))
            message = self.entries[entry_id].message
            assert message is not None
            known = {e.fingerprint for e in self.cursor.tail if e.entry_id == entry_id}
            changed = evolve(self.entries[entry_id], message=evolve(message, parts=(TextPart(words),)))
            if (entry_id, words) not in self.offered or fingerprint(changed) in known:
                self.entries[entry_id] = changed
            self.run()

    @rule()
    def retain(self) -> None:
        self.run()

    @rule()
    def opt_out(self) -> None:
        self.run(job=False)

    @rule(keep=st.integers(0, 5))
    def retain_a_part(self, keep: int) -> None:
        new = list(new_entries(self.branch(), self.cursor))
        assert new == self.expected()
        self.settle(new[:keep], job=True)

    @rule(overlap=st.integers(0, 3))
    def deliver_one_run(self, overlap: int) -> None:
        """The new end of the branch alone, and a few messages before it that the tail can name."""
        tail = {each.entry_id for each in self.cursor.tail}
        path = list(self.branch().path()) if self.leaf else []
        begin = len(path)
        while begin and (path[begin - 1].message is None or path[begin - 1] in self.expected()):
            begin -= 1
        while overlap and begin and path[begin - 1].id in tail:
            begin, overlap = begin - 1, overlap - 1
        run = path[begin:]
        new = list(new_entries(Branch.of(run, self.leaf), self.cursor))
        assert new == [entry for entry in self.expected() if entry in run]

    @precondition(lambda self: self.leaf is not None and len(self.files) < 4)
    @rule()
    def fork(self) -> None:
        """Into a file of its own, which holds the branch alone."""
        self.files.append({entry.id for entry in self.branch().path()})
        self.file = len(self.files) - 1

    @rule(seed=st.integers(0, 3))
    def open_another_file(self, seed: int) -> None:
        self.file = seed % len(self.files)
        known = sorted(self.files[self.file])
        self.leaf = known[-1] if known else None

    @rule()
    def restart(self) -> None:
        self.persist()
        self.crash()

    @rule()
    def compact_the_log(self) -> None:
        self.persist()
        self.log = self.log[len(self.log) // 2 :]

    @rule()
    def crash(self) -> None:
        """Before the cursors were written: the file is old, the log is not."""
        book = decode(self.disk, KEY)
        assert isinstance(book, Book)
        self.cursor = book.replayed(self.log).cursor("line", "bank").with_tail((), length=SHORT)

    @invariant()
    def what_is_new_is_what_was_never_offered(self) -> None:
        assert list(new_entries(self.branch(), self.cursor)) == self.expected()


Sessions.TestCase.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestSessions = pytest.mark.timeout(300)(Sessions.TestCase)
TestSessions = pytest.mark.req("S0-cursor-004", "S0-cursor-006", "S0-cursor-007")(TestSessions)
