"""Import and live retain know of each other: no message goes to memory by both ways."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hindbrain.generic import DiskOutbox, InProcessHost, Session, memory_config
from hindbrain.generic._import import Profile, TreeImport
from hindbrain.memory import SessionIdentity, session_key
from hindbrain.memory.sessions import names_of, raw_messages, read_session
from hindbrain.store import HostState
from hindbrain.store._cursors import legacy_fingerprint


async def live(place: Any, path: Path) -> list[str]:
    """Let a session of this file be settled as its host would; the texts that were retained."""
    found = await place.survey(path)
    target = found.groups[0].target
    state = await HostState.open(target.folder, seal_file=place.folder / "data" / "seal.key")
    host = InProcessHost()
    for entry in read_session(path).entries:
        host.add(entry)
    names = names_of(path)
    assert names is not None
    session = Session(
        host=host,
        backend=place.server,
        config=memory_config(target.settings),
        project=target.project,
        identity=SessionIdentity(
            host="pi", key=session_key(str(path)), lineage=names.lineage, label=path.name, origin="local"
        ),
        outbox=DiskOutbox(state, place.server, target.settings),
    )
    turn = await session.settled()
    await session.close()
    contents = [json.loads(job.item.content) for job in turn.jobs]
    return [part["text"] for turns in contents for each in turns for part in each["content"]]


async def test_what_a_session_retained_while_it_ran_is_not_imported(place: Any) -> None:
    recording = place.record()
    recording.turns(1, 3)
    path = recording.write()
    await live(place, path)
    (planned,) = await place.plan()
    (report,) = await place.run()
    for each in (planned, report):
        assert (each.new, dict(each.tally.dropped)) == (0, {"retained-live": 6})
    assert len(place.server.asked) == 1
    recording.turns(4, 4)
    recording.write()
    await place.run()
    assert list(place.server.documents.values())[-1].content.count('"role"') == 2


async def test_a_session_that_is_taken_up_again_retains_nothing_that_was_imported(place: Any) -> None:
    recording = place.record()
    recording.turns(1, 5)
    recording.add("toolResult", "a listing", toolName="bash", isError=False)
    path = recording.write()
    await place.run(turns=2)
    assert await live(place, path) == []
    recording.turns(6, 6)
    recording.write()
    assert await live(place, path) == ["question 6 of 1", "answer 6 of 1"]


async def test_an_import_after_that_sends_nothing_again(place: Any) -> None:
    recording = place.record()
    recording.turns(1, 3)
    path = recording.write()
    await place.run(turns=2)
    recording.turns(4, 5)
    recording.write()
    await live(place, path)
    before = len(place.server.asked)
    (report,) = await place.run(turns=2)
    assert (report.to_send, report.same, report.tally.dropped["retained-live"]) == (0, 2, 4)
    recording.turns(6, 6)
    recording.write()
    (report,) = await place.run(turns=2)
    assert (report.new, report.replaced) == (1, 0)
    ((_, _, item),) = place.server.asked[before:]
    assert [turn["content"][0]["text"] for turn in json.loads(item.content)] == ["question 6 of 1", "answer 6 of 1"]


async def test_it_is_imported_all_the_same_where_that_is_asked_for(place: Any) -> None:
    recording = place.record()
    recording.turns(1, 3)
    path = recording.write()
    await live(place, path)
    (report,) = await place.run(again=True)
    assert (report.new, report.tally.kept) == (1, 6)
    (report,) = await place.run(mode="raw")
    assert report.new == 1


async def test_what_was_imported_to_one_server_can_be_imported_to_another(place: Any) -> None:
    recording = place.record()
    recording.turns(1, 3)
    recording.write()
    await place.run(turns=2)
    place.values = {"backend": "hindsight"}
    (report,) = await place.run(turns=2)
    assert (report.new, report.same) == (2, 0)


async def test_branches_that_were_imported_are_not_retained_when_they_are_taken_up(place: Any) -> None:
    recording = place.record()
    asked = recording.turns(1, 2)
    recording.add("user", "another way", parent=asked[0])
    path = recording.write()
    await place.run(branches=True)
    recording.add("user", "the first way after all", parent=asked[1])
    recording.write()
    assert await live(place, path) == ["the first way after all"]


async def test_a_fork_that_is_taken_up_retains_only_what_is_its_own(place: Any) -> None:
    parent = place.record("2026-01-02_00000001-0000-7000-8000-000000000000.jsonl")
    parent.turns(1, 2)
    above = parent.write()
    fork = place.record("fork.jsonl", number=2, parent_session=str(above))
    fork.lines += parent.lines[1:]
    fork.add("user", "another way", parent=json.loads(parent.lines[-1])["id"])
    path = fork.write()
    await place.run()
    assert await live(place, path) == []
    fork.add("user", "and on")
    fork.write()
    assert await live(place, path) == ["and on"]


async def test_what_the_gate_kept_out_of_an_import_is_not_retained_when_the_session_is_taken_up(place: Any) -> None:
    recording = place.record()
    recording.turns(1, 2)
    path = recording.write()
    place.values = {"retain": {"beforeEnqueue": {"command": ["grep", "-q", "question 2"]}}}
    (report,) = await place.run(turns=1)
    assert (report.refused, report.sent) == (1, 1)
    place.values = {}
    assert await live(place, path) == []
    (report,) = await place.run(turns=1)
    assert (report.to_send, report.same) == (1, 1)


async def test_what_the_typescript_extension_retained_is_not_imported(place: Any) -> None:
    recording = place.record()
    recording.turns(1, 3)
    path = recording.write()
    raw = [message for _, message in raw_messages(path)]
    folder = place.project / ".pi/hindsight"
    folder.mkdir(parents=True)
    prints = [legacy_fingerprint(message) for message in raw]
    (folder / "retain-cursors.json").write_text(json.dumps({session_key(str(path)): prints}))
    (report,) = await place.run()
    assert (report.new, dict(report.tally.dropped)) == (0, {"retained-live": 6})


async def test_a_session_without_a_header_is_imported_and_has_no_cursor(place: Any, server: Any) -> None:
    recording = place.record()
    recording.turns(1, 1)
    recording.lines[0] = "{broken"
    recording.write()
    tree = TreeImport(await place.survey(project=place.project), Profile())
    (report,) = await tree.run()
    await tree.send([report])
    assert report.new == 1
    assert server.words() == ["question 1 of 1", "answer 1 of 1"]


@pytest.mark.req("S0-scopes-028")
async def test_the_scopes_of_an_import_mean_the_bank_that_was_named(place: Any, server: Any) -> None:
    recording = place.record()
    recording.turns(1, 1)
    recording.write()
    place.values = {"observations": {"scopes": [["bank:{bankId}"]]}}
    tree = TreeImport(await place.survey(bank="archive-1"), Profile())
    await tree.send(await tree.run())
    ((_, bank, item),) = server.asked
    assert (bank, item.observation_scopes) == ("archive-1", (("bank:archive-1",),))
