"""The state folder: what waits, what was given up or set aside, and whether it is safe where it lies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta

import attrs

from hindbrain.generic._doctor._case import Case
from hindbrain.generic._doctor._finding import Finding, ok, problem, warning
from hindbrain.generic._open import data_dir
from hindbrain.store import CursorState, KeyState, QueueCounts, StateView

_LONG = timedelta(days=1)


def state(case: Case) -> Iterator[Finding]:
    """What lies in the state folder. It is opened to be looked at only."""
    if case.state is None:
        return
    folder, within = case.state
    notices: list[str] = []
    seal_file = data_dir(case.settings) / "seal.key"
    view = StateView.open(folder, seal_file=seal_file, within=within, notify=notices.append)
    if view is None:
        yield ok("state", f"{folder} does not exist yet; the first turn that is kept makes it", path=str(folder))
        return
    with closing(view):
        yield _folder(view)
        yield _key(view, str(seal_file))
        yield from _queue(view)
        yield _receipts(view)
        yield from (warning("receipts", text) for text in notices)
        yield from _sessions(view)
        yield from _cursors(view)
    if (folder / "import-manifest.json").exists():
        yield ok("import", "old sessions were imported; import-manifest.json knows which")


def _folder(view: StateView) -> Finding:
    names = view.open_to_others()
    if names:
        text = f"Others may read or write in {view.folder}: {', '.join(names[:5])}."
        return warning("state", text, f"Run: chmod -R go= {view.folder}", path=str(view.folder), names=list(names))
    return ok("state", f"{view.folder}, private", path=str(view.folder))


def _key(view: StateView, path: str) -> Finding:
    match view.key:
        case KeyState.SOUND:
            return ok("seal", f"the key {path} is there", state="sound")
        case KeyState.NONE:
            return ok("seal", f"the key {path} does not exist yet; the first session makes it", state="none")
    advice = "Restore it from a copy; or move it away, and adopt the waiting lines with `hindbrain queue adopt`."
    return problem("seal", f"The key {path} cannot be used: nothing is retained.", advice, state="broken")


def _queue(view: StateView) -> Iterator[Finding]:
    counts, seals = view.queue.counts(), view.queue.verify()
    counts = attrs.evolve(counts, oldest=_moment(counts.oldest))
    since = f", the oldest since {counts.oldest}" if counts.oldest else ""
    text = f"{counts.waiting} wait ({counts.bytes} bytes{since}), {counts.unconfirmed} taken and not done yet"
    text += f", {counts.dead} given up, {counts.malformed} unreadable"
    yield ok("queue", f"{text}, {counts.unsealed} not sealed", **attrs.asdict(counts), damaged=seals.damaged)
    if _waits_long(counts):
        advice = "Run `hindbrain doctor --online`, then `hindbrain queue flush`."
        yield warning("queue", f"What waits has waited since {counts.oldest}.", advice)
    if counts.dead:
        codes = Counter(letter.code for letter in view.queue.dead() if letter.is_sealed)
        told = ", ".join(f"{code} x{number}" for code, number in codes.most_common(5)) or "none of them sealed"
        advice = "See `hindbrain queue dead list`; mend the cause, then `hindbrain queue dead requeue JOB`."
        yield warning("queue", f"{counts.dead} turns were refused too often and given up ({told}).", advice)
    if counts.malformed:
        text = f"{counts.malformed} lines could not be read and are kept aside."
        yield warning("queue", text, "Nothing is lost: they stay in retain-queue.jsonl.malformed.jsonl.")
    if counts.unsealed or seals.damaged:
        text = f"{counts.unsealed + seals.damaged} lines do not bear your seal, and are not sent."
        yield warning("queue", text, "They are another's, or were changed. See `hindbrain queue adopt`.")


def _moment(text: str | None) -> str | None:
    """A moment that stands in a file, None where something else does: a repository may have brought the file."""
    try:
        return datetime.fromisoformat(text or "").astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        return None


def _waits_long(counts: QueueCounts) -> bool:
    return counts.oldest is not None and datetime.now(UTC) - datetime.fromisoformat(counts.oldest) > _LONG


def _receipts(view: StateView) -> Finding:
    receipts = view.receipts.all()
    if not receipts:
        return ok("receipts", "no retain is noted yet", receipts=0)
    total = view.receipts.totals()
    told = {} if total is None else attrs.asdict(total)
    numbers = "".join(f", {name} {number}" for name, number in told.items() if number is not None)
    newest = _moment(receipts[0].created_at)
    return ok("receipts", f"{len(receipts)} retains, the newest {newest}{numbers}", receipts=len(receipts), **told)


def _sessions(view: StateView) -> Iterator[Finding]:
    counts = view.sessions()
    told = [
        f"{number} {name.replace('_', '-')}"
        for name, number in attrs.asdict(counts).items()
        if number and name != "records"
    ]
    text = f"{counts.records} records" + (f": {', '.join(told)}" if told else "")
    yield ok("sessions", text, **attrs.asdict(counts))
    if counts.distrusted:
        text = f"{counts.distrusted} session records are broken or another's: those sessions recall and retain nothing."
        yield warning("sessions", text, "Run `hindbrain mode SESSION normal` for each that is yours.")


def _cursors(view: StateView) -> Iterator[Finding]:
    stands = view.cursors()
    match stands:
        case CursorState.NEWER:
            text = "A newer version wrote the cursors: sessions do not open."
            yield problem("cursors", text, "Upgrade hindbrain on this machine.", state="newer")
        case CursorState.DISTRUSTED:
            text = "The cursors are broken or another's; they are put aside and rebuilt from the queue."
            yield warning("cursors", text, "Nothing needs to be done.", state="distrusted")
        case CursorState.OLDER:
            yield ok("cursors", "of an older format; the next session takes them over", state="older")
        case _:
            yield ok("cursors", "there" if stands is CursorState.SOUND else "none yet", state=stands.value)
