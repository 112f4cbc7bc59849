"""The queue beside a model that a reader holds in the head: a list, a set of what is done, a list of the dead."""

from __future__ import annotations

import uuid
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hindbrain.contracts import RetainItem, RetainJob
from hindbrain.store._queue import DurableQueue
from hindbrain.store._seal import SealKey
from hindbrain.store.testing import MemoryLayer

QUEUE = Path("/state/queue.jsonl")


class QueueMachine(RuleBasedStateMachine):
    """Two processes on one disk, which may lose its power between any two steps."""

    @initialize()
    def begin(self) -> None:
        self.disk = MemoryLayer()
        self.disk.make_folders(QUEUE.parent)
        self.queues = [self.opened(), self.opened()]
        self.units: list[list[RetainJob]] = []
        self.names: list[str] = []
        self.retries: dict[str, int] = {}
        self.taken: list[str] = []
        self.dead: dict[str, str] = {}
        self.made = 0

    def opened(self) -> DurableQueue:
        return DurableQueue.open(QUEUE, key=SealKey(b"k" * 32), layer=self.disk, wait=0)

    @rule(who=st.integers(0, 1), count=st.integers(1, 3), mode=st.sampled_from(["append", "replace"]))
    def append(self, who: int, count: int, mode: str) -> None:
        jobs = [self.job(mode) for _ in range(count)]
        self.queues[who].append_many(jobs)
        self.units += [[job] for job in jobs]
        self.names += [job.id for job in jobs]

    def job(self, mode: str) -> RetainJob:
        self.made += 1
        item = RetainItem(content=f"words {self.made}", document_id="d", update_mode=mode)
        name = str(uuid.UUID(int=self.made))
        return RetainJob(id=name, bank="b", item=item, operation_id=name, created_at="2026-01-01T00:00:00Z")

    @precondition(lambda self: self.names)
    @rule(who=st.integers(0, 1), data=st.data())
    def ack(self, who: int, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(self.names))
        self.queues[who].ack([name])
        self.forget(name)

    def forget(self, name: str) -> None:
        at = self.names.index(name)
        del self.names[at], self.units[at]
        self.retries.pop(name, None)
        self.taken = [each for each in self.taken if each != name]

    @precondition(lambda self: self.names)
    @rule(who=st.integers(0, 1), data=st.data(), renew=st.booleans())
    def refuse(self, who: int, data: st.DataObject, renew: bool) -> None:
        name = data.draw(st.sampled_from(self.names))
        self.queues[who].attempt(name, "http", renew=renew)
        self.retries[name] = self.retries.get(name, 0) + 1
        self.taken = [each for each in self.taken if each != name]

    @precondition(lambda self: len(self.taken) < len(self.names))
    @rule(who=st.integers(0, 1), data=st.data())
    def take(self, who: int, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from([each for each in self.names if each not in self.taken]))
        self.queues[who].taken(name, [f"operation of {name}"])
        self.taken.append(name)

    @precondition(lambda self: self.names)
    @rule(who=st.integers(0, 1), data=st.data())
    def bury(self, who: int, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(self.names))
        content = self.queues[who].load(name).item.content
        self.queues[who].bury(name, "http")
        self.forget(name)
        self.dead[name] = content

    @precondition(lambda self: self.dead)
    @rule(who=st.integers(0, 1), data=st.data(), drop=st.booleans())
    def revive(self, who: int, data: st.DataObject, drop: bool) -> None:
        name = data.draw(st.sampled_from(sorted(self.dead)))
        if drop:
            self.queues[who].drop(name)
        else:
            fresh = self.queues[who].requeue(name)
            self.names.append(fresh)
            self.units.append([self.queues[who].load(fresh)])
        del self.dead[name]

    @rule(who=st.integers(0, 1))
    def merge(self, who: int) -> None:
        """The first two neighbours that may be merged."""
        free = [job.id for job in self.queues[who].waiting() if not job.is_fixed]
        pairs = [(a, b) for a, b in zip(self.names, self.names[1:], strict=False) if {a, b} <= set(free)]
        for a, b in pairs[:1]:
            (merge,) = self.queues[who].plan([[a, b]])
            at = self.names.index(a)
            self.names[at : at + 2] = [merge.id]
            self.units[at : at + 2] = [[*self.units[at], *self.units[at + 1]]]

    @rule(who=st.integers(0, 1))
    def compact(self, who: int) -> None:
        self.queues[who].compact()

    @rule(who=st.integers(0, 1))
    def restart(self, who: int) -> None:
        self.queues[who].close()
        self.queues[who] = self.opened()

    @rule(last=st.booleans())
    def lose_power(self, last: bool) -> None:
        """Everything that was promised is durable, so the oldest and the newest state hold the same."""
        states = list(self.disk.crash_states())
        self.disk = states[-1 if last else 0]
        self.queues = [self.opened(), self.opened()]

    @invariant()
    def both_see_what_the_model_says(self) -> None:
        for queue in getattr(self, "queues", ()):
            waiting = queue.waiting()
            names = [name for name in self.names if name not in self.taken]
            assert [job.id for job in waiting] == names
            assert [job.retries for job in waiting] == [self.retries.get(name, 0) for name in names]
            unconfirmed = [(each.job.id, each.operations) for each in queue.unconfirmed()]
            assert unconfirmed == [(name, (f"operation of {name}",)) for name in self.taken]
            for name, jobs in zip(self.names, self.units, strict=True):
                assert queue.load(name).item.content == "\n".join(job.item.content for job in jobs)
            assert {letter.id for letter in queue.dead()} == set(self.dead)
            assert queue.verify().is_sound
            counts, units = queue.counts(), dict(zip(self.names, self.units, strict=True))
            assert counts.waiting == sum(len(units[name]) for name in names)
            assert counts.bytes == sum(job.size for job in waiting)
            assert counts.unconfirmed == len(self.taken)


QueueMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestQueueMachine = QueueMachine.TestCase
