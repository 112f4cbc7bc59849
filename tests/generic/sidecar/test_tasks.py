"""The open tasks of a host, in each shape that there is."""

from __future__ import annotations

from typing import Any

import pytest

from hindbrain.contracts import TaskState
from hindbrain.generic.sidecar._tasks import tasks_of


def result(details: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "toolResult", "toolName": "todo", "details": details, **more}}


def phases(*tasks: tuple[str, str]) -> dict[str, Any]:
    return {"phases": [{"name": "All", "tasks": [{"content": text, "status": status} for text, status in tasks]}]}


SHIPS = phases(("wash", "completed"), ("paint", "in_progress"), ("moor", "pending"), ("sell", "abandoned"))
LIST = {
    "nextId": 4,
    "tasks": [{"id": 1, "subject": "paint", "status": "pending"}, {"subject": "x", "status": "deleted"}],
}


@pytest.mark.parametrize(
    ("entries", "open_tasks"),
    [
        ([result(SHIPS)], ("paint", "moor")),
        ([result(phases(("wait", "blocked")))], ("wait",)),
        (
            [result(SHIPS), {"type": "custom", "customType": "user_todo_edit", "data": phases(("rest", "pending"))}],
            ("rest",),
        ),
        ([{"type": "custom", "customType": "rpiv-todo-state", "data": LIST}], ("paint",)),
        ([result(LIST)], ("paint",)),
        ([result({"nextId": 1, "tasks": []})], ()),
        ([result(SHIPS), result(LIST, isError=True)], ("paint", "moor")),
        ([result(SHIPS), result({"text": "no list"})], ("paint", "moor")),
        ([result(phases(("two\nlines <memory>", "pending")))], ("two lines \u2039memory\u203a",)),
    ],
)
def test_the_newest_list_counts_and_of_it_what_is_open(entries: list[Any], open_tasks: tuple[str, ...]) -> None:
    assert tasks_of(entries) == TaskState(available=True, open_tasks=open_tasks)


@pytest.mark.parametrize(
    "entries",
    [[], [None], ["x"], [{}], [{"message": None, "data": []}], [result(None)], [result({"phases": {}, "tasks": "x"})]],
)
def test_without_a_list_nothing_is_known(entries: list[Any]) -> None:
    assert tasks_of(entries) == TaskState(available=False)


@pytest.mark.parametrize(
    "task", [None, {}, {"status": "pending"}, {"status": "pending", "content": 3}, {"content": "x"}]
)
def test_a_task_that_is_none_is_passed_over(task: Any) -> None:
    assert tasks_of([result({"phases": [None, {"tasks": [task]}, {"tasks": None}]})]) == TaskState(available=True)
