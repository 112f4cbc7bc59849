"""Part 1: kill -9 at random moments, four writers and two flushers, and a server that remembers what took effect."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from attrs import define, field
from chaos.finding import Finding, Scale
from chaos.nursery import Nursery, nursery
from chaos.server import REFUSED, RecordingServer
from chaos.subjects import Jobs
from chaos.workers import POLICY, Place, entries_in, noted, session, sid

from hindbrain.store import DurableQueue, HostState
from hindbrain.store._files import OsFileLayer, StateDir
from hindbrain.store._ledger import FactLedger
from hindbrain.store._seal import SealKey

SESSIONS = ("talk-a", "talk-b")
WRITERS = ("jobs-a", "jobs-b")
ROLES = {
    **dict.fromkeys(SESSIONS, "session_writer"),
    **dict.fromkeys(WRITERS, "job_writer"),
    "flush-a": "flusher",
    "flush-b": "flusher",
}
_BIG_QUEUE = 10_000


@define
class Crowd:
    """The workers of a run, born again each time they are killed."""

    nursery: Nursery
    place: Place
    rng: Random
    bug: str
    pids: dict[str, int] = field(factory=dict)

    def start(self, name: str) -> None:
        args = (str(self.place.root), self.place.url, name, self.rng.getrandbits(32), self.bug)
        self.pids[name] = self.nursery.start(ROLES[name], *args)

    def kill(self, name: str) -> bool:
        """Whether it lived until the kill."""
        try:
            return self.nursery.kill(self.pids.pop(name)) == -9
        except ProcessLookupError:
            return False


def run(rng: Random, scale: Scale, *, bug: str = "", kills: int | None = None) -> Finding:
    """So many kills, then peace, and a look at everything that was promised."""
    finding = Finding()
    server = RecordingServer(Random(rng.random()))
    with tempfile.TemporaryDirectory() as scratch, server.running(), nursery() as nest:
        place = Place(Path(scratch), server.url)
        crowd = Crowd(nest, place, rng, bug)
        for name in ROLES:
            crowd.start(name)
        for _ in range(kills or scale.pick(110, 1100)):
            time.sleep(rng.uniform(0.01, 0.25))
            name = rng.choice(list(ROLES))
            finding.expect(crowd.kill(name), f"{name} ended by itself")
            finding.tried["kills"] += 1
            crowd.start(name)
        for name in ROLES:
            crowd.kill(name)
        server.trouble = 0.0
        asyncio.run(_settle(place, server, finding))
        _look(place, server, finding)
    if not bug:
        finding.figures["restart with 10 000 jobs"] = f"{restart() * 1000:.0f} ms"
    return finding


async def _settle(place: Place, server: RecordingServer, finding: Finding) -> None:
    """Let everything come to its end without a kill, and look at the files."""
    notices: list[str] = []
    state = await place.open(notify=notices.append)
    async with place.client() as client:
        for name in SESSIONS:
            talking, _ = session(place, name, state, client)
            await talking._retainer.settle(await talking._host.branch())
        flusher = state.flusher(client, POLICY)
        for _ in range(20):
            report = await flusher.flush(force=True)
            if not (report.remaining or report.unconfirmed):
                break
        finding.tried["requests"] = server.counts["requests"]
        await state.run(lambda: _look_at_files(place, state, server, finding))
        await state.close()
    for notice in notices:
        finding.expect(False, f"after the kills: {notice}")  # noqa: FBT003 - a notice is a violation


def _look_at_files(place: Place, state: HostState, server: RecordingServer, finding: Finding) -> None:
    queue = state.queue
    counts = queue.counts()
    found = queue.verify()
    finding.expect(counts.waiting == 0, f"{counts.waiting} jobs never left the queue")
    finding.expect(counts.unconfirmed == 0, f"{counts.unconfirmed} jobs were never confirmed")
    finding.expect(counts.unsealed == 0, f"{counts.unsealed} lines of ours are not believed")
    finding.expect(found.damaged == found.damaged_dead == 0, f"damaged lines: {found}")
    letters = Counter(letter.id for letter in queue.dead())
    finding.tried["dead letters"] = len(letters)
    finding.expect(max(letters.values(), default=0) <= 1, "a dead letter is there twice")
    for name in (*SESSIONS, *WRITERS):
        for line in noted(place.log_file(name)):
            if "job" in line:
                finding.tried["acknowledged jobs"] += 1
                dead = letters[line["job"]] == 1
                known = dead or _took_effect(server, line)
                finding.expect(known, f"{name}: the acknowledged job {line['job']} is lost")
                finding.expect(not (dead and line["operation"] in server.operations), "a dead letter was delivered")
    state.receipts.all()
    ledger = FactLedger(StateDir.open(OsFileLayer(), place.folder)).read()
    facts = {each.document_id for each in ledger.receipts}
    for name in WRITERS:
        lines = noted(place.log_file(name))
        tags = [line["tag"] for line in lines if "tag" in line][-1:]
        record = state.records.read(sid(name))
        finding.expect(record.trusted and set(tags) <= set(record.tags), f"{name}: an acknowledged tag is lost")
        last = [line["fact"] for line in lines if "fact" in line][-1:]
        finding.expect(set(last) <= facts, f"{name}: an acknowledged fact is lost")


def _took_effect(server: RecordingServer, line: dict[str, str]) -> bool:
    """Under its own operation, or in a merge, whose content is its members' by lines or elements."""
    if line["operation"] in server.operations:
        return True
    if "content" not in line:
        # A session's entries are looked for one by one.
        return True
    return any(line["content"] in content.split("\n") for content in server.documents.get(line["document"], ()))


