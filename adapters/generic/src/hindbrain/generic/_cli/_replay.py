"""``hindbrain replay``."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import attrs
import click

from hindbrain.contracts import Backend, HindbrainError
from hindbrain.generic._cli._run import Options, run, with_backend
from hindbrain.generic._config import Settings
from hindbrain.generic._envelope import Envelope, Exit, exit_for
from hindbrain.generic._replay import Progress, Replay, ReplayReport


def _progress(stack: ExitStack, *, quiet: bool) -> Progress:
    """A bar with the time that is left, on stderr, only where a person watches."""
    if quiet or not sys.stderr.isatty():
        return lambda _done, _all: None
    bar = stack.enter_context(click.progressbar(length=1, label="retaining", show_pos=True, file=sys.stderr, width=30))

    def show(done: int, total: int) -> None:
        bar.length = total
        bar.update(done - bar.pos)

    return show


def as_data(report: ReplayReport) -> dict[str, object]:
    """The report as the envelope's data."""
    return {
        "session": {"host": report.host, "project": report.project, "entries": report.entries, "turns": report.turns},
        "problems": [{"line": p.line, "reason": p.reason} for p in report.problems],
        "retained": {
            "bank": report.bank,
            "documents": report.documents,
            "operations": report.retains,
            "failed": report.failed,
            "waiting": report.waiting,
        },
        "injected": {"text": report.injected, "items": [attrs.asdict(item) for item in report.items]},
        "timing": report.timing,
    }


def _retained(report: ReplayReport) -> str:
    told = f"{report.turns} turns retained"
    if report.waiting or report.failed:
        told = f"{report.retains} of {report.turns} turns taken, {report.failed} failed, {report.waiting} not taken,"
    return f"{told} in bank {report.bank} ({report.timing.get('retain', 0) / 1000:.2f} s)"


class IncompleteReplayError(HindbrainError):
    """Not all of the session was taken, or not all of memory could be asked. ``code`` is that of what failed."""

    def __init__(self, code: str, what: str, *, next_step: str) -> None:
        super().__init__(what, next_step=next_step)
        self.code = code  # type: ignore[misc]  # one error elsewhere has one code; this one passes on another's


def problems_of(report: ReplayReport) -> list[IncompleteReplayError]:
    """What did not happen, and what to do about it; empty where all went well."""
    found = []
    if report.waiting or report.failed:
        code = report.code or "not-completed"
        what = f"Not every turn was retained ({report.code or 'not completed in time'})."
        next_step = (
            "Run the same command again when `hindbrain doctor --online` is content: what was retained is not retained"
            " twice."
        )
        found.append(IncompleteReplayError(code, what, next_step=next_step))
    if report.recall_failures:
        codes = ", ".join(dict.fromkeys(report.recall_failures))
        what = f"Memory could not be asked ({codes}), so what is shown is not all."
        next_step = "See `hindbrain doctor --online`."
        found.append(IncompleteReplayError(report.recall_failures[0], what, next_step=next_step))
    return found


def as_text(report: ReplayReport, question: str | None) -> str:
    """The report for a person."""
    t = report.timing
    lines = [
        f"{report.entries} entries of {report.host}, project {report.project}",
        _retained(report),
        *(f"line {p.line} was passed over: {p.reason}" for p in report.problems),
    ]
    if question is None:
        return "\n".join(lines)
    nothing = "(memory could not be asked)" if report.recall_failures else "(nothing was found)"
    lines += ["", f"Injected for: {question}", "", report.injected or nothing, ""]
    for number, item in enumerate(report.items, start=1):
        source = f"{item.document_id or '?'}  entries {', '.join(item.entries) or '?'}"
        lines.append(f"{number:3d}. from {source}")
    return "\n".join([*lines, "", f"recall {t.get('recall', 0):.0f} ms, total {t.get('total', 0) / 1000:.2f} s"])


def exit_of(report: ReplayReport, question: str | None) -> Exit:
    """The exit code: why nothing was taken, or that something is missing."""
    if report.code and not report.retains and (report.failed or report.waiting):
        why = exit_for(report.code)
        return Exit.UNREACHABLE if why is Exit.FAILED and report.waiting else why
    if report.failed or report.waiting or report.recall_failures:
        return Exit.PARTIAL
    return Exit.FAILED if question is not None and not report.items else Exit.OK


def replay(options: Options, path: Path, question: str | None) -> None:
    """Run the command."""

    async def work(settings: Settings) -> Envelope:
        async def use(backend: Backend) -> Envelope:
            with ExitStack() as stack:
                progress = _progress(stack, quiet=options.as_json)
                report = await Replay(path, backend, settings, progress=progress).run(question)
            problems = problems_of(report)
            return Envelope(
                command="replay",
                data=as_data(report),
                text=as_text(report, question),
                warnings=[str(each) for each in problems[1:]],
                exit=exit_of(report, question),
                error=next(iter(problems), None),
            )

        return await with_backend(settings, use)

    run("replay", options, work)
