from __future__ import annotations

import itertools

import pytest

from hindbrain.memory import Access, BankEntry, MemoryConfig, RetainMode


def test_a_coding_bank_gets_every_turn_and_any_other_only_what_is_meant_for_it() -> None:
    assert BankEntry(id="a", role="coding").retain_mode is RetainMode.ALWAYS
    for role in ("user", "life", "notes"):
        assert BankEntry(id="a", role=role).retain_mode is RetainMode.EXPLICIT_ONLY


def test_an_entrys_own_mode_wins_over_the_roles() -> None:
    assert BankEntry(id="a", role="coding", retain_mode=RetainMode.EXPLICIT_ONLY).retained_always is False
    assert BankEntry(id="a", role="life", retain_mode=RetainMode.ALWAYS).retained_always is True


@pytest.mark.parametrize("access", list(Access))
def test_access_says_who_may_read_and_write(access: Access) -> None:
    entry = BankEntry(id="a", access=access)
    assert entry.readable is (access in {Access.READ, Access.READ_WRITE})
    assert entry.writable is (access in {Access.WRITE, Access.READ_WRITE})


def test_a_bank_that_is_switched_off_is_neither_read_nor_written() -> None:
    for access, mode in itertools.product(Access, RetainMode):
        entry = BankEntry(id="a", enabled=False, access=access, retain_mode=mode)
        uses = (entry.readable, entry.writable, entry.retained_always, entry.retained_by_decision)
        assert uses == (False,) * 4


def test_a_bank_that_is_only_read_gets_no_turn_whatever_its_mode() -> None:
    for mode in RetainMode:
        entry = BankEntry(id="a", access=Access.READ, retain_mode=mode)
        assert (entry.retained_always, entry.retained_by_decision) == (False, False)


def test_every_mode_sends_a_turn_one_way_at_most() -> None:
    ways = {
        m: (e.retained_always, e.retained_by_decision) for m in RetainMode for e in [BankEntry(id="a", retain_mode=m)]
    }
    assert ways == {
        RetainMode.ALWAYS: (True, False),
        RetainMode.DECISION: (False, True),
        RetainMode.EXPLICIT_ONLY: (False, False),
    }


def test_only_the_roles_of_a_person_make_a_user_bank() -> None:
    assert [r for r in ("coding", "user", "life", "notes") if BankEntry(id="a", role=r).is_user] == ["user", "life"]


def test_without_settings_there_is_the_projects_own_bank() -> None:
    (entry,) = MemoryConfig().banks
    assert (entry.id, entry.role, entry.retained_always) == (None, "coding", True)
