"""The settings: what is wrong with them, what they switch off, where they come from, and whose word counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hindbrain.generic._config import BY_PATH, Setting, Settings, Trust, conflicts, read
from hindbrain.generic._doctor._case import Case
from hindbrain.generic._doctor._finding import Finding, ok, problem, warning

_SWITCHES = {
    "enabled": "Memory is switched off: nothing is recalled or retained by itself.",
    "recall.enabled": "Recall before an answer is switched off.",
    "retain.enabled": "Automatic retain is switched off.",
}
_SHOWN = ("flag", "count", "number")
"""Kinds of values that hold no secret, whatever they say."""
_CHECK = "See `hindbrain config check`."


def settings(case: Case) -> Iterator[Finding]:
    """What is wrong with the settings, and what they say that is not the default."""
    s = case.settings
    yield from (warning("settings", text, _CHECK) for text in (*s.warnings, *_conflicts(s)))
    for path in sorted(s.doubtful):
        text = f"{path} cannot be read, and a guess might be another's: nothing is sent."
        yield problem("settings", text, f"Mend it: expected {BY_PATH[path].form.words}.")
    if "retain.beforeEnqueue" in s.refused:
        advice = f"Mend it: expected {BY_PATH['retain.beforeEnqueue'].form.words}."
        yield problem("settings", "retain.beforeEnqueue cannot be read: no turn is retained.", advice)
    for path, text in _SWITCHES.items():
        if not s[path]:
            yield warning("settings", text, f"Set {path} to true; {s.values[path].origin} says false.")
    custom = {path: _shown(path, setting, s) for path, setting in s.values.items() if setting.origin != "default"}
    told = ", ".join(f"{path} ({row['origin']})" for path, row in custom.items())
    yield ok("settings", f"{len(custom)} set: {told}" if custom else "all as they are by default", custom=custom)
    yield from _files(case)


def _conflicts(s: Settings) -> Iterator[str]:
    """What speaks against the settings, but for what another check says of observations."""
    return (text for text in conflicts(s) if not text.startswith("observations.scopes"))


def _shown(path: str, setting: Setting, s: Settings) -> dict[str, Any]:
    key = BY_PATH[path]
    tone = "warn" if path in s.refused else "off" if setting.value is False else "custom"
    row: dict[str, Any] = {"origin": setting.origin, "tone": "default" if setting.value == key.default else tone}
    if key.form.kind in _SHOWN:
        row["value"] = setting.value
    return row


def _files(case: Case) -> Iterator[Finding]:
    if case.places is None:
        return
    here = read(case.places.global_file)
    stands = "cannot be used" if here.problem else "is not there" if here.values is None else "is read"
    yield ok("files", f"the global file {here.path} {stands}", path=str(here.path))
    if case.places.project_file is None:
        return
    theirs = read(case.places.project_file)
    trust = case.places.trust.of(theirs)
    data = {"path": str(theirs.path), "trust": "none" if theirs.values is None else trust.value}
    if theirs.values is None:
        yield ok("trust", f"the project has no settings file that can be used ({theirs.path})", **data)
    elif trust is Trust.TRUSTED:
        yield ok("trust", f"the project's file {theirs.path} is trusted as it is", **data)
    elif trust is Trust.CHANGED:
        advice = "Look at it, then run `hindbrain trust`."
        yield warning("trust", f"The project's file {theirs.path} was changed since you trusted it.", advice, **data)
    else:
        yield ok("trust", f"the project's file {theirs.path} is not trusted: only what is harmless counts", **data)
