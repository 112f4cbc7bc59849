"""``/om`` and ``om_recall``: what the user types and the model calls, over a session file and a host from a table."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from hindbrain.generic.sidecar import Application
from hindbrain.observe import (
    Folded,
    Kind,
    Observation,
    Observed,
    Reflected,
    Reflection,
    Relevance,
    append_of,
    folded_details,
    make_observation,
    make_reflection,
)

NOW = 1_767_323_045_000


class Om:
    """A session as its user has it: what is typed and called, and what the host is asked for it."""

    def __init__(self, app: Application, host: Any, place: Any) -> None:
        self.handlers, self.host, self.place = app.handlers(), host, place
        host.answers |= {
            "host/append": place.append,
            "host/usage": {"tokens": None, "window": 128_000},
            "host/idle": {"idle": True},
            "host/copy": {"how": "clipboard"},
            "host/compact": {"done": True},
            "host/memory": {},
        }

    async def open(self, **more: Any) -> None:
        await self.handlers["session/open"](self.place.opened(**more))

    async def said(self, args: str = "", **more: Any) -> Mapping[str, Any]:
        found: Any = await self.handlers["command/run"](self.place.now(name="om", args=args, **more))
        assert set(found) == {"text", "level"}
        return dict(found)

    async def text(self, args: str = "", **more: Any) -> str:
        return str((await self.said(args, **more))["text"])

    async def recall(self, name: str = "om_recall", **arguments: Any) -> Mapping[str, Any]:
        found: Any = await self.handlers["tool/call"](self.place.now(name=name, callId="c", arguments=arguments))
        return dict(found)

    async def offered(self, prefix: str) -> list[tuple[str, str]]:
        found: Any = await self.handlers["command/complete"]({"name": "om", "prefix": prefix, "session": None})
        return [(each["value"], each["label"]) for each in found["items"]]

    def asked(self, method: str) -> list[Mapping[str, Any]]:
        return [params for name, params in self.host.calls if name == method]

    def remember(self, *records: Observation, thoughts: tuple[Reflection, ...] = ()) -> None:
        covers = self.place.leaf
        for event in (Observed(observations=records, covers=covers), Reflected(reflections=thoughts, covers=covers)):
            made = append_of(event)
            if made is not None:
                self.place.custom(made.custom_type, made.data)


@pytest.fixture
async def om(app: Application, host: Any, place: Any) -> AsyncIterator[Om]:
    yield Om(app, host, place)
    await app.close()


def seen(text: str, *sources: str, relevance: Relevance = Relevance.LOW) -> Observation:
    return make_observation(text, at=NOW, sources=sources or ("00000001",), relevance=relevance, kind=Kind.FACT)


def wordy(place: Any, words: int = 10) -> str:
    place.say("word " * words)
    return str(place.leaf)


@pytest.mark.req("S4-commands-001", "S4-commands-002", "S4-commands-003")
async def test_the_gate_is_told_and_turned(om: Om, place: Any) -> None:
    await om.open()
    wordy(place)
    assert await om.text() == "Observational memory is on in this session."
    assert await om.text("OFF") == "Observational memory is off in this session."
    assert "off" in await om.text("  ")
    assert "off already" in await om.text("off")
    assert await om.text("On") == "Observational memory is on in this session."
    assert "is on" in await om.text()
    assert place.entries("om.gate") == [{"enabled": False}, {"enabled": True}]


@pytest.mark.parametrize("args", ["help", "on now", "off off", "view all", "view full please", "status x", "viewfull"])
async def test_what_is_no_command_tells_what_is(om: Om, place: Any, args: str) -> None:
    await om.open()
    wordy(place)
    assert await om.said(args) == {
        "text": "Say /om, or /om on | off | status | consolidate | compact | view [full].",
        "level": "warning",
    }
    assert place.entries("om.gate") == []


@pytest.mark.req("S4-commands-010", "S4-commands-011", "S4-commands-012")
async def test_what_may_be_typed_is_offered(om: Om) -> None:
    verbs = ["on", "off", "status", "consolidate", "compact", "view"]
    assert await om.offered("") == [(each, each) for each in verbs]
    assert await om.offered("view ") == [("view full", "full")]
    assert await om.offered("VIEW F") == [("view full", "full")]
    assert await om.offered("con") == [("consolidate", "consolidate")]
    assert await om.offered("status ") == []


@pytest.mark.req("S4-commands-008", "S4-commands-009")
async def test_the_views_show_what_the_model_sees_and_all_there_is(om: Om, place: Any) -> None:
    await om.open()
    kept = wordy(place)
    records = [seen(f"record {n}") for n in range(8)]
    thought = make_reflection("a thought", supports=[records[0].id])
    om.remember(*records, thoughts=(thought,))
    place.compaction(
        kept, folded_details(Folded(full_fold=True, observations=tuple(records[:3]), reflections=(thought,)))
    )
    plain, whole = await om.text("view"), await om.text("view full")
    lines = [*(each.line for each in records), thought.line]
    assert [line in plain for line in lines] == [True] * 3 + [False] * 5 + [True]
    assert [line in whole for line in lines] == [True] * 9


@pytest.mark.req("S4-clipboard-009", "S4-clipboard-010", "S4-clipboard-011")
async def test_before_a_compaction_the_plain_view_is_empty_and_says_where_to_look(om: Om, place: Any) -> None:
    await om.open()
    wordy(place)
    om.remember(*(seen(f"record {n}") for n in range(4)))
    plain = await om.text("view")
    assert "record" not in plain.replace("recorded", "")
    assert "/om view full" in plain
    assert om.asked("host/copy") == []
    assert (await om.text("view full")).count("] record ") == 4


@pytest.mark.req("S4-clipboard-001", "S4-clipboard-002", "S4-clipboard-003", "S4-clipboard-004")
async def test_a_view_is_copied_without_the_line_that_says_so(om: Om, place: Any) -> None:
    await om.open()
    kept = wordy(place)
    records = tuple(seen(f"record {n}") for n in range(5))
    om.remember(*records)
    place.compaction(kept, folded_details(Folded(full_fold=True, observations=records[:2], reflections=())))
    for args, count in (("view", 2), ("view full", 5)):
        shown = await om.said(args)
        copied = om.asked("host/copy")[-1]["text"]
        assert shown == {"text": f"{copied}\n\nCopied to the clipboard.", "level": "info"}
        assert [each.line in copied for each in records] == [True] * count + [False] * (5 - count)
    assert len(om.asked("host/copy")) == 2


@pytest.mark.req("S4-clipboard-006", "S4-clipboard-007", "S4-clipboard-008")
@pytest.mark.parametrize(("how", "platform"), [({"how": None}, "linux"), (OSError("x"), "linux"), ({}, "darwin")])
async def test_a_copy_that_fails_is_said_below_the_view(
    om: Om, place: Any, how: Any, platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    om.host.answers["host/copy"] = how
    await om.open()
    wordy(place)
    record = seen("a record")
    om.remember(record)
    shown = await om.said("view full")
    assert shown["level"] == "info"
    body, _, line = shown["text"].rpartition("\n\n")
    assert body.endswith(record.line)
    assert line.startswith("Warning: it could not be copied")
    assert ("wl-clipboard, xclip or xsel" in line) is (platform == "linux")


async def test_nothing_is_copied_where_there_is_no_terminal(om: Om, place: Any) -> None:
    await om.open(mode="rpc")
    wordy(place)
    record = seen("a record")
    om.remember(record)
    assert (await om.text("view full")).endswith(record.line)
    assert om.asked("host/copy") == []


async def test_the_status_is_of_the_session_and_of_the_memory_behind_it(om: Om, place: Any) -> None:
    place.values = {"observe": {"passive": True}}
    await om.open()
    wordy(place)
    lines = (await om.text("status", width=50)).splitlines()
    assert lines[:2] == ["Memory is on", "Passive: nothing starts by itself"]
    assert "  Cap: 12,800 tokens (derived)" in lines
    assert lines[lines.index("Hindsight") + 1].startswith("  backend   local")
    assert [line for line in lines if line.startswith("  bank ")]
    assert lines[-1].endswith("▶")
    assert max(map(len, lines)) <= 50
    assert max(map(len, (await om.text("status")).splitlines())) <= 80


@pytest.mark.parametrize(("enabled", "line"), [(True, "Memory is on"), (False, "This session is not observed.")])
async def test_the_list_of_memory_has_a_page_of_it(om: Om, place: Any, line: str, *, enabled: bool) -> None:
    place.values = {"observe": {"enabled": enabled}}
    await om.open()
    wordy(place)
    nothing = {"key": None, "index": None}
    om.host.answers["host/view"] = [{"key": None, "index": 4}, nothing, nothing]
    await om.handlers["command/run"](place.now(name="hindsight", args=""))
    page = om.asked("host/view")[1]
    assert page["title"] == "Hindsight memory: observation"
    assert page["lines"][0] == line


@pytest.mark.req("S4-commands-024", "S4-commands-025")
async def test_with_the_gate_off_nothing_is_run_and_the_way_back_is_named(om: Om, place: Any) -> None:
    await om.open()
    wordy(place, 9_000)
    om.remember(seen("x"))
    await om.text("off")
    for args in ("consolidate", "compact"):
        refused = await om.said(args)
        assert "/om on" in refused["text"]
        assert refused["level"] == "warning"
    assert om.asked("host/compact") == om.asked("host/complete") == []


@pytest.mark.req("S4-commands-021", "S4-commands-022", "S4-commands-023")
async def test_without_something_new_or_a_memory_nothing_is_compacted(om: Om, place: Any) -> None:
    await om.open()
    kept = wordy(place)
    assert "no memory to compact from" in await om.text("compact")
    om.remember(seen("x"))
    place.compaction(kept)
    assert await om.text("compact") == "Nothing was said since the last compaction."
    assert om.asked("host/compact") == om.asked("host/complete") == []
    wordy(place)
    assert await om.text("compact") == "Compacted from memory."
    assert len(om.asked("host/compact")) == 1


@pytest.mark.req("S4-commands-015")
async def test_where_all_is_observed_and_there_is_no_memory_nothing_is_consolidated(om: Om, place: Any) -> None:
    await om.open()
    assert "no conversation" in await om.text("consolidate")
    wordy(place)
    om.remember()
    assert "Everything is observed" in await om.text("consolidate")
    assert om.asked("host/complete") == []


@pytest.mark.req("S4-recall-001", "S4-gate-008")
@pytest.mark.parametrize("name", ["om_recall", "recall"])
async def test_a_model_reads_what_a_record_rests_on(om: Om, place: Any, name: str) -> None:
    await om.open()
    place.say("The key lies in the vault.")
    record = seen("where the key is", place.leaf)
    om.remember(record)
    found = await om.recall(name, id=record.id)
    assert found["text"].endswith("The key lies in the vault.")
    assert (found["isError"], found["details"]) == (False, {"state": "ok", "page": 1, "pages": 1})
    await om.text("off")
    silent = await om.recall(name, id=record.id)
    assert silent["text"] == "\U000f002a disabled"
    assert silent["details"]["state"] == "warning"


@pytest.mark.req("S4-gate-014", "S4-gate-015")
async def test_a_passive_session_shows_and_recalls(om: Om, place: Any) -> None:
    place.values = {"observe": {"passive": True}}
    await om.open()
    place.say("The key lies in the vault.")
    record = seen("where the key is", place.leaf)
    om.remember(record)
    assert record.line in await om.text("view full")
    assert "in the vault" in (await om.recall(id=record.id))["text"]
    assert "passive" in await om.text()


async def test_a_recall_is_read_page_by_page(om: Om, place: Any) -> None:
    await om.open()
    place.say("start " + "word " * 5_000 + "end of it")
    record = seen("many words", place.leaf)
    om.remember(record)
    first, second = await om.recall(id=record.id), await om.recall(id=record.id, page=2)
    assert first["details"] == {"state": "ok", "page": 1, "pages": 2}
    assert "page 1 of 2" in first["text"]
    assert "start word" in first["text"]
    assert second["text"].endswith("end of it")


@pytest.mark.parametrize("wrong", [{}, {"id": 7}, {"id": "a" * 12, "page": 0}, {"id": "a" * 12, "page": True}])
async def test_an_argument_of_another_type_is_named(om: Om, place: Any, wrong: Any) -> None:
    await om.open()
    wordy(place)
    found = await om.recall(**wrong)
    assert (found["isError"], found["details"]) == (True, {"code": "bad-argument"})


async def test_a_session_that_is_not_observed_says_so(om: Om, place: Any) -> None:
    place.values = {"observe": {"enabled": False}}
    await om.open()
    wordy(place)
    assert "observe.enabled" in await om.text("status")
    found = await om.recall(id="a" * 12)
    assert found["isError"]
    assert "not observed" in found["text"]


async def test_a_command_that_the_host_fails_says_so_and_tells_no_more(om: Om, place: Any) -> None:
    om.host.answers["host/append"] = ValueError("a secret of the host")
    await om.open()
    wordy(place)
    failed = await om.said("off")
    assert failed["level"] == "error"
    assert "ValueError" in failed["text"]
    assert "secret" not in failed["text"]


@pytest.mark.req("S4-gate-002")
async def test_the_command_is_about_the_branch_on_which_the_user_stands(om: Om, place: Any) -> None:
    await om.open()
    fork = wordy(place)
    await om.text("off")
    assert "off" in await om.text()
    there, place.leaf = place.leaf, fork
    assert "is on" in await om.text()
    place.leaf = there
    assert "is off" in await om.text()


class Workers:
    """Plays the workers: each tool is called once, with what was given for it, and then there is no more to say."""

    def __init__(self, om: Om, **calls: Any) -> None:
        self.order: list[str] = []
        self.calls = calls
        om.host.answers["host/model"] = {"provider": "p", "id": "m", "window": 128_000, "maxTokens": 8_000}
        om.host.answers["host/complete"] = self.answer

    def answer(self, params: Mapping[str, Any]) -> Any:
        tool = params["tools"][0]["name"]
        self.order.append(tool)
        usage = {"input": 1, "output": 1, "cost": {"total": 0.01}}
        if tool not in self.calls or any(each["role"] == "toolResult" for each in params["messages"]):
            message: dict[str, Any] = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
            return {"message": {**message, "stopReason": "stop"}, "usage": usage}
        call = {"type": "toolCall", "id": "c", "name": tool, "arguments": self.calls[tool]}
        return {"message": {"role": "assistant", "content": [call], "stopReason": "toolUse"}, "usage": usage}

    @property
    def stages(self) -> list[str]:
        return list(dict.fromkeys(self.order))


def observation(text: str, source: str) -> dict[str, Any]:
    return {"content": text, "relevance": "high", "kind": "fact", "sourceEntryIds": [source]}


@pytest.mark.req("S4-commands-004", "S4-commands-017", "S4-commands-018")
@pytest.mark.req("S4-gate-012", "S4-status-020", "S4-status-021", "S4-status-022")
async def test_a_consolidation_runs_the_workers_in_order_whatever_the_thresholds_say(om: Om, place: Any) -> None:
    place.values = {"observe": {"passive": True, "observationsPoolTargetTokens": 20}}
    await om.open()
    source = wordy(place)
    records = [seen(f"what was said before, number {n}", source) for n in range(3)]
    om.remember(*records)
    fresh = wordy(place)
    thought = {"content": "a thought", "supportingObservationIds": [records[0].id]}
    workers = Workers(
        om,
        record_observations={"observations": [observation("something new", fresh)]},
        record_reflections={"reflections": [thought]},
        drop_observations={"ids": [records[0].id]},
    )
    assert await om.text("consolidate") == "Consolidated."
    assert workers.stages == ["record_observations", "record_reflections", "drop_observations"]
    assert place.entries("om.observations.recorded")[-1]["observations"][0]["content"] == "something new"
    assert place.entries("om.reflections.recorded")[-1]["reflections"][0]["content"] == "a thought"
    assert f"Cost\n  ${len(workers.order) / 100:.4f}, calls: observer" in await om.text("status")
    assert "cost" not in place.file.read_text("utf-8")


@pytest.mark.req("S4-commands-019")
async def test_the_dropper_rests_while_the_pool_is_small(om: Om, place: Any) -> None:
    await om.open()
    source = wordy(place)
    record = seen("a record", source)
    om.remember(record)
    wordy(place)
    thought = {"content": "a thought", "supportingObservationIds": [record.id]}
    workers = Workers(om, record_reflections={"reflections": [thought]})
    await om.text("consolidate")
    assert "record_reflections" in workers.stages
    assert "drop_observations" not in workers.stages


@pytest.mark.req("S4-commands-016")
async def test_a_memory_alone_is_enough_for_a_consolidation(om: Om, place: Any) -> None:
    await om.open()
    source = wordy(place)
    thoughts = tuple(make_reflection(f"thought {n}", supports=[seen("a record", source).id]) for n in range(3))
    om.remember(seen("a record", source), thoughts=thoughts)
    workers = Workers(om)
    assert "Consolidated" in await om.text("consolidate")
    assert workers.stages == ["record_reflections"]


@pytest.mark.req("S4-status-023", "S4-status-024")
async def test_what_was_spent_stays_on_every_branch_and_ends_with_the_session(om: Om, place: Any) -> None:
    await om.open()
    fork = wordy(place)
    Workers(om, record_observations={"observations": [observation("new", fork)]})
    await om.text("consolidate")
    spent = next(line for line in (await om.text("status")).splitlines() if line.startswith("  $"))
    assert not spent.startswith("  $0.0000")
    place.leaf = fork
    assert spent in await om.text("status")
    await om.handlers["session/close"]({"session": "s1", "reason": "quit"})
    await om.open()
    assert "  $0.0000" in await om.text("status")


@pytest.mark.req("S4-ledger-003")
async def test_what_lies_in_the_file_stays_as_it_is(om: Om, place: Any) -> None:
    await om.open()
    source = wordy(place)
    before = place.file.read_bytes()
    Workers(om, record_observations={"observations": [observation("new", source)]})
    for args in ("consolidate", "off", "on", "view full", "status", "compact"):
        await om.text(args)
        assert place.file.read_bytes().startswith(before)
        before = place.file.read_bytes()
    assert len(place.entries("om.observations.recorded")) == 1


class Compacts:
    """Compacts as a host does: asks for the summary, and writes what it got. ``go`` lets it."""

    def __init__(self, om: Om, first_kept: str) -> None:
        self.om, self.first_kept = om, first_kept
        self.answer: Mapping[str, Any] = {}
        self.began, self.go = asyncio.Event(), asyncio.Event()
        self.go.set()
        om.host.answers["host/compact"] = self.compact

    async def compact(self, _params: Mapping[str, Any]) -> Any:
        self.began.set()
        await self.go.wait()
        place = self.om.place
        asked = place.now(firstKept=self.first_kept, tokensBefore=900, reason="manual", window=128_000)
        answer: Any = await self.om.handlers["session/compact"](asked)
        self.answer = answer
        if "summary" in answer:
            place.compaction(answer["firstKept"], answer["details"], answer["summary"])
        return {"done": "summary" in answer}


@pytest.mark.req("S4-commands-005", "S4-commands-006", "S4-commands-007", "S4-gate-013")
async def test_a_compaction_is_made_at_once_and_from_memory_alone(om: Om, place: Any) -> None:
    place.values = {"observe": {"passive": True}}
    await om.open()
    source = wordy(place)
    record = seen("a record", source)
    om.remember(record)
    kept = wordy(place)
    host = Compacts(om, kept)
    assert await om.text("compact") == "Compacted from memory."
    assert record.line in host.answer["summary"]
    assert (host.answer["firstKept"], host.answer["details"]["type"]) == (kept, "om.folded")
    assert om.asked("host/complete") == []
    assert record.line in await om.text("view")


@pytest.mark.req("S4-commands-006")
async def test_a_compaction_does_not_wait_for_a_silence(om: Om, place: Any) -> None:
    place.values = {"observe": {"idleCompactionTtl": "20m", "idleCompactionMinTokens": 1, "observeAfterTokens": 9_000}}
    await om.open()
    source = wordy(place)
    om.remember(seen("a record", source))
    kept = wordy(place, 200)
    await om.handlers["session/settled"](place.now(outcome="completed"))
    host = Compacts(om, kept)
    assert om.asked("host/compact") == []
    assert await om.text("compact") == "Compacted from memory."
    assert host.began.is_set()


@pytest.mark.req("S4-commands-013")
async def test_one_run_of_the_workers_at_a_time(om: Om, place: Any) -> None:
    await om.open()
    source = wordy(place)
    workers = Workers(om, record_observations={"observations": [observation("new", source)]})
    began, go = asyncio.Event(), asyncio.Event()

    async def held(params: Mapping[str, Any]) -> Any:
        began.set()
        await go.wait()
        return workers.answer(params)

    om.host.answers["host/complete"] = held
    first = asyncio.create_task(om.text("consolidate"))
    await began.wait()
    assert await om.said("consolidate") == {"text": "The workers are at work already.", "level": "warning"}
    assert "In flight\n  observer\n" in await om.text("status")
    await om.handlers["session/turn"](place.now(phase="end"))
    asked = len(om.asked("host/complete"))
    go.set()
    assert await first == "Consolidated."
    assert asked == 1
    assert len(place.entries("om.observations.recorded")) == 1


@pytest.mark.req("S4-commands-014")
async def test_nothing_is_consolidated_while_a_compaction_is_under_way(om: Om, place: Any) -> None:
    await om.open()
    om.remember(seen("a record", wordy(place)))
    host = Compacts(om, wordy(place))
    host.go.clear()
    compaction = asyncio.create_task(om.text("compact"))
    await host.began.wait()
    assert "compaction is under way" in await om.text("consolidate")
    assert "compaction is under way already" in await om.text("compact")
    assert "In flight\n  compaction\n" in await om.text("status")
    assert om.asked("host/complete") == []
    host.go.set()
    assert await compaction == "Compacted from memory."


@pytest.mark.req("S4-commands-020")
async def test_a_compaction_waits_for_the_workers_and_shows_what_they_found(om: Om, place: Any) -> None:
    await om.open()
    source = wordy(place)
    om.remember(seen("a record", source))
    fresh, kept = wordy(place), wordy(place)
    workers = Workers(om, record_observations={"observations": [observation("the ninth thing", fresh)]})
    host = Compacts(om, kept)
    began, go = asyncio.Event(), asyncio.Event()

    async def held(params: Mapping[str, Any]) -> Any:
        began.set()
        await go.wait()
        return workers.answer(params)

    om.host.answers["host/complete"] = held
    run = asyncio.create_task(om.text("consolidate"))
    await began.wait()
    compaction = asyncio.create_task(om.text("compact"))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not host.began.is_set()
    go.set()
    assert [await run, await compaction] == ["Consolidated.", "Compacted from memory."]
    assert "the ninth thing" in host.answer["summary"]


@pytest.mark.req("S4-gate-009")
@pytest.mark.parametrize("passive", [False, True])
@pytest.mark.parametrize("gate", ["on", "off"])
async def test_workers_start_by_themselves_with_the_gate_on_and_not_passive(
    om: Om, place: Any, gate: str, *, passive: bool
) -> None:
    place.values = {"observe": {"passive": passive, "observeAfterTokens": 5}}
    await om.open()
    source = wordy(place)
    Workers(om, record_observations={"observations": [observation("new", source)]})
    await om.text(gate)
    await om.handlers["session/turn"](place.now(phase="end"))
    for _ in range(100):
        await asyncio.sleep(0)
    assert bool(place.entries("om.observations.recorded")) is (gate == "on" and not passive)
    assert ("nothing starts by itself" in await om.text("status")) is passive
    assert f"is {gate}" in await om.text()


@pytest.mark.req("S4-migration-004")
async def test_a_summary_of_version_2_stays_until_a_compaction_from_memory(om: Om, place: Any) -> None:
    await om.open()
    source = wordy(place)
    place.custom("om.observation", {"id": "old", "text": "an old observation"})
    place.compaction(source, {"type": "observational-memory", "version": 2}, "An old summary.")
    record = seen("a new record", source)
    om.remember(record)
    assert "No visible observations" in await om.text("view")
    host = Compacts(om, wordy(place))
    assert await om.text("compact") == "Compacted from memory."
    assert record.line in host.answer["summary"]
    assert "An old summary" not in host.answer["summary"]
    assert "old observation" not in host.answer["summary"]


@pytest.mark.req("S4-migration-005")
async def test_a_new_session_begins_empty_and_without_a_warning(om: Om, place: Any) -> None:
    await om.open()
    wordy(place)
    assert await om.text() == "Observational memory is on in this session."
    assert "No recorded observations" in await om.text("view full")
    assert om.host.notices() == []


@pytest.mark.req("S4-notify-007")
async def test_what_a_command_says_is_shown_also_where_the_workers_are_silent(om: Om, place: Any) -> None:
    place.values = {"observe": {"showWorkerNotifications": False}}
    await om.open()
    wordy(place)
    for words in ("", "status", "view", "off"):
        assert await om.text(words) != ""


async def test_a_session_that_is_opened_after_a_long_silence_is_compacted(
    om: Om, place: Any, host: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindbrain.generic._observe._silence.SOON", 0.0)
    place.values = {"observe": {"idleCompactionMinTokens": 10}}
    cited = wordy(place)
    om.remember(seen("the quay is closed", cited))
    place.say("Noted. " * 20, "assistant")
    asked = asyncio.Event()

    def compact(_params: Any) -> dict[str, bool]:
        asked.set()
        return {"done": True}

    host.answers["host/compact"] = compact
    await om.open()
    assert await asyncio.wait_for(asked.wait(), 15)


@pytest.mark.parametrize("mode", ["print", "json"])
async def test_a_host_that_answers_once_is_not_compacted_by_its_opening(
    om: Om, place: Any, host: Any, mode: str
) -> None:
    place.values = {"observe": {"idleCompactionMinTokens": 10}}
    om.remember(seen("the quay is closed", wordy(place)))
    place.say("Noted. " * 20, "assistant")
    await om.open(mode=mode)
    await asyncio.sleep(0)
    assert [name for name, _ in host.calls] == []


async def test_settings_that_cannot_be_looked_up_leave_a_session_without_observation(host: Any, place: Any) -> None:
    async def broken(_cwd: str) -> Any:
        raise OSError("secret")

    app = Application(host, "pi", broken)
    om = Om(app, host, place)
    await om.open()
    wordy(place)
    do = app.handlers()
    assert await do["session/turn"](place.now(phase="end")) == {}
    assert await do["session/compact"](place.now(firstKept=place.leaf, tokensBefore=1)) == {}
    assert await do["session/settled"](place.now(outcome="completed")) == {}
    await app.close()
    assert all("secret" not in each for each in host.notices())
