"""``hindbrain last-recall``: what the last recall found, kept and dropped, and why."""

from __future__ import annotations

from collections.abc import Iterator

from hindbrain.contracts import neutralise
from hindbrain.generic._cli._run import Options, run
from hindbrain.generic._cli._stored import Where, last_recall
from hindbrain.generic._config import Settings
from hindbrain.generic._envelope import Envelope
from hindbrain.memory import Recalled, StoredRecall, read_recall


def details(each: Recalled) -> str:
    """Id, scores and verdict of a candidate, on one line."""
    scores = [f"{name} {score:.4g}" for name, score in each.scores.items()]
    dropped = [f"dropped: {', '.join(map(neutralise, each.reasons))}"] if each.reasons else []
    return "  ".join([neutralise(each.id), *scores, *dropped])


def _lines(stored: StoredRecall) -> Iterator[str]:
    shown = sum(each.line is not None for each in stored.candidates)
    yield f"{neutralise(stored.at)}: {len(stored.candidates)} candidates, {shown} shown, {stored.failed} banks failed"
    if stored.query:
        yield f"query: {neutralise(stored.query)}"
    for bank in dict.fromkeys(each.bank for each in stored.candidates):
        yield from ("", f"Bank {neutralise(bank)}")
        for each in stored.candidates:
            if each.bank == bank:
                number = "  - " if each.line is None else f"{each.line:3d}."
                yield from (f"{number} {neutralise(each.text)}", f"     {details(each)}")
    if stored.failures:
        yield ""
    for bank, code in stored.failures:
        yield f"failed: {neutralise(bank)} ({neutralise(code)})"


def show(options: Options, where: Where) -> None:
    """Show the last recall: all of it for a program, in short for a person."""

    async def work(settings: Settings) -> Envelope:
        body = last_recall(settings, where)
        return Envelope(command="last-recall", data=body, text="\n".join(_lines(read_recall(body))))

    run("last-recall", options, work)
