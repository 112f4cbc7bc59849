"""What an import did, or would do: for programs and for people. Paths and counts, never content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from hindbrain.generic._envelope import Exit, exit_for
from hindbrain.generic._import import FileReport, ImportReport, PassedOver, Survey, Tally

_SHOWN = 10
_MEGA = 1_000_000
_ADVICE = {
    "project-gone": "The directory they ran in is gone; --project DIR says whose they are.",
    "no-project": "They ran in a home directory or the file system's root; --project DIR says whose they are.",
    "no-directory": "They do not say where they ran; --project DIR says whose they are.",
}
_HARMLESS = frozenset({"copy", "not-a-session", "other-project"})
"""Reasons to pass over a file that leave nothing to be done."""


def _all_passed_over(reports: Iterable[ImportReport], found: Survey) -> list[PassedOver]:
    return [*found.passed_over, *(each for report in reports for each in report.passed_over)]


def _broken(reports: Iterable[ImportReport]) -> list[FileReport]:
    return [file for report in reports for file in report.files if file.broken]


def _total(reports: Iterable[ImportReport]) -> Tally:
    total = Tally()
    for report in reports:
        total.add(report.tally)
    return total


def as_data(reports: Sequence[ImportReport], found: Survey, *, dry: bool) -> dict[str, object]:
    """The reports as the envelope's data."""
    tally = _total(reports)
    return {
        "dry_run": dry,
        "sessions": sum(len(report.files) for report in reports),
        "unchanged": sum(file.unchanged for report in reports for file in report.files),
        "bytes": sum(report.read_bytes for report in reports),
        "kept": {"messages": tally.kept, "bytes": tally.kept_bytes},
        "dropped": {
            reason: {"messages": count, "bytes": tally.dropped_bytes[reason]}
            for reason, count in sorted(tally.dropped.items())
        },
        "projects": [_project(report) for report in reports],
        "broken_lines": [
            {"file": str(file.path), "line": problem.line, "reason": problem.reason.value}
            for file in _broken(reports)
            for problem in file.broken
        ],
        "passed_over": [{"file": str(e.path), "reason": e.reason} for e in _all_passed_over(reports, found)],
    }


def _project(report: ImportReport) -> dict[str, object]:
    target = report.target
    return {
        "project": target.project.id,
        "root": target.project.root,
        "host": target.host,
        "bank": target.bank,
        "sessions": len(report.files),
        "documents": {
            "new": report.new,
            "replaced": report.replaced,
            "same": report.same,
            "refused": report.refused,
        },
        "sent": report.sent,
        "waiting": report.waiting,
        "given_up": report.given_up,
        "stopped_by": report.error.code if report.error else report.code,
    }


def _bytes(count: int) -> str:
    return f"{count / _MEGA:.1f} MB" if count >= _MEGA // 10 else f"{count / 1000:.1f} kB"


def _project_line(report: ImportReport, *, dry: bool) -> str:
    target = report.target
    verb = "would be sent" if dry else "queued"
    line = f"{target.project.id} ({target.host}, bank {target.bank}): {len(report.files)} sessions, "
    line += f"{report.to_send} documents {verb}"
    counts = [("replacing older ones", report.replaced), ("there already", report.same), ("refused", report.refused)]
    counts += [] if dry else [("sent", report.sent), ("waiting", report.waiting), ("given up", report.given_up)]
    return line + "".join(f", {count} {what}" for what, count in counts if count)


def as_text(reports: Sequence[ImportReport], found: Survey, *, dry: bool) -> str:
    """The reports for a person."""
    tally = _total(reports)
    lines = [_project_line(report, dry=dry) for report in reports]
    if any(report.files for report in reports):
        lines.append(f"{'kept':24s} {tally.kept:8d} messages {_bytes(tally.kept_bytes):>10s}")
    for reason, count in tally.dropped.most_common():
        lines.append(f"{reason:24s} {count:8d} messages {_bytes(tally.dropped_bytes[reason]):>10s}  dropped")
    lines += _named(reports, found)
    if dry and any(report.to_send for report in reports):
        lines.append("Nothing was imported yet. Say --yes to import it.")
    elif not any(report.files for report in reports):
        lines.append("No session was imported.")
    elif not any(report.to_send for report in reports):
        lines.append("There is nothing to import that is not there already.")
    return "\n".join(lines)


def _named(reports: Sequence[ImportReport], found: Survey) -> list[str]:
    """The files that are passed over and the lines that are broken, the first of them by name."""
    passed = _all_passed_over(reports, found)
    lines = [f"passed over, {each.reason}: {each.path}" for each in passed[:_SHOWN]]
    lines += [f"and {len(passed) - _SHOWN} more files passed over"] if len(passed) > _SHOWN else []
    broken = [(file, problem) for file in _broken(reports) for problem in file.broken]
    lines += [f"line {problem.line} passed over, {problem.reason}: {file.path}" for file, problem in broken[:_SHOWN]]
    return lines + ([f"and {len(broken) - _SHOWN} more lines passed over"] if len(broken) > _SHOWN else [])


def warnings_of(reports: Sequence[ImportReport], found: Survey) -> list[str]:
    """What did not happen, and what to do about it."""
    reasons = Counter(each.reason for each in _all_passed_over(reports, found))
    told = [f"{count} sessions were passed over. {_ADVICE[r]}" for r, count in reasons.items() if r in _ADVICE]
    for report in reports:
        if report.error:
            told.append(f"{report.target.project.id}: {report.error}")
        if report.code:
            told.append(
                f"{report.waiting} documents of {report.target.project.id} wait in the queue ({report.code}). They are "
                f"sent by the next session there, or by `hindbrain queue flush --host {report.target.host}`."
            )
        if report.given_up:
            told.append(
                f"{report.given_up} documents of {report.target.project.id} were refused too often; see "
                f"`hindbrain queue dead list --host {report.target.host}`."
            )
    return told


def exit_of(reports: Sequence[ImportReport], found: Survey) -> Exit:
    """The exit code: that something is missing, or why all of it is."""
    passed = [each for each in _all_passed_over(reports, found) if each.reason not in _HARMLESS]
    if not any(report.files for report in reports) and (passed or found.passed_over):
        return exit_for(passed[0].reason) if passed else Exit.FAILED
    codes = [report.code for report in reports if report.code]
    if codes and not any(report.sent for report in reports):
        why = exit_for(codes[0])
        return Exit.UNREACHABLE if why is Exit.FAILED else why
    missing = passed or codes or any(report.given_up or report.refused for report in reports)
    return Exit.PARTIAL if missing else Exit.OK
