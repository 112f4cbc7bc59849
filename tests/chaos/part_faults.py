"""Part 2: a kill, EIO, ENOSPC or a short write at the first, second, … Nth file operation, until a life completes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from random import Random

from chaos.finding import Finding, Scale
from chaos.slots import Slots, Subject
from chaos.subjects import LIVES, Life, subject

from hindbrain.store import StoreError
from hindbrain.store._files import FileLayer
from hindbrain.store.testing import Fault, FaultyLayer, Killed, MemoryLayer

FAULTS = (
    (Fault.KILL, False),
    (Fault.TORN_KILL, False),
    (Fault.EIO, False),
    (Fault.EIO, True),
    (Fault.ENOSPC, False),
    (Fault.ENOSPC, True),
    (Fault.SHORT_WRITE, False),
    (Fault.EINTR, False),
)
_ENOUGH = 4
Wrap = Callable[[FileLayer], FileLayer]


def live(life: Subject, layer: FileLayer) -> Slots:
    """Go through a life as one process, whatever is refused, and say what may stand in the slots afterwards."""
    slots = Slots()
    opened = None
    for step in life.steps():
        try:
            opened = opened if opened is not None else life.open(layer)
            step.act(opened)
        except StoreError:
            slots = slots.doubtful(step)
        except Killed:
            return slots.doubtful(step)
        else:
            slots = slots.promised(step)
    return slots


def recover(life: Subject, disk: FileLayer, slots: Slots) -> list[str]:
    """What a new process finds that may not be, before and after one step more."""
    try:
        opened = life.open(disk)
        broken = slots.broken(life.observe(opened))
        step = life.after()
        step.act(opened)
        broken += slots.promised(step).broken(life.observe(life.open(disk)))
    except StoreError as error:
        return [f"the next process is refused: {error.code}"]
    return broken


def once(life: Life, seed: int, *, number: int, fault: Fault, lasting: bool, wrap: Wrap) -> tuple[bool, list[str]]:
    """One life with one fault; whether the fault came to pass, and what was broken."""
    run = subject(life, seed)
    disk = MemoryLayer.holding(run.files())
    layer = FaultyLayer(disk, fail_at=number, fault=fault, lasting=lasting)
    slots = live(run, wrap(layer))
    broken = []
    if layer.fired and fault is Fault.EIO and not lasting:
        # A sync that failed and was believed shows once the power goes: nothing unsynced has arrived.
        broken = recover(run, next(disk.crash_states()), slots)
    if layer.fired and number % 3 == 0:
        # The recovery is killed too, and begins anew.
        again = FaultyLayer(disk, fail_at=1 + number % 17, fault=Fault.TORN_KILL)
        with suppress(Killed):
            run.open(again)
    return layer.fired, broken + recover(run, disk, slots)


def run(rng: Random, scale: Scale, *, wrap: Wrap = lambda layer: layer, lives: tuple[Life, ...] = LIVES) -> Finding:
    """Every fault at every operation of every life."""
    finding = Finding()
    for life, _ in itertools.product(lives, range(scale.pick(1, 6))):
        seed = rng.randrange(1 << 30)
        for fault, lasting in FAULTS:
            for number in itertools.count(1):
                fired, broken = once(life, seed, number=number, fault=fault, lasting=lasting, wrap=wrap)
                finding.tried[f"faults in {life.name}"] += fired
                what = f"{fault.name}{' lasting' if lasting else ''} at operation {number}"
                finding.violations += [f"{life.name}, life {seed}, {what}: {each}" for each in broken]
                if len(finding.violations) > _ENOUGH:
                    return finding
                if not fired:
                    break
    return finding
