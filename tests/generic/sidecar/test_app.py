"""The application behind the bridge, with the embedded store and a host that answers from a table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hindbrain.contracts import HindbrainError
from hindbrain.generic._patch import ContextPatch
from hindbrain.generic.sidecar import Application
from hindbrain.generic.sidecar._commands import COMMANDS
from hindbrain.generic.sidecar._footer import found
from hindbrain.generic.sidecar._tools import TOOLS
from hindbrain.memory import RecallOutcome, ScopeFailure

Do = Callable[..., Awaitable[Any]]


def failed(*, outage: bool) -> RecallOutcome:
    return RecallOutcome(failures=(ScopeFailure(bank="b", code="c", outage=outage),))


@pytest.fixture
def do(app: Application) -> Do:
    """Call a method as the host does: ``do("session/open", session="s")``."""
    handlers = app.handlers()

    async def call(method: str, **params: Any) -> Any:
        return await handlers[method](params)

    return call


async def turn(do: Do, place: Any, question: str, answer: str) -> dict[str, Any]:
    """One turn of a host: the patch it got for its model call."""
    user = place.say(question)
    patch: dict[str, Any] = await do("session/context", **place.now(user=user))
    place.say(answer, "assistant")
    await do("session/settled", **place.now(outcome="completed"))
    return patch


async def test_what_one_session_retained_another_recalls(app: Application, do: Do, place: Any, host: Any) -> None:
    await do("session/open", **place.opened())
    assert await turn(do, place, "The deploy key of the harbour lives in the vault.", "Noted.") == {}
    await do("session/close", session="s1")
    await do("session/open", **place.opened(session="s2"))
    user = place.say("Where does the deploy key of the harbour live?")
    patch = await do("session/context", **place.now(session="s2", user=user))
    assert "vault" in patch["append"]
    assert host.footers()[:3] == ["memory: recalling", None, "memory: queued"]
    assert host.footers()[-2:] == ["memory: recalling", "memory: recalled 2"]
    await app.close()


async def test_a_settled_turn_is_durable_before_it_is_answered(app: Application, do: Do, place: Any) -> None:
    await do("session/open", **place.opened())
    await turn(do, place, "We pin the compiler to version nine.", "Fine.")
    queue = place.root / ".pi" / "hindsight" / "retain-queue.jsonl"
    assert b"compiler to version nine" in queue.read_bytes()
    await app.close()


async def test_a_user_message_that_is_on_no_branch_yet_is_asked_with(do: Do, app: Application, place: Any) -> None:
    await do("session/open", **place.opened())
    await turn(do, place, "The deploy key of the harbour lives in the vault.", "Noted.")
    await do("session/close", session="s1")
    await do("session/open", **place.opened())
    user = {"role": "user", "content": "Where is the deploy key of the harbour?", "timestamp": 1_767_323_999_000}
    patch = await do("session/context", **place.now(user=user))
    assert "vault" in patch["append"]
    await app.close()


async def test_a_run_that_was_broken_off_is_kept_with_the_next(do: Do, app: Application, place: Any) -> None:
    await do("session/open", **place.opened())
    await do("session/context", **place.now(user=place.say("Half a thought about the moon landing")))
    await do("session/settled", **place.now(outcome="aborted"))
    queue = place.root / ".pi" / "hindsight" / "retain-queue.jsonl"
    assert not queue.exists()
    await turn(do, place, "The rest of it.", "Yes.")
    assert b"moon landing" in queue.read_bytes()
    await app.close()


async def test_what_no_settled_turn_took_is_kept_at_the_end(do: Do, app: Application, place: Any) -> None:
    await do("session/open", **place.opened())
    await do("session/context", **place.now(user=place.say("A last word about lighthouses")))
    await app.close()
    assert b"lighthouses" in (place.root / ".pi" / "hindsight" / "retain-queue.jsonl").read_bytes()


async def test_where_there_is_no_project_memory_is_off_and_nothing_fails(
    do: Do, place: Any, host: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(place.root.parent))
    await do("session/open", **place.opened(cwd=str(place.root.parent)))
    assert await do("session/context", **place.now(user=place.say("hello"))) == {}
    assert await do("session/settled", **place.now()) == {}
    said = await do("tool/call", session="s1", name="hindsight_status", arguments={})
    assert said["isError"]
    assert host.notices() == []


async def test_a_broken_memory_is_told_once_and_breaks_no_turn(do: Do, place: Any, host: Any) -> None:
    (place.root / ".pi").mkdir()
    (place.root / ".pi" / "hindsight").symlink_to(place.data)
    await do("session/open", **place.opened())
    for _ in range(2):
        assert await do("session/context", **place.now(user=place.say("hello"))) == {}
        assert await do("session/settled", **place.now()) == {}
    assert len(host.notices()) == 1
    assert "Memory is off" in host.notices()[0]


@pytest.mark.parametrize("method", ["session/context", "session/settled", "tool/call", "command/run"])
async def test_a_session_that_was_not_opened_is_refused(do: Do, method: str) -> None:
    with pytest.raises(HindbrainError) as refused:
        await do(method, session="never", name="x")
    assert refused.value.code == "unknown-session"


@pytest.mark.parametrize("params", [{}, {"session": 7}, {"session": "s", "cwd": 1}])
@pytest.mark.parametrize("method", ["session/open", "session/context", "session/settled"])
async def test_params_of_another_form_are_refused(do: Do, method: str, params: dict[str, Any]) -> None:
    with pytest.raises(HindbrainError) as refused:
        await do(method, **params)
    assert refused.value.code in {"bad-params", "unknown-session"}


async def test_each_tool_answers_in_words(do: Do, app: Application, place: Any, host: Any) -> None:
    host.answers["host/confirm"] = {"yes": True}
    await do("session/open", **place.opened())
    retained = await do(
        "tool/call", session="s1", name="hindsight_retain", arguments={"content": "The moon is cheese.", "tags": ["t"]}
    )
    assert retained["details"]["sent"]
    found = await do("tool/call", session="s1", name="hindsight_recall", arguments={"query": "what is the moon?"})
    assert "cheese" in found["text"]
    document = retained["details"]["documentId"]
    gone = await do("tool/call", session="s1", name="hindsight_delete_document", arguments={"documentId": document})
    assert not gone["isError"]
    found = await do("tool/call", session="s1", name="hindsight_recall", arguments={"query": "what is the moon?"})
    assert found["text"] == "Nothing was found."
    status = await do("tool/call", session="s1", name="hindsight_status", arguments={})
    assert "project" in status["text"]
    assert (await do("tool/call", session="s1", name="hindsight_retain_user", arguments={"content": "x"}))["isError"]
    await app.close()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("hindsight_recall", {}),
        ("hindsight_recall", {"query": " "}),
        ("hindsight_recall", {"query": "x", "tagGroups": "all"}),
        ("hindsight_recall", {"query": "x", "tagGroups": [{"tags": ["a"], "match": "some"}]}),
        ("hindsight_recall", {"query": "x", "tagGroups": [{"and": [], "or": []}]}),
        ("hindsight_recall", {"query": "x", "minScores": {"other": 1}}),
        ("hindsight_retain", {"content": 7}),
        ("hindsight_retain", {"content": "x", "tags": "t"}),
        ("hindsight_delete_document", {}),
        ("unheard_of", {}),
    ],
)
async def test_a_tool_says_what_was_wrong_with_its_arguments(
    do: Do, app: Application, place: Any, name: str, arguments: dict[str, Any]
) -> None:
    await do("session/open", **place.opened())
    said = await do("tool/call", session="s1", name=name, arguments=arguments)
    assert said["isError"]
    assert said["text"]
    await app.close()


@pytest.mark.parametrize("ui", [False, True])
async def test_a_document_is_deleted_only_where_the_user_says_so(
    do: Do, app: Application, place: Any, host: Any, ui: bool
) -> None:
    host.answers["host/confirm"] = {"yes": False}
    await do("session/open", **place.opened(ui=ui))
    said = await do("tool/call", session="s1", name="hindsight_delete_document", arguments={"documentId": "d"})
    assert said["isError"]
    assert [method for method, _ in host.calls].count("host/confirm") == int(ui)
    await app.close()


async def run(do: Do, name: str, args: str = "") -> str:
    return str((await do("command/run", session="s1", name=name, args=args))["text"])


async def test_commands_change_what_is_retained(do: Do, app: Application, place: Any) -> None:
    await do("session/open", **place.opened())
    queue = place.root / ".pi" / "hindsight" / "retain-queue.jsonl"
    await run(do, "hindsight:retain", "off")
    await turn(do, place, "nothing of this zeppelin", "ok")
    await run(do, "hindsight:retain", "on")
    await run(do, "hindsight:next-opt-out")
    await turn(do, place, "nothing of this submarine", "ok")
    await run(do, "hindsight:tag", "add lunch")
    await turn(do, place, "but this bicycle", "ok")
    assert (b"zeppelin" in queue.read_bytes(), b"submarine" in queue.read_bytes()) == (False, False)
    assert b"bicycle" in queue.read_bytes()
    assert b'"lunch"' in queue.read_bytes()
    assert "lunch" not in await run(do, "hindsight:tag", "remove lunch")
    await app.close()


async def test_commands_tell_what_they_do_not_understand(do: Do, app: Application, place: Any) -> None:
    await do("session/open", **place.opened())
    for name, args in (
        ("hindsight:retain", "maybe"),
        ("hindsight:tag", "add"),
        ("hindsight:queue", "drop"),
        ("no", ""),
    ):
        told = await do("command/run", session="s1", name=name, args=args)
        assert told["level"] in {"warning", "error"}
    assert "tag" in (await run(do, "hindsight:tag", "add \x07")).lower()
    await app.close()


async def test_the_hub_runs_by_its_keys(do: Do, app: Application, place: Any, host: Any) -> None:
    host.answers["host/view"] = [{"key": key, "index": 0} for key in "fmxo"] + [{"key": None, "index": None}] * 2
    host.answers["host/select"] = {"index": 1}
    await do("session/open", **place.opened())
    await run(do, "hindsight")
    shown = [params for method, params in host.calls if method == "host/view"]
    assert {"f", "m", "x", "o"} == set(shown[0]["keys"])
    assert any("read-only" in line for line in shown[2]["lines"])
    assert any("skips the next run" in line for line in shown[3]["lines"])
    await app.close()


async def test_where_no_list_can_be_shown_the_status_is_text(do: Do, app: Application, place: Any, host: Any) -> None:
    host.answers["host/view"] = {"key": None, "index": None}
    await do("session/open", **place.opened(ui=False, mode="print"))
    assert "project" in await run(do, "hindsight")
    await do("session/open", **place.opened(ui=True, mode="rpc"))
    assert "project" in await run(do, "hindsight")
    await app.close()


async def test_arguments_are_completed(do: Do) -> None:
    async def values(name: str, prefix: str) -> list[str]:
        return [each["value"] for each in (await do("command/complete", name=name, prefix=prefix))["items"]]

    assert await values("hindsight:retain", "o") == ["on", "off"]
    assert await values("hindsight:tag", "r") == ["remove "]
    assert await values("nothing", "") == []


def test_the_names_that_are_served_are_those_of_the_seed() -> None:
    assert set(TOOLS) == {
        "hindsight_recall",
        "hindsight_retain",
        "hindsight_retain_user",
        "hindsight_status",
        "hindsight_delete_document",
    }
    assert "hindsight" in COMMANDS


async def test_a_session_that_lies_elsewhere_now_is_opened_anew_and_the_old_one_let_go(
    do: Do, app: Application, place: Any, tmp_path: Any
) -> None:
    await do("session/open", **place.opened())
    await do("session/context", **place.now(user=place.say("A word about windmills before the move")))
    moved = tmp_path / "moved.jsonl"
    moved.write_bytes(place.file.read_bytes())
    await do("session/open", **place.opened(file=str(moved)))
    await app.close()
    assert b"windmills" in (place.root / ".pi" / "hindsight" / "retain-queue.jsonl").read_bytes()


async def test_the_hosts_own_memory_is_warned_of_once(do: Do, app: Application, place: Any, host: Any) -> None:
    host.answers["host/memory"] = {"backend": "hindsight"}
    await do("session/open", **place.opened())
    await turn(do, place, "hello", "hello")
    await app.close()
    assert [text for text in host.notices() if "own memory is on" in text] == host.notices()
    assert len(host.notices()) == 1


async def test_the_doctor_of_the_hub_looks_at_this_host_and_this_project(do: Do, place: Any, host: Any) -> None:
    host.answers["host/view"] = [{"key": "o", "index": 0}] + [{"key": None, "index": None}] * 2
    await do("session/open", **place.opened())
    await run(do, "hindsight")
    shown = [params["lines"] for method, params in host.calls if method == "host/view"]
    assert any(str(place.root / ".pi" / "hindsight") in line for line in shown[1])
    assert any("source:pi" in line for line in shown[1])


async def test_a_recall_by_a_tag_of_ones_own_finds_the_fact_and_what_is_wrong_is_said_once(do: Do, place: Any) -> None:
    await do("session/open", **place.opened())
    kept = {"content": "The depot has a dog.", "tags": ["dog"]}
    await do("tool/call", session="s1", name="hindsight_retain", arguments=kept)
    question = {"query": "the depot", "tagGroups": [{"tags": ["dog"]}]}
    answer = await do("tool/call", session="s1", name="hindsight_recall", arguments=question)
    wrong = {"query": "the depot", "tagGroups": [{"tag": "dog"}]}
    told = await do("tool/call", session="s1", name="hindsight_recall", arguments=wrong)
    assert "The depot has a dog." in answer["text"]
    assert told["text"].count("Give a list of") == 1


@pytest.mark.parametrize(
    ("patch", "shown"),
    [
        (ContextPatch(skipped="error"), "failed"),
        (ContextPatch(skipped="backing-off"), "offline"),
        (ContextPatch(skipped="recall-failed", outcome=failed(outage=True)), "offline"),
        (ContextPatch(skipped="recall-failed", outcome=failed(outage=False)), "failed"),
        (ContextPatch(), None),
        (ContextPatch(skipped="aborted"), None),
    ],
)
def test_the_footer_tells_an_outage_from_a_failure(patch: ContextPatch, shown: str | None) -> None:
    word = found(patch)
    assert (word and word.state) == shown
