"""How events change a receipt: the table of the specification, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import OperationStatus
from hindbrain.store._ledger import OPEN, TRANSITIONS, WINDOW, Event, Receipt, State, moved, status_event

Made = Callable[..., Receipt]

HOUR = WINDOW // 24
S, A, C, F, U, D = State.SUBMITTED, State.ACCEPTED, State.COMPLETED, State.FAILED, State.UNKNOWN, State.DELETED

# Written out by hand, event by event, from the specification: from S, A, U, C, F, D.
TABLE: dict[Event, tuple[State | None, ...]] = {
    Event.SEND: (S, None, S, None, None, None),
    Event.ACKNOWLEDGED: (A, None, None, None, None, None),
    Event.LOST: (U, None, None, None, None, None),
    Event.REFUSED: (F, None, None, None, None, None),
    Event.STATUS_COMPLETED: (C, C, C, None, None, None),
    Event.STATUS_FAILED: (F, F, F, None, None, None),
    Event.STATUS_CANCELLED: (F, F, F, None, None, None),
    Event.STATUS_RUNNING: (A, A, A, None, None, None),
    Event.STATUS_MISSING: (S, U, U, None, None, None),
    Event.STATUS_UNANSWERED: (S, A, U, None, None, None),
    Event.EXPIRED: (F, F, F, None, None, None),
    Event.ABANDONED: (F, F, F, None, None, None),
    Event.DELETED: (D, D, D, D, D, None),
}


@pytest.mark.parametrize(("event", "state"), list(product(Event, State)))
def test_the_table_is_that_of_the_specification(made: Made, event: Event, state: State) -> None:
    expected = TABLE[event][(S, A, U, C, F, D).index(state)]
    receipt = made(state=state, missing_since=1_000)
    after = moved(receipt, event, 1_000 + WINDOW)
    assert (after.state if after else None) == expected
    assert TRANSITIONS.get((state, event)) == expected


def test_a_receipt_begins_with_being_sent_and_in_no_other_way(made: Made) -> None:
    assert [(event, to) for (state, event), to in TRANSITIONS.items() if state is None] == [(Event.SEND, S)]
    assert made().state is S


@pytest.mark.req("S2-states-011")
def test_there_are_six_states_three_of_them_final() -> None:
    assert {state.value for state in State} == {"submitted", "accepted", "completed", "failed", "unknown", "deleted"}
    assert {state for state in State if state.is_open} == {S, A, U} == OPEN
    assert {state for state in State if state.is_terminal} == {C, F, D}


@given(st.sampled_from([C, F, D]), st.lists(st.sampled_from(list(Event))))
def test_what_is_closed_never_opens(state: State, events: list[Event]) -> None:
    reached = state
    for event in events:
        reached = TRANSITIONS.get((reached, event), reached)
        assert reached.is_terminal


def test_it_is_sent_again_only_when_the_server_does_not_know_it(made: Made) -> None:
    assert moved(made(), Event.SEND, 2_000) is None
    missed = moved(made(), Event.STATUS_MISSING, 2_000)
    assert missed is not None
    again = moved(missed, Event.SEND, 3_000, newest=5_000)
    assert again is not None
    assert (again.state, again.sent_at, again.missing_since, again.detail) == (S, 5_001, None, None)
    assert (again.created_at, again.updated_at) == (1_000, 3_000)


def test_the_servers_own_id_stays_when_it_is_sent_again(made: Made) -> None:
    accepted = moved(made(), Event.ACKNOWLEDGED, 2_000, server_operation_id="server-1" + "x" * 300)
    assert accepted is not None
    assert accepted.asks_for == ("server-1" + "x" * 300)[:200]
    unknown = moved(accepted, Event.STATUS_MISSING, 3_000)
    assert unknown is not None
    again = moved(unknown, Event.SEND, 4_000)
    assert again is not None
    assert again.asks_for == accepted.asks_for
    same = moved(again, Event.ACKNOWLEDGED, 5_000, server_operation_id=made().operation_id)
    assert same is not None
    assert (same.server_operation_id, same.asks_for) == (None, made().operation_id)


def test_an_operation_fails_only_when_it_was_seen_missing_for_24_hours(made: Made) -> None:
    late = 25 * HOUR
    receipt = made(state=A, at=0)
    assert moved(receipt, Event.EXPIRED, late) is None
    assert status_event(receipt, OperationStatus.NOT_FOUND, late, may_expire=True) is Event.STATUS_MISSING
    missed = moved(receipt, Event.STATUS_MISSING, late)
    assert missed is not None
    assert (missed.state, missed.missing_since, missed.updated_at) == (U, late, late)
    assert missed.detail == "operation not found on server"
    almost, over = late + WINDOW - 1, late + WINDOW
    assert status_event(missed, OperationStatus.NOT_FOUND, almost, may_expire=True) is Event.STATUS_MISSING
    assert status_event(missed, OperationStatus.NOT_FOUND, over, may_expire=False) is Event.STATUS_MISSING
    assert status_event(missed, OperationStatus.NOT_FOUND, over, may_expire=True) is Event.EXPIRED
    assert moved(missed, Event.EXPIRED, almost) is None
    failed = moved(missed, Event.EXPIRED, over)
    assert failed is not None
    assert failed.state is F
    assert (failed.detail or "").startswith("not_found")


def test_the_other_answers_of_the_server_mean_the_same_at_any_time(made: Made) -> None:
    expected = {
        OperationStatus.PENDING: Event.STATUS_RUNNING,
        OperationStatus.PROCESSING: Event.STATUS_RUNNING,
        OperationStatus.COMPLETED: Event.STATUS_COMPLETED,
        OperationStatus.FAILED: Event.STATUS_FAILED,
        OperationStatus.CANCELLED: Event.STATUS_CANCELLED,
    }
    receipt = made(missing_since=0)
    assert {s: status_event(receipt, s, 9 * WINDOW, may_expire=True) for s in expected} == expected


def test_missing_again_changes_the_time_of_the_check_alone(made: Made) -> None:
    first = moved(made(state=U), Event.STATUS_MISSING, 2_000)
    assert first is not None
    again = moved(first, Event.STATUS_MISSING, 3_000)
    assert again is not None
    assert (again.updated_at, again.missing_since, again.last_checked_at) == (2_000, 2_000, 3_000)
    assert again.detail == first.detail


def test_a_check_without_an_answer_keeps_the_clock_of_the_missing_and_says_so_where_asked(made: Made) -> None:
    receipt = made(state=U, missing_since=5, detail="before")
    after = moved(receipt, Event.STATUS_UNANSWERED, 2_000)
    assert after is not None
    assert (after.last_checked_at, after.missing_since, after.updated_at, after.detail) == (2_000, 5, 1_000, "before")
    told = moved(receipt, Event.STATUS_UNANSWERED, 2_000, detail="no answer")
    assert told is not None
    assert told.detail == "no answer"


@pytest.mark.parametrize("event", [Event.STATUS_RUNNING, Event.ACKNOWLEDGED, Event.LOST])
def test_what_is_known_again_was_not_missing(made: Made, event: Event) -> None:
    after = moved(made(missing_since=5), event, 2_000)
    assert after is not None
    assert after.missing_since is None


def test_a_clock_that_was_ahead_begins_the_24_hours_anew(made: Made) -> None:
    receipt = made(state=U, missing_since=10 * 365 * WINDOW)
    after = moved(receipt, Event.STATUS_MISSING, 2_000)
    assert after is not None
    assert after.missing_since == 2_000


def test_another_target_is_given_up_after_24_hours(made: Made) -> None:
    assert moved(made(at=0), Event.ABANDONED, WINDOW - 1) is None
    after = moved(made(at=0), Event.ABANDONED, WINDOW)
    assert after is not None
    assert (after.state, after.last_checked_at) == (F, None)


def test_words_are_one_line_without_secrets_and_bounded(made: Made) -> None:
    token = "ghp_" + "a1B2" * 9
    after = moved(made(), Event.REFUSED, 2_000, detail=f"no\n{token} " + "x" * 500)
    assert after is not None
    assert after.detail is not None
    assert after.detail.startswith("no [REDACTED:github-token] x")
    assert len(after.detail) == 200
