"""``hindbrain trust | untrust``: whether a project's own settings file may say more than what is harmless."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from attrs import Factory, define

from hindbrain.generic._cli._run import Options
from hindbrain.generic._cli._settings import finish_with
from hindbrain.generic._config import (
    BY_PATH,
    FileRead,
    FormError,
    Places,
    SettingsFileError,
    Trust,
    flatten,
    holds_secret,
    plain,
    read,
)
from hindbrain.generic._envelope import Envelope, Exit

_NAME_SHOWN = 80


@define
class _Contents:
    """What a project's file says, by what trusting it would do."""

    begin: dict[str, Any] = Factory(dict)
    """Keys that would begin to count, and their values; one that looks like a secret is not shown."""
    already: list[str] = Factory(list)
    dropped: list[str] = Factory(list)
    unknown: list[str] = Factory(list)

    def lines(self) -> list[str]:
        """For people. Values are escaped, since a file from elsewhere may hold anything."""
        said = [f"begins to count: {path} = {json.dumps(value)}" for path, value in self.begin.items()]
        said += [f"counts already: {path}" for path in self.already]
        said += [f"stays dropped: {path} (expected {BY_PATH[path].form.words})" for path in self.dropped]
        return said + [f"not known: {name[:_NAME_SHOWN]!r}" for name in self.unknown]


def _contents(found: FileRead) -> _Contents:
    contents = _Contents()
    for path, raw in flatten(found.values or {}):
        key = BY_PATH.get(path)
        if key is None:
            contents.unknown.append(path)
            continue
        try:
            value = plain(key.read_leniently(raw)[0])
        except FormError:
            contents.dropped.append(path)
            continue
        if key.project_safe:
            contents.already.append(path)
        else:
            contents.begin[path] = "(looks like a secret)" if holds_secret(value) else value
    return contents


def _found(where: Places) -> FileRead:
    found = None if where.project_file is None else read(where.project_file)
    if found is None or (found.values is None and found.problem is None):
        raise SettingsFileError(
            "There is no settings file of a project here; nothing was trusted.", next_step="Go into the project."
        )
    if found.problem is not None:
        raise SettingsFileError(f"Nothing was trusted: {found.problem}")
    return found


def trust(options: Options, *, yes: bool, ask: Callable[[str], bool] | None) -> None:
    """Show what would begin to count, and record exactly these bytes as trusted where ``yes`` or the user says so.

    Args:
        options: the common options.
        yes: trust them without asking.
        ask: shows the text and asks; None where nobody can be asked.
    """

    def work(where: Places) -> Envelope:
        found = _found(where)
        contents = _contents(found)
        state = where.trust.of(found)
        lines = [f"{found.path} (SHA-256 {found.sha256[:12]}…)", *contents.lines()]
        trusted = state is Trust.TRUSTED
        if trusted:
            lines.append("It is trusted.")
        elif yes or (ask is not None and ask("\n".join(lines))):
            try:
                where.trust.trust(found)
            except OSError as error:
                raise SettingsFileError(f"{where.trust.folder} could not be written; nothing was trusted.") from error
            trusted = True
            lines.append("It is trusted now, until it changes.")
        else:
            lines.append("Nothing was trusted. Say --yes to trust the file as it is.")
        return Envelope(
            command="trust",
            data={
                "file": str(found.path),
                "sha256": found.sha256,
                "was": state.value,
                "trusted": trusted,
                "begin": contents.begin,
                "already": contents.already,
                "dropped": contents.dropped,
                "unknown": contents.unknown,
            },
            text="\n".join(lines),
        )

    finish_with("trust", options, work)


def untrust(options: Options) -> None:
    """Take the trust back, whether the file is still what it was or not."""

    def work(where: Places) -> Envelope:
        if where.project_dir is None:
            raise SettingsFileError("This is no project; nothing was changed.", next_step="Go into the project.")
        names = ("hindbrain.json", "hindbrain.jsonc")
        try:
            forgotten = [name for name in names if where.trust.forget(where.project_dir / name)]
        except OSError as error:
            raise SettingsFileError(f"{where.trust.folder} could not be changed; the file is still trusted.") from error
        text = "It is not trusted any more." if forgotten else "No settings file of this project was trusted."
        data = {"files": [str(where.project_dir / name) for name in forgotten]}
        return Envelope(command="untrust", data=data, text=text, exit=Exit.OK if forgotten else Exit.FAILED)

    finish_with("untrust", options, work)
