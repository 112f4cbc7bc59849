"""Import of old sessions: megabytes of session file a second from the disk into the queue, secrets taken out.

Each run imports a tree of sessions into a state folder of its own: finding the files, reading, choosing, scrubbing,
cutting, fingerprints for the cursors, sealing, one write and one sync a batch, manifest and checkpoint. A large
recording makes a tree as several sessions of the same content. The floor reads the same files and parses each line as
JSON. Runs take turns with the floor, and all count CPU time of the process, that is of one core.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from _recordings import DATA, PI_SESSIONS
from _row import Row, median

from hindbrain.generic import Layer, merge
from hindbrain.generic._import import Mode, Profile, TreeImport, Where, survey

RUNS = 5
TREE = 10_000_000
EXAMPLES = Path(__file__).parents[2] / "examples" / "sessions"


def parsed(files: Iterable[Path]) -> None:
    """Read every line as JSON."""
    for path in files:
        for line in path.read_bytes().splitlines():
            json.loads(line)


class Imports:
    """Imports of the same places, each into a project of its own."""

    def __init__(self, folder: Path, places: list[Path], mode: Mode) -> None:
        self._folder = folder
        self._places = places
        self._profile = Profile(mode=mode)
        self._number = 0

    def once(self) -> None:
        """Import everything into the queue of a new project."""
        self._number += 1
        project = self._folder / f"{self._profile.mode}-{self._number}"
        project.mkdir()
        asyncio.run(self._import(project))
        shutil.rmtree(project)

    async def _import(self, project: Path) -> None:
        settings = merge([Layer(origin="bench", values={"dataDir": str(self._folder / "data")})])
        found = await survey(self._places, Where(project=project, state_dir=project / "state"), lambda _: settings)
        reports = await TreeImport(found, self._profile).run()
        if not all(report.new and not report.passed_over for report in reports):
            raise AssertionError


def timed(*jobs: Callable[[], object]) -> list[float]:
    """The median CPU time of each job, in seconds; the jobs take turns."""
    samples: list[list[float]] = [[] for _ in jobs]
    for run_ in range(-1, RUNS):
        for job, taken in zip(jobs, samples, strict=True):
            start = time.process_time()
            job()
            if run_ >= 0:  # the first run warms up
                taken.append(time.process_time() - start)
    return [median(taken) for taken in samples]


def tree_of(recording: Path, folder: Path) -> Path:
    """A folder with the recording as several sessions, of some ten megabytes in all."""
    first, _, rest = recording.read_bytes().partition(b"\n")
    # Forks of one session would be known for that, and imported once.
    header = {name: value for name, value in json.loads(first).items() if name not in {"branchedFrom", "parentSession"}}
    folder.mkdir()
    for number in range(max(1, round(TREE / recording.stat().st_size))):
        own = json.dumps({**header, "id": f"{number:08x}-0000-7000-8000-000000000000"}).encode()
        (folder / f"{number}.jsonl").write_bytes(own + b"\n" + rest)
    return folder


def rows(name: str, places: list[Path], folder: Path, *, bar: str | None) -> Iterable[Row]:
    """What is imported of these places in each mode."""
    files = [path for place in places for path in (sorted(place.rglob("*.jsonl")) if place.is_dir() else [place])]
    size = sum(path.stat().st_size for path in files) / 1e6
    modes = [Mode.CURATED, Mode.RAW]
    floor, *taken = timed(lambda: parsed(files), *(Imports(folder, places, mode).once for mode in modes))
    for mode, seconds in zip(modes, taken, strict=True):
        yield Row(
            name=f"import.{name}.{mode}",
            value=median([size / seconds]),
            unit="MB/s",
            runs=RUNS,
            floor=median([size / floor]),
            bar=bar if mode is Mode.CURATED else None,
        )


def run() -> Iterable[Row]:
    """The rows of this bench: the small recorded sessions, and the large ones where they are at hand."""
    folder = Path(tempfile.mkdtemp(prefix="import-"))
    try:
        yield from rows("examples", [EXAMPLES], folder, bar=None)
        for name in PI_SESSIONS:
            if (DATA / name).exists():
                tree = tree_of(DATA / name, folder / name)
                yield from rows(name.removesuffix(".jsonl"), [tree], folder, bar="value >= 15")
    finally:
        shutil.rmtree(folder)
