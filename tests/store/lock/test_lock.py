"""One holder at a time, on a disk in memory and by a clock of the test's own."""

from __future__ import annotations

import errno
import itertools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import pytest

from hindbrain.store import StoreFullError, StoreUnavailableError
from hindbrain.store._files import FileLayer, StateDirError, StateFileError
from hindbrain.store._lock import Lock, LockBusyError, LockLostError, Owner, Patience
from hindbrain.store.testing import Fault, FaultyLayer, ForwardingLayer, Killed, MemoryLayer, RecordingLayer

P = ParamSpec("P")
T = TypeVar("T")

AT = Path("/state")
FOLDER = AT / "retain-queue.jsonl.lock"
OWNER = FOLDER / "owner"
START = datetime(2030, 1, 1, tzinfo=UTC)
ELSEWHERE = "another-host"
ALIVE, DEAD = 1, 2


class World:
    """A disk, a clock whose sleeps pass at once, and machines whose process 1 lives and 2 is dead."""

    def __init__(self, disk: FileLayer | None = None) -> None:
        self.slept: list[float] = []
        self.passed = 0.0
        self.memory = MemoryLayer(clock=lambda: self.now().timestamp())
        self.memory.make_folders(AT)
        self.disk = disk or self.memory
        self.tokens = (f"token-{n}" for n in itertools.count())

    def now(self) -> datetime:
        return START + timedelta(seconds=self.passed)

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.slept.append(seconds)
        self.passed += seconds

    def lock(self, *, os_locks: bool = True, layer: FileLayer | None = None, host: str = "here") -> Lock:
        return Lock(
            layer or self.disk,
            FOLDER,
            os_locks=os_locks,
            patience=Patience(lambda: self.passed, self.sleep),
            now=self.now,
            token=lambda: next(self.tokens),
            host=host,
            running=lambda pid: pid == ALIVE,
        )

    def leave(self, *, age: float, pid: int = DEAD, host: str = "here") -> Owner:
        """A record that somebody else left so many seconds ago."""
        owner = Owner(pid, host, self.now() - timedelta(seconds=age), "left")
        self.put(owner.to_bytes())
        return owner

    def put(self, data: bytes) -> None:
        self.memory.make_folders(FOLDER)
        fd = self.memory.open(OWNER, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        self.memory.write(fd, data)
        self.memory.close(fd)

    def owner(self) -> Owner | None:
        return Owner.parse(self.memory.files().get(OWNER, b""))


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(params=[True, False], ids=["os locks", "no os locks"])
def os_locks(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def can_take(lock: Lock, wait: float = 0) -> bool:
    with suppress(LockBusyError), lock.held(wait):
        return True
    return False


# -- holding


@pytest.mark.req("S0-queue-006")
def test_while_it_is_held_its_folder_names_the_owner_and_others_wait(world: World, os_locks: bool) -> None:
    with world.lock(os_locks=os_locks).held():
        owner = world.owner()
        assert owner is not None
        assert (owner.host, owner.acquired_at) == ("here", START)
        assert not can_take(world.lock(os_locks=os_locks))
    assert OWNER not in world.memory.files()
    assert can_take(world.lock(os_locks=os_locks))


def test_a_record_of_its_own_is_written_for_rewriting_only_where_the_os_keeps_others_out(world: World) -> None:
    with world.lock().light():
        assert OWNER not in world.memory.files()
        assert not can_take(world.lock())
    with world.lock(os_locks=False, layer=World().memory).light():
        pass


def test_without_os_locks_the_light_one_keeps_others_out_too(world: World) -> None:
    with world.lock(os_locks=False).light():
        assert not can_take(world.lock(os_locks=False))


def test_after_an_error_inside_it_is_free_again(world: World, os_locks: bool) -> None:
    lock = world.lock(os_locks=os_locks)
    with pytest.raises(KeyError), lock.held():
        raise KeyError
    assert can_take(lock)
    assert can_take(world.lock(os_locks=os_locks))


def test_threads_that_share_a_lock_wait_for_each_other(world: World, os_locks: bool) -> None:
    lock = world.lock(os_locks=os_locks)
    with lock.held(), pytest.raises(LockBusyError) as caught, lock.light(0):
        pass
    assert caught.value.holder is not None


class SlowMutex:
    """A mutex that another thread gives back after two seconds."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.held = True

    def acquire(self, *, blocking: bool = True, timeout: float = -1) -> bool:
        if blocking:
            self.world.passed += min(timeout, 2)
            self.held = timeout < 2
        return not self.held

    def release(self) -> None:
        self.held = True


def test_what_a_thread_waited_for_its_own_process_counts_as_waited(world: World, os_locks: bool) -> None:
    lock = world.lock(os_locks=os_locks)
    vars(lock)["_mutex"] = SlowMutex(world)
    assert can_take(lock, 5)
    assert world.passed == 2
    with world.lock(os_locks=os_locks).held():
        assert not can_take(lock, 5)
    assert world.passed == pytest.approx(7)
    assert not can_take(lock, 1)
    assert world.passed == pytest.approx(8)


@pytest.mark.parametrize("way", ["held", "light"])
def test_of_many_threads_one_is_inside(way: str) -> None:
    world = World()
    lock = Lock(world.memory, FOLDER)
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        with getattr(lock, way)(30):
            inside.append(1)
            most.append(len(inside))
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 32


def calls(lock: Lock, recording: RecordingLayer) -> list[str]:
    recording.operations.clear()
    with lock.light(0):
        pass
    return [o.name for o in recording.operations]


def test_an_append_under_a_lock_whose_folder_is_at_rest_costs_four_calls(world: World) -> None:
    recording = RecordingLayer(world.memory)
    lock = world.lock(layer=recording)
    assert can_take(lock)
    fresh = ["try_lock", "lstat", "lstat", "lstat", "pread", "unlock"]
    assert [calls(lock, recording) for _ in range(2)] == [fresh, fresh]
    world.passed += 2
    assert calls(lock, recording) == fresh
    assert calls(lock, recording) == ["try_lock", "lstat", "pread", "unlock"]


def test_a_record_that_appears_in_a_folder_at_rest_is_seen(world: World) -> None:
    lock = world.lock()
    assert can_take(lock)
    world.passed += 2
    with lock.light(0):
        pass
    world.leave(age=0, host=ELSEWHERE)
    assert not can_take(lock)


def test_a_folder_at_rest_that_is_replaced_is_seen(world: World) -> None:
    lock = world.lock()
    assert can_take(lock)
    world.passed += 2
    with lock.light(0):
        pass
    world.memory.replace(FOLDER, AT / "moved")
    with world.lock().light(0):
        assert not can_take(lock)


def test_a_closed_lock_can_be_used_again(world: World) -> None:
    lock = world.lock()
    assert can_take(lock)
    lock.close()
    lock.close()
    assert can_take(lock)


# -- waiting


@pytest.mark.parametrize("wait", [0, 0.004, 5.0])
def test_the_wait_is_bounded_and_its_pauses_grow(world: World, os_locks: bool, wait: float) -> None:
    with world.lock(os_locks=os_locks).held():
        with pytest.raises(LockBusyError), world.lock(os_locks=os_locks).held(wait):
            pass
        assert world.passed == pytest.approx(wait)
        assert world.slept[:5] == pytest.approx([0.001, 0.002, 0.004, 0.008, 0.016][: len(world.slept[:5])], abs=0.004)
        assert len(world.slept) < 250
        assert max(world.slept, default=0) <= 0.025


def test_it_is_taken_as_soon_as_it_is_free(world: World, os_locks: bool) -> None:
    stack = ExitStack()
    stack.enter_context(world.lock(os_locks=os_locks).held())
    other = world.lock(os_locks=os_locks)
    pauses = world.sleep

    def sleep(seconds: float) -> None:
        pauses(seconds)
        if len(world.slept) == 3:
            stack.close()

    other._patience = Patience(lambda: world.passed, sleep)
    assert can_take(other, 5)
    assert len(world.slept) == 3


def test_the_error_names_the_folder_and_the_process_and_says_what_to_do(world: World) -> None:
    world.leave(age=5, pid=ALIVE)
    with pytest.raises(LockBusyError) as caught, world.lock(os_locks=False).held(1):
        pass
    assert str(caught.value) == (
        f"{FOLDER} is held by process 1 on here, which did not let go in time; nothing was changed. "
        f"Try again. If no such process runs any more, remove the folder {FOLDER} by hand."
    )
    assert (caught.value.path, caught.value.code, caught.value.retryable) == (FOLDER, "lock-busy", True)


def test_a_light_holder_is_named_too(world: World) -> None:
    with world.lock(host="its-host").light(), pytest.raises(LockBusyError, match="on its-host,"), world.lock().light(0):
        pass


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (b"{}", "a process without a record"),
        (b'{"pid":7,"acquiredAt":"2030-01-01T00:00:00Z","token":"t"}', "7 on an unn"),
    ],
)
def test_a_holder_that_cannot_be_named_is_told_as_such(world: World, record: bytes, words: str) -> None:
    world.put(record)
    with pytest.raises(LockBusyError, match=words), world.lock(os_locks=False).held(0):
        pass


class Stubborn(ForwardingLayer):
    """A disk where an operation raises an error so many times."""

    def __init__(self, inner: FileLayer, name: str, number: int, times: int) -> None:
        super().__init__(inner)
        self.name, self.number, self.times = name, number, times

    def around(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if call.__name__ == self.name and self.times:
            self.times -= 1
            raise OSError(self.number, "as told")
        return call(*args, **kwargs)


@pytest.mark.parametrize("number", [errno.EPERM, errno.EBUSY, errno.ENOTEMPTY])
def test_an_error_that_only_says_busy_is_waited_out(world: World, os_locks: bool, number: int) -> None:
    assert can_take(world.lock(os_locks=os_locks, layer=Stubborn(world.memory, "mkdir", number, 3)), 5)
    assert len(world.slept) == 3


def test_an_error_that_says_busy_for_ever_ends_with_the_wait(world: World, os_locks: bool) -> None:
    layer = Stubborn(world.memory, "mkdir", errno.EPERM, 10**6)
    assert not can_take(world.lock(os_locks=os_locks, layer=layer), 5)
    assert world.passed == pytest.approx(5)
    assert len(world.slept) < 250


def test_any_other_error_of_the_disk_is_told_at_once(world: World, os_locks: bool) -> None:
    layer = Stubborn(world.memory, "mkdir", errno.ENOSPC, 1)
    with pytest.raises(StoreFullError), world.lock(os_locks=os_locks, layer=layer).held():
        pass
    assert world.slept == []


def test_a_holder_that_cannot_be_read_does_not_hide_that_the_lock_is_busy(world: World) -> None:
    with world.lock().held():
        layer = Stubborn(world.memory, "read", errno.EIO, 10**6)
        with pytest.raises(LockBusyError, match="without a record"), world.lock(layer=layer).held(0):
            pass


def test_without_the_folder_above_nothing_is_waited_for(os_locks: bool) -> None:
    world = World(MemoryLayer())
    with pytest.raises(StoreUnavailableError, match="/state is not there"), world.lock(os_locks=os_locks).held():
        pass
    assert world.slept == []


# -- what is found there


@pytest.mark.parametrize("host", ["here", ""])
def test_under_the_os_lock_a_dead_holders_record_does_not_bind(world: World, host: str) -> None:
    world.leave(age=5 if host else 31, pid=ALIVE, host=host)
    with world.lock().light(0):
        assert OWNER not in world.memory.files()


@pytest.mark.parametrize("host", ["", ELSEWHERE])
@pytest.mark.parametrize("way", ["held", "light"])
def test_under_the_os_lock_a_fresh_record_of_another_program_or_machine_binds(
    world: World, host: str, way: str
) -> None:
    world.leave(age=5, host=host)
    lock = world.lock()
    with pytest.raises(LockBusyError), getattr(lock, way)(0):
        pass
    with getattr(lock, way)(26):
        assert world.passed == pytest.approx(25, abs=0.1)


def test_a_record_that_a_repository_dates_into_the_future_keeps_nobody_out(world: World) -> None:
    world.leave(age=-3600 * 24 * 3650, host=ELSEWHERE)
    assert can_take(world.lock())


@pytest.mark.parametrize("data", [b"", b"\x00" * 90, b"{" * 5000, b"x" * 5000])
def test_under_the_os_lock_a_record_that_cannot_be_read_does_not_bind(world: World, data: bytes) -> None:
    world.put(data)
    assert can_take(world.lock())


@pytest.mark.req("S0-queue-007")
def test_without_os_locks_a_record_is_stale_after_thirty_seconds_and_binds_before(world: World) -> None:
    world.leave(age=5)
    lock = world.lock(os_locks=False)
    assert not can_take(lock, 5)
    world.leave(age=31)
    with lock.held(0):
        owner = world.owner()
        assert owner is not None
        assert owner.token != "left"
    assert not any(path.is_relative_to(FOLDER) for path in world.memory.files())


def test_without_os_locks_a_living_process_of_this_machine_is_never_robbed(world: World) -> None:
    world.leave(age=3600 * 24 * 3650, pid=ALIVE)
    assert not can_take(world.lock(os_locks=False), 5)
    assert can_take(world.lock(os_locks=False, host=ELSEWHERE))


def test_without_os_locks_a_clock_that_jumped_back_robs_nobody(world: World) -> None:
    world.leave(age=-3600)
    assert not can_take(world.lock(os_locks=False), 5)


@pytest.mark.req("S2-receipts-010")
def test_without_os_locks_a_dead_owners_lock_is_left_and_its_owner_and_the_way_out_are_told(world: World) -> None:
    owner = world.leave(age=20)
    words = r"held by process 2 on here.*remove the folder .* by hand"
    with pytest.raises(LockBusyError, match=words) as caught, world.lock(os_locks=False).held(5):
        pass
    assert caught.value.holder == owner
    assert world.owner() == owner


@pytest.mark.parametrize("data", [None, b"torn"])
def test_without_os_locks_a_folder_without_a_readable_owner_is_as_old_as_its_last_change(
    world: World, data: bytes | None
) -> None:
    world.memory.mkdir(FOLDER)
    if data:
        fd = world.memory.open(OWNER, os.O_RDWR | os.O_CREAT)
        world.memory.write(fd, data)
        world.memory.close(fd)
    assert not can_take(world.lock(os_locks=False), 29)
    assert can_take(world.lock(os_locks=False), 2)
    assert world.memory.listdir(AT) == []


def test_a_folder_that_holds_more_than_the_lock_is_left_and_can_be_used(world: World) -> None:
    world.memory.mkdir(FOLDER)
    world.memory.close(world.memory.open(FOLDER / "somebody-elses", os.O_RDWR | os.O_CREAT))
    world.passed += 31
    lock = world.lock(os_locks=False)
    assert can_take(lock)
    assert world.memory.listdir(FOLDER) == ["somebody-elses"]
    assert can_take(lock, 31)


def test_a_file_in_place_of_the_folder_is_refused(os_locks: bool) -> None:
    world = World(MemoryLayer.holding({FOLDER: b""}))
    with pytest.raises(StateDirError), world.lock(os_locks=os_locks).held():
        pass


def test_a_folder_in_place_of_the_locked_file_is_refused(world: World) -> None:
    world.memory.make_folders(FOLDER / "os.lock")
    with pytest.raises(StateFileError), world.lock().held():
        pass


def test_a_folder_that_somebody_removed_while_we_kept_it_open_is_made_again(world: World) -> None:
    mine, others = world.lock(), world.lock()
    assert can_take(mine)
    world.memory.unlink(FOLDER / "os.lock")
    world.memory.rmdir(FOLDER)
    with others.held():
        assert not can_take(mine)
    world.memory.unlink(FOLDER / "os.lock")
    world.memory.rmdir(FOLDER)
    assert can_take(mine, 1)


# -- where the file system knows no locks


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_where_the_file_system_knows_no_locks_the_record_decides(world: World, number: int) -> None:
    layer = Stubborn(world.memory, "try_lock", number, 10**6)
    one, two = world.lock(layer=layer), world.lock(layer=layer)
    with one.held(1):
        assert world.owner() is not None
        assert not can_take(two, 1)
    assert can_take(two, 1)
    assert world.memory.listdir(AT) == []
    assert world.memory._open == {}


def test_another_error_of_the_os_lock_is_told(world: World) -> None:
    with (
        pytest.raises(StoreUnavailableError),
        world.lock(layer=Stubborn(world.memory, "try_lock", errno.EIO, 1)).held(),
    ):
        pass


# -- renewing


def test_a_holder_that_renews_keeps_it_for_as_long_as_it_likes(world: World, os_locks: bool) -> None:
    with world.lock(os_locks=os_locks, host=ELSEWHERE).held() as hold:
        for _ in range(4):
            world.passed += 20
            hold.renew()
            owner = world.owner()
            assert owner is not None
            assert owner.acquired_at == world.now()
            assert not can_take(world.lock(os_locks=os_locks))


@pytest.mark.parametrize("released", [True, False])
def test_without_os_locks_a_holder_that_was_taken_for_dead_learns_it_and_takes_nothing_back(
    world: World, released: bool
) -> None:
    with world.lock(os_locks=False, host=ELSEWHERE).held() as hold:
        world.passed += 31
        stack = ExitStack()
        stack.enter_context(world.lock(os_locks=False).held(0))
        if released:
            stack.close()
        files = world.memory.files()
        with pytest.raises(LockLostError):
            hold.renew()
    assert world.memory.files() == files
    stack.close()


def test_what_is_held_no_more_cannot_be_renewed(world: World, os_locks: bool) -> None:
    with world.lock(os_locks=os_locks).held() as hold:
        pass
    with pytest.raises(LockLostError):
        hold.renew()
    assert OWNER not in world.memory.files()


def test_a_renewal_that_the_disk_refuses_is_told(world: World) -> None:
    layer = Stubborn(world.memory, "write", errno.ENOSPC, 0)
    with world.lock(layer=layer).held() as hold:
        layer.times = 1
        with pytest.raises(StoreFullError):
            hold.renew()
        assert world.memory.listdir(FOLDER) == ["os.lock", "owner"]


# -- faults


def test_a_full_disk_keeps_nobody_from_making_room(world: World) -> None:
    layer = FaultyLayer(world.memory, fail_at=1, fault=Fault.SHORT_WRITE)
    assert can_take(world.lock(layer=layer))
    full = Stubborn(world.memory, "write", errno.ENOSPC, 10**6)
    with world.lock(layer=full).held():
        assert not can_take(world.lock())


def every_fault(world_of: Callable[[], World], fault: Fault, os_locks: bool) -> Iterator[tuple[World, FaultyLayer]]:
    for number in itertools.count(1):
        world = world_of()
        layer = FaultyLayer(world.memory, fail_at=number, fault=fault)
        yield world, layer
        if not layer.fired:
            break
    assert number > (5 if os_locks else 4)


def fresh() -> World:
    return World()


def stale() -> World:
    world = World()
    world.leave(age=40)
    return world


def unreadable() -> World:
    world = World()
    world.put(b"torn")
    world.passed += 40
    return world


def without_owner() -> World:
    world = World()
    world.memory.make_folders(FOLDER)
    world.passed += 40
    return world


WORLDS = [fresh, stale, unreadable, without_owner]


@pytest.mark.parametrize("world_of", WORLDS)
@pytest.mark.parametrize("fault", [Fault.EINTR, Fault.SHORT_WRITE])
def test_signals_and_short_writes_change_nothing(world_of: Callable[[], World], fault: Fault, os_locks: bool) -> None:
    for world, layer in every_fault(world_of, fault, os_locks):
        lock = world.lock(os_locks=os_locks, layer=layer)
        with lock.held(0) as hold:
            hold.renew()
            assert not can_take(world.lock(os_locks=os_locks))
        assert OWNER not in world.memory.files()


@pytest.mark.parametrize("world_of", WORLDS)
def test_an_error_at_any_moment_leaves_a_lock_that_can_be_taken(world_of: Callable[[], World], os_locks: bool) -> None:
    for world, layer in every_fault(world_of, Fault.EIO, os_locks):
        with suppress(StoreUnavailableError), world.lock(os_locks=os_locks, layer=layer).held(0):
            assert not can_take(world.lock(os_locks=os_locks))
        world.passed += 40
        assert can_take(world.lock(os_locks=os_locks))


@pytest.mark.parametrize("world_of", WORLDS)
@pytest.mark.parametrize("fault", [Fault.KILL, Fault.TORN_KILL])
def test_a_kill_at_any_moment_costs_others_no_more_than_the_time_to_be_stale(
    world_of: Callable[[], World], fault: Fault, os_locks: bool
) -> None:
    for world, layer in every_fault(world_of, fault, os_locks):
        with suppress(Killed), world.lock(os_locks=os_locks, layer=layer).held(0):
            pass
        world.passed += 0 if os_locks else 40
        with world.lock(os_locks=os_locks).held(0):
            assert not can_take(world.lock(os_locks=os_locks))


@pytest.mark.parametrize("world_of", [stale, unreadable])
def test_however_many_die_while_they_take_over_the_next_one_still_can(world_of: Callable[[], World]) -> None:
    for numbers in itertools.product(range(1, 12), repeat=2):
        world = world_of()
        for number in numbers:
            layer = FaultyLayer(world.memory, fail_at=number, fault=Fault.TORN_KILL)
            with suppress(Killed, LockBusyError), world.lock(os_locks=False, layer=layer).held(0):
                pass
            world.passed += 40
        assert can_take(world.lock(os_locks=False)), numbers
        assert world.memory.listdir(AT) == [], numbers


def test_a_token_that_another_program_made_up_names_no_file_of_its_choice(world: World) -> None:
    for token in ("../../../etc/passwd", "", "\0", "x" * 300):
        world.put(Owner(DEAD, "here", START - timedelta(seconds=40), token).to_bytes())
        assert can_take(world.lock(os_locks=False))
        assert world.memory.listdir(Path("/")) == ["state"]


# -- two at once: the second cuts in before each single operation of the first


class CutIn(ForwardingLayer):
    """Runs ``other`` before its operation number ``at``."""

    def __init__(self, inner: FileLayer, at: int, other: Callable[[], Any]) -> None:
        super().__init__(inner)
        self.count, self.at, self.other = 0, at, other

    def around(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        self.count += 1
        if self.count == self.at:
            self.other()
        return call(*args, **kwargs)


@pytest.mark.parametrize("world_of", WORLDS)
@pytest.mark.parametrize("lets_go", [True, False])
def test_wherever_a_second_one_cuts_in_the_two_never_hold_it_together(
    world_of: Callable[[], World], lets_go: bool, os_locks: bool
) -> None:
    outcomes = set()
    for number in itertools.count(1):
        world, second = world_of(), ExitStack()
        inside: list[str] = []

        @contextmanager
        def holding(name: str, lock: Lock, inside: list[str] = inside) -> Iterator[None]:
            with lock.held(0) as hold:
                inside.append(name)
                assert len(inside) == 1
                hold.renew()
                yield
                inside.remove(name)

        def cut_in(world: World = world, second: ExitStack = second, enter: Any = holding) -> None:
            with suppress(LockBusyError):
                second.enter_context(enter("second", world.lock(os_locks=os_locks)))
                outcomes.add("second")
                if lets_go:
                    second.close()

        layer = CutIn(world.memory, number, cut_in)
        with suppress(LockBusyError), holding("first", world.lock(os_locks=os_locks, layer=layer)):
            outcomes.add("first")
        second.close()
        assert can_take(world.lock(os_locks=os_locks), 31)
        if number > layer.count:
            break
    assert outcomes == {"first", "second"}


def test_a_lock_that_is_closed_while_it_is_held_is_free(world: World) -> None:
    lock = world.lock()
    with lock.held():
        lock.close()
        assert can_take(world.lock())
    assert can_take(lock)


def test_an_os_lock_that_cannot_be_given_back_is_given_back_by_closing(world: World) -> None:
    lock = world.lock(layer=Stubborn(world.memory, "unlock", errno.EIO, 1))
    with lock.light():
        pass
    assert can_take(world.lock())
    assert can_take(lock)


def test_a_file_that_vanishes_once_it_is_locked_is_made_again(world: World) -> None:
    def remove() -> None:
        with suppress(FileNotFoundError):
            world.memory.unlink(FOLDER / "os.lock")

    for number in itertools.count(1):
        layer = CutIn(world.memory, number, remove)
        assert can_take(world.lock(layer=layer), 1)
        if number > layer.count:
            break
