"""Part 3: the power goes. Every prefix and byte cut, lost sectors, renames lost without a sync of their folder."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from attrs import frozen
from chaos.finding import Finding, Scale
from chaos.part_faults import Wrap, recover
from chaos.slots import Slots, Subject
from chaos.subjects import LIVES, Life, QueueLife, subject

from hindbrain.store.testing import MemoryLayer, RecordingLayer, replay

_ENOUGH = 4


@frozen
class Moment:
    """What is promised while so many operations are done."""

    since: int
    slots: Slots


def record(life: Subject, wrap: Wrap) -> tuple[RecordingLayer, list[Moment]]:
    """A whole life, with the promises at each operation."""
    layer = RecordingLayer(MemoryLayer.holding(life.files()))
    wrapped = wrap(layer)
    slots = Slots()
    moments = [Moment(0, slots)]
    opened = life.open(wrapped)
    for step in life.steps():
        moments.append(Moment(len(layer.operations) + 1, slots.doubtful(step)))
        step.act(opened)
        slots = slots.promised(step)
        moments.append(Moment(len(layer.operations), slots))
    return layer, moments


def states(life: Subject, layer: RecordingLayer, moments: list[Moment]) -> Iterator[tuple[int, Slots, MemoryLayer]]:
    """Every disk that a loss of power may leave, at every moment, with what has to be found there; none twice."""
    seen: set[tuple[int, int]] = set()
    disk = MemoryLayer.holding(life.files())
    for done, _ in replay(layer.operations, disk):
        at = max(index for index, moment in enumerate(moments) if moment.since <= done)
        for state in disk.crash_states():
            mark = (at, hash(tuple(sorted(state.files().items()))))
            if mark not in seen:
                seen.add(mark)
                yield done, moments[at].slots, state


def run(rng: Random, scale: Scale, *, wrap: Wrap = lambda layer: layer, lives: tuple[Life, ...] = LIVES) -> Finding:
    """All states of some lives, or an even part of them."""
    finding = Finding()
    rounds = scale.pick(1, 4)
    for life in lives:
        for _ in range(rounds):
            seed = rng.randrange(1 << 30)
            run_ = subject(life, seed)
            layer, moments = record(run_, wrap)
            every = scale.pick(23, 2) if life is QueueLife else scale.pick(7, 1)
            start = rng.randrange(every)
            for number, (done, slots, state) in enumerate(states(run_, layer, moments)):
                if number % every != start:
                    continue
                finding.tried[f"states of {life.name}"] += 1
                fresh = subject(life, seed)
                fresh.steps()
                finding.violations += [
                    f"{life.name}, life {seed}, power lost after operation {done}: {each}"
                    for each in recover(fresh, state, slots)
                ]
                if len(finding.violations) > _ENOUGH:
                    return finding
    return finding