def _look(place: Place, server: RecordingServer, finding: Finding) -> None:
    finding.tried["operations in effect"] = len(server.operations)
    finding.tried["operations failed when taken"] = len(server.failed)
    finding.tried["operations repeated"] = server.counts["repeated"]
    finding.expect(not server.altered, f"{len(server.altered)} operations came again with other content")
    for document, contents in server.documents.items():
        finding.expect(not document.startswith(REFUSED), "what was refused took effect")
        if document.startswith("doc-"):
            lines = [line for content in contents for line in content.split("\n")]
            again = [line for line, count in Counter(lines).items() if count > 1]
            finding.expect(not again, f"{document}: {again[:3]} took effect more than once")
    said = _said([content for contents in server.documents.values() for content in contents])
    # What the server did not make at first comes later than what followed it.
    late = _said([content for _, content in server.failed.values()])
    for name, texts in said.items():
        written = [f"{name} says {number}" for number in range(entries_in(place, name))]
        finding.tried["session entries"] += len(written)
        again = [text for text, count in Counter(texts).items() if count > 1]
        finding.expect(not again, f"{len(again)} entries are in their document more than once, such as {again[:1]}")
        missing = sorted(set(written) - set(texts))
        finding.expect(not missing, f"{len(missing)} entries of {name} are in no document, such as {missing[:1]}")
        orderly = [text for text in texts if text not in late[name]]
        in_order = orderly == [text for text in written if text not in late[name]]
        finding.expect(again or missing or in_order, f"the entries of {name} are out of order")


def _said(contents: list[str]) -> dict[str, list[str]]:
    """What each session says in these contents, in order."""
    said = {name: list[str]() for name in SESSIONS}
    for content in contents:
        if content.startswith("["):
            for turn in json.loads(content):
                text = turn["content"][0]["text"]
                said[text.split(" ")[0]].append(text)
    return said


def restart(jobs: int = _BIG_QUEUE) -> float:
    """Seconds from nothing to the first job taken, with so many waiting; the best of five."""
    with tempfile.TemporaryDirectory() as scratch:
        path, key = Path(scratch) / "state" / "retain-queue.jsonl", SealKey(b"k" * 32)
        queue = DurableQueue.open(path, key=key)
        made = Jobs(Random(0))
        queue.append_many([made.one(length=300) for _ in range(jobs)])
        queue.close()
        best = 60.0
        for _ in range(5):
            begun = time.perf_counter()
            queue = DurableQueue.open(path, key=key)
            queue.append(made.one())
            best = min(best, time.perf_counter() - begun)
            queue.close()
        return best
