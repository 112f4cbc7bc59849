"""Sessions go to memory once: whatever is repeated, copied, forked, or went on meanwhile."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from hindbrain.contracts import OperationStatus
from hindbrain.generic._cli._import_text import exit_of, warnings_of
from hindbrain.generic._import import ImportReport, Profile, TreeImport
from hindbrain.generic._import._ledger import CHECKPOINT, MANIFEST
from hindbrain.generic._import._run import Importer
from hindbrain.store import HostState, StateFileDistrustedError, StoreError
from hindbrain.store._lock import LockBusyError

FORK = "2026-01-02T00-00-00-000Z_{}.jsonl"


def state(place: Any) -> Path:
    folder: Path = place.project / ".pi" / "hindsight"
    return folder


def numbers(report: ImportReport) -> tuple[int, int, int, int]:
    return report.new, report.replaced, report.same, report.sent


async def test_a_plan_counts_and_changes_nothing(place: Any, server: Any) -> None:
    recording = place.record()
    recording.turns(1, 3)
    recording.add("toolResult", "a long listing", toolName="bash", isError=False)
    recording.write()
    before = sorted(place.folder.rglob("*"))
    (report,) = await place.plan()
    assert (report.new, report.tally.kept) == (1, 6)
    assert dict(report.tally.dropped) == {"successful-tool-output": 1}
    assert report.tally.dropped_bytes["successful-tool-output"] == len("a long listing")
    assert sorted(place.folder.rglob("*")) == before
    assert server.asked == []


async def test_a_plan_counts_what_the_import_then_does(place: Any) -> None:
    recording = place.record()
    recording.turns(1, 45)
    recording.write()
    (planned,), (done,) = await place.plan(), await place.run()
    assert (planned.new, planned.tally) == (done.new, done.tally)
    (again,) = await place.plan()
    assert (again.new, again.same) == (0, 3)


async def test_what_is_imported_says_where_it_comes_from(place: Any, server: Any) -> None:
    recording = place.record()
    first, *_ = recording.turns(1, 2)
    path = recording.write()
    await place.run(tags=("topic:old",))
    ((operation, bank, item),) = server.asked
    session = "00000001-0000-7000-8000-000000000000"
    assert item.document_id == f"pi-import:{session}:curated-turns-v1:turns-20-bytes-100000:from-{first}"
    assert item.update_mode == "replace"
    assert item.timestamp == "2026-01-02T00:04:00.000Z"
    assert item.tags[:2] == ("source:pi", "harness:pi")
    for tag in (f"branch:{first}", "import:historical", "imported:true", f"document:{item.document_id}", "topic:old"):
        assert tag in item.tags
    assert not any(tag.startswith("session:") for tag in item.tags)
    assert item.metadata["retainSource"] == "import"
    assert item.metadata["sessionFile"] == str(path)
    assert item.metadata["cwd"] == str(place.project)
    assert bank.startswith("pi-project-project-")
    assert operation[14] == "5"


async def test_turns_go_into_documents_of_the_number_that_was_asked_for(place: Any, server: Any) -> None:
    recording = place.record()
    asked = recording.turns(1, 5)
    recording.write()
    (report,) = await place.run(turns=2)
    assert [name.rpartition("-")[2] for name in server.documents] == [asked[0], asked[2], asked[4]]
    assert numbers(report) == (3, 0, 0, 3)


async def test_an_import_that_is_repeated_sends_nothing(place: Any, server: Any) -> None:
    recording = place.record()
    recording.turns(1, 5)
    path = recording.write()
    await place.run(turns=2)
    (again,) = await place.run(turns=2)
    assert numbers(again) == (0, 0, 3, 0)
    assert again.files[0].unchanged
    os.utime(path, ns=(1, 1))
    (touched,) = await place.run(turns=2)
    assert numbers(touched) == (0, 0, 3, 0)
    assert len(server.asked) == 3


async def test_an_import_that_is_repeated_while_the_server_is_down_queues_nothing_twice(
    place: Any, server: Any
) -> None:
    recording = place.record()
    recording.turns(1, 5)
    recording.write()
    server.down = True
    (report,) = await place.run(turns=2)
    assert (report.new, report.sent, report.waiting) == (3, 0, 3)
    assert report.code is not None
    (again,) = await place.run(turns=2)
    assert (again.new, again.waiting) == (0, 3)
    assert len((state(place) / "retain-queue.jsonl").read_text().splitlines()) == 3
    server.down = False
    (last,) = await place.run(turns=2)
    assert (last.new, last.sent, last.waiting) == (0, 3, 0)
    assert len(server.asked) == 3


async def test_of_a_session_that_went_on_only_the_last_document_is_replaced(place: Any, server: Any) -> None:
    recording = place.record()
    recording.turns(1, 5)
    recording.write()
    await place.run(turns=2)
    recording.turns(6, 7)
    recording.write()
    (report,) = await place.run(turns=2)
    assert numbers(report) == (1, 1, 2, 2)
    assert len(server.documents) == 4
    words = server.words()
    assert sorted(words) == sorted({*words})
    assert len(words) == 14


async def test_a_document_that_is_as_it_was_before_it_changed_is_sent_again(place: Any, server: Any) -> None:
    recording = place.record()
    recording.turns(1, 1)
    path = recording.write()
    short = path.read_bytes()
    await place.run()
    recording.turns(2, 2)
    recording.write()
    await place.run()
    path.write_bytes(short)
    (report,) = await place.run()
    assert report.replaced == 1
    assert len({operation for operation, _, _ in server.asked}) == 3
    assert server.words() == ["question 1 of 1", "answer 1 of 1"]


async def test_a_fork_brings_only_what_its_parent_does_not_have(place: Any, server: Any) -> None:
    parent = place.record(FORK.format("00000001-0000-7000-8000-000000000000"))
    asked = parent.turns(1, 3)
    above = parent.write()
    fork = place.record("a-fork.jsonl", number=2, parent_session="/elsewhere/" + above.name)
    fork.lines += parent.lines[1:5]
    fork.add("user", "another way", parent=json.loads(parent.lines[4])["id"])
    fork.write()
    (report,) = await place.run()
    assert [file.session[7] for file in report.files] == ["1", "2"]
    assert report.tally.dropped["in-parent-session"] == 4
    assert len(server.words()) == len({*server.words()}) == 7
    assert "parent:00000001-0000-7000-8000-000000000000" in list(server.documents.values())[1].tags
    assert asked[0] not in list(server.documents)[1]


async def test_a_fork_that_is_imported_alone_is_whole(place: Any, server: Any) -> None:
    fork = place.record(number=2, parent_session="/gone/" + FORK.format("00000001-0000-7000-8000-000000000000"))
    fork.turns(1, 2)
    fork.write()
    await place.run()
    assert len(server.words()) == 4


async def test_a_fork_keeps_what_its_parent_left(place: Any, server: Any) -> None:
    parent = place.record(FORK.format("00000001-0000-7000-8000-000000000000"))
    first, *_ = parent.turns(1, 1)
    parent.add("user", "the way that was left")
    left = list(parent.lines)
    parent.add("user", "the way that was gone", parent=first)
    above = parent.write()
    fork = place.record("fork.jsonl", number=2, parent_session=str(above))
    fork.lines += left[1:]
    fork.write()
    await place.run()
    assert sorted(server.words()) == [
        "answer 1 of 1",
        "question 1 of 1",
        "the way that was gone",
        "the way that was left",
    ]


async def test_branches_that_were_left_are_imported_on_request_and_each_message_once(place: Any, server: Any) -> None:
    recording = place.record()
    asked = recording.turns(1, 2)
    recording.add("user", "another second question", parent=asked[0])
    recording.write()
    (report,) = await place.run()
    assert sorted(server.words()) == ["another second question", "question 1 of 1"]
    assert report.tally.dropped["other-branch"] == 3
    (report,) = await place.run(branches=True)
    assert report.tally.dropped["other-branch"] == 0
    assert len(server.words()) == len({*server.words()}) == 5
    assert all("forked:true" in item.tags for item in server.documents.values())


async def test_raw_is_one_document_a_branch_with_all_that_leads_to_it(place: Any, server: Any) -> None:
    recording = place.record()
    asked = recording.turns(1, 25)
    recording.add("user", "another way", parent=asked[1])
    recording.write()
    await place.run(mode="raw")
    assert len(server.documents) == 1
    assert server.words() == ["question 1 of 1", "answer 1 of 1", "question 2 of 1", "another way"]
    await place.run(mode="raw", branches=True)
    assert len(server.documents) == 2
    assert len(server.words()) == 50 + 4


async def test_the_longest_of_several_copies_is_imported_and_the_others_are_named(place: Any, server: Any) -> None:
    recording = place.record("old/a.jsonl")
    recording.turns(1, 1)
    old = recording.write()
    recording.turns(2, 2)
    recording.path = place.sessions / "new" / "b.jsonl"
    recording.write()
    survey = await place.survey()
    assert [(each.path, each.reason) for each in survey.passed_over] == [(old.resolve(), "copy")]
    await place.run()
    assert len(server.words()) == 4


async def test_broken_lines_and_files_are_named_and_stop_nothing(place: Any, server: Any) -> None:
    recording = place.record()
    recording.turns(1, 1)
    recording.lines.insert(2, '{"type":"message","id":"broken')
    recording.write()
    (place.sessions / "other.jsonl").write_text('{"no": "session"}\n')
    (place.sessions / "binary.jsonl").write_bytes(os.urandom(500))
    (place.sessions / "empty.jsonl").write_bytes(b"")
    survey = await place.survey(place.sessions, place.sessions / "gone.jsonl")
    reasons = {each.path.name: each.reason for each in survey.passed_over}
    assert reasons == {
        "other.jsonl": "not-a-session",
        "binary.jsonl": "not-a-session",
        "empty.jsonl": "not-a-session",
        "gone.jsonl": "missing",
    }
    (report,) = await place.run()
    assert [(problem.line, problem.reason.value) for problem in report.files[0].broken] == [(3, "not-json")]
    assert server.words() == ["question 1 of 1", "answer 1 of 1"]


async def test_a_file_that_is_gone_since_it_was_found_is_named_and_stops_nothing(place: Any, server: Any) -> None:
    for number, name in enumerate(("a.jsonl", "b.jsonl"), start=1):
        recording = place.record(name, number=number)
        recording.turns(1, 1)
        recording.write()
    found = await place.survey()
    (place.sessions / "a.jsonl").unlink()
    tree = TreeImport(found, Profile())
    (report,) = await tree.run()
    await tree.send([report])
    assert [(each.path.name, each.reason) for each in report.passed_over] == [("a.jsonl", "missing")]
    assert len(server.words()) == 2


async def test_each_session_goes_to_the_project_it_ran_in(place: Any, server: Any, monkeypatch: Any) -> None:
    other, home = place.folder / "other", place.folder / "home"
    (other / ".git").mkdir(parents=True)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    directories = [place.project / "src", other, place.folder / "gone", home, None]
    (place.project / "src").mkdir()
    for number, cwd in enumerate(directories, start=1):
        recording = place.record(f"{number}.jsonl", number=number, cwd=cwd)
        recording.turns(1, 1)
        if cwd is None:
            recording.lines[0] = recording.lines[0].replace(', "cwd": "None"', "")
        recording.write()
    found = await place.survey()
    assert {each.path.name: each.reason for each in found.passed_over} == {
        "3.jsonl": "project-gone",
        "4.jsonl": "no-project",
        "5.jsonl": "no-directory",
    }
    reports = await place.run()
    assert [Path(report.target.project.root) for report in reports] == [place.project, other]
    assert (place.project / ".pi/hindsight").is_dir()
    assert (other / ".pi/hindsight").is_dir()
    assert len({bank for _, bank, _ in server.asked}) == 2
    only = await place.survey(only=other)
    assert [group.target.project.root for group in only.groups] == [str(other)]
    named = await place.survey(project=other)
    assert len(named.groups[0].sources) == 5


async def test_a_project_whose_state_cannot_be_used_does_not_stop_the_others(place: Any, server: Any) -> None:
    other = place.folder / "other"
    (other / ".git").mkdir(parents=True)
    (place.folder / "elsewhere").mkdir()
    (place.project / ".pi").symlink_to(place.folder / "elsewhere")
    for number, cwd in ((1, place.project), (2, other)):
        recording = place.record(f"{number}.jsonl", number=number, cwd=cwd)
        recording.turns(1, 1)
        recording.write()
    refused, taken = await place.run()
    assert [(each.path.name, each.reason) for each in refused.passed_over] == [("1.jsonl", "state-dir")]
    assert refused.error is not None
    assert taken.sent == 1
    assert sorted(server.words()) == ["answer 1 of 2", "question 1 of 2"]
    assert any("project: " in line for line in warnings_of([refused, taken], await place.survey()))
    assert exit_of([refused, taken], await place.survey()) == 5
    with pytest.raises(StoreError):
        await place.run(place.sessions / "1.jsonl")


async def test_a_plan_of_many_files_keeps_none_of_them(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hindbrain.generic._import._batch.MOST_JOBS", 1)
    for number in range(1, 4):
        recording = place.record(f"{number}.jsonl", number=number)
        recording.turns(1, 1)
        recording.write()
    batches: list[int] = []
    real = Importer._commit

    async def commit(self: Importer) -> None:
        batches.append(len(self._batch.jobs))
        await real(self)

    monkeypatch.setattr(Importer, "_commit", commit)
    await place.plan()
    assert batches == [1, 1, 1, 0]


async def test_the_manifest_says_what_each_file_became(place: Any) -> None:
    recording = place.record()
    recording.turns(1, 3)
    path = recording.write()
    await place.run(turns=2)
    manifest = json.loads((state(place) / MANIFEST).read_text())
    became = manifest["files"][str(path.resolve())]
    ((bank, documents),) = manifest["imports"].items()
    assert became["documents"] == list(documents)
    assert bank.startswith("local pi-project-")
    assert [each["status"] for each in documents.values()] == ["completed", "completed"]
    assert json.loads((state(place) / CHECKPOINT).read_text())["finished"] is True
    for name in (MANIFEST, CHECKPOINT):
        assert (state(place) / name).stat().st_mode & 0o777 == 0o600


async def test_what_the_server_took_and_broke_off_is_sent_again_by_the_next_import(place: Any, server: Any) -> None:
    recording = place.record()
    recording.turns(1, 3)
    recording.write()
    server.ends = [OperationStatus.FAILED, OperationStatus.COMPLETED]

    def statuses() -> list[str]:
        ((_, documents),) = json.loads((state(place) / MANIFEST).read_text())["imports"].items()
        return [each["status"] for each in documents.values()]

    (report,) = await place.run(turns=2)
    assert (report.sent, report.waiting) == (2, 0)
    assert statuses() == ["queued", "queued"]
    await place.run(turns=2)
    assert len(server.asked) == 3
    assert len(server.documents) == 2
    await place.run(turns=2)
    assert statuses() == ["completed", "completed"]
    assert len(server.asked) == 3


@pytest.mark.parametrize("name", [MANIFEST, CHECKPOINT])
@pytest.mark.parametrize("data", [b"{", b'{"version":1,"imports":{},"files":{}}\n'])
async def test_a_damaged_or_foreign_book_is_an_error_with_advice_and_not_forgotten(
    place: Any, server: Any, name: str, data: bytes
) -> None:
    recording = place.record()
    recording.turns(1, 3)
    recording.write()
    await place.run()
    (state(place) / name).write_bytes(data)
    with pytest.raises(StateFileDistrustedError) as caught:
        await place.run()
    assert name in str(caught.value)
    assert "move it away" in caught.value.next_step
    assert (state(place) / name).read_bytes() == data
    assert len(server.asked) == 1


async def test_a_manifest_that_was_lost_makes_nothing_new_of_what_was_sent(place: Any, server: Any) -> None:
    recording = place.record()
    recording.turns(1, 3)
    recording.write()
    await place.run()
    (state(place) / MANIFEST).unlink()
    await place.run()
    assert len({operation for operation, _, _ in server.asked}) == 1


async def test_two_imports_into_one_project_do_not_work_at_once(place: Any) -> None:
    recording = place.record()
    recording.turns(1, 3)
    recording.write()
    other = await HostState.open(state(place), seal_file=place.folder / "data" / "seal.key")
    async with other.alone("import"):
        with pytest.raises(LockBusyError):
            await place.run()
    await other.close()
    await place.run()


async def test_what_the_gate_refuses_is_kept_out_and_asked_about_again(place: Any, server: Any) -> None:
    recording = place.record()
    recording.turns(1, 3)
    recording.write()
    place.values = {"retain": {"beforeEnqueue": {"command": ["false"]}}}
    (report,) = await place.run(turns=2)
    assert (report.refused, report.new) == (2, 0)
    assert server.asked == []
    place.values = {}
    (report,) = await place.run(turns=2)
    assert (report.refused, report.to_send, report.sent) == (0, 2, 2)


async def test_other_settings_of_what_is_kept_are_a_reason_to_look_again(place: Any, server: Any) -> None:
    recording = place.record()
    recording.turns(1, 1)
    recording.add("toolResult", "a listing", toolName="bash", isError=False)
    recording.write()
    await place.run()
    place.values = {"retain": {"content": {"toolResult": ["content"]}}}
    (report,) = await place.run()
    assert report.replaced == 1
    assert "a listing" in server.words()


async def test_another_bank_gets_it_too(place: Any, server: Any) -> None:
    recording = place.record()
    recording.turns(1, 1)
    recording.write()
    await place.run()
    tree = TreeImport(await place.survey(bank="archive-1"), Profile())
    await tree.send(await tree.run())
    assert [bank for _, bank, _ in server.asked][1:] == ["archive-1"]


async def test_the_recorded_sessions_of_both_hosts_are_imported_as_a_tree(place: Any, server: Any) -> None:
    examples = Path(__file__).parents[3] / "examples" / "sessions"
    shutil.copytree(examples, place.sessions / "examples")
    found = await place.survey(project=place.project)
    tree = TreeImport(found, Profile())
    reports = await tree.run()
    await tree.send(reports)
    assert sorted((report.target.host, len(report.files), report.to_send) for report in reports) == [
        ("omp", 2, 3),
        ("pi", 2, 3),
    ]
    assert all("source:omp" in item.tags or "source:pi" in item.tags for item in server.documents.values())
    words = "\n".join(server.words())
    assert "all twelve warehouse machines retried in the same second" in words
