"""``hindbrain config show | check | schema``: look at the settings."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hindbrain.contracts import HindbrainError
from hindbrain.generic._cli._run import Options, ecosystem_file, finish, places, settings_for
from hindbrain.generic._config import (
    FileRead,
    Places,
    Trust,
    conflicts,
    plain,
    read,
    schema,
)
from hindbrain.generic._envelope import Envelope, Exit, exit_for


def finish_with(command: str, options: Options, work: Callable[[Places], Envelope]) -> None:
    """Do a command's work on the places of settings, and finish; a typed error becomes the envelope's."""
    try:
        envelope = work(places(options))
    except HindbrainError as error:
        envelope = Envelope(command=command, error=error, exit=exit_for(error.code))
    finish(envelope, options)


def config_show(options: Options, *, origin: bool) -> None:
    """Print every effective setting as it would stand in a file; ``origin`` adds where it came from."""

    def work(_where: Places) -> Envelope:
        settings = settings_for(options)
        doubtful = settings.doubtful
        shown = {p: "(refused)" if p in doubtful else plain(setting.value) for p, setting in settings.values.items()}
        origins = {path: doubtful.get(path, setting.origin) for path, setting in settings.values.items()}
        data: dict[str, Any] = {"settings": shown}
        if origin:
            data["origins"] = origins
        lines = [
            f"{path} = {json.dumps(value, ensure_ascii=False)}" + (f"    ({origins[path]})" if origin else "")
            for path, value in shown.items()
        ]
        return Envelope(command="config show", data=data, text="\n".join(lines), warnings=settings.warnings)

    finish_with("config show", options, work)


def config_check(options: Options) -> None:
    """Say all that is wrong with the settings; anything is a failure."""

    def work(where: Places) -> Envelope:
        settings = settings_for(options)
        findings = [*settings.warnings, *conflicts(settings)]
        files = _files(where)
        rows = [{"path": str(found.path), "state": state} for found, state in files]
        lines = [f"{row['state']:12s} {row['path']}" for row in rows]
        lines += [f"finding: {text}" for text in findings]
        return Envelope(
            command="config check",
            data={"findings": findings, "files": rows},
            text="\n".join(lines if findings else [*lines, "Nothing is wrong with the settings."]),
            exit=Exit.FAILED if findings else Exit.OK,
        )

    finish_with("config check", options, work)


def _files(where: Places) -> list[tuple[FileRead, str]]:
    """Each file that settings may lie in, and how it stands."""
    found = [read(ecosystem_file(where)), read(where.global_file)]
    rows = [(file, "broken" if file.problem else "absent" if file.values is None else "read") for file in found]
    if where.project_file is not None:
        here = read(where.project_file)
        trusted = where.trust.of(here) is Trust.TRUSTED
        state = "broken" if here.problem else "absent" if here.values is None else "untrusted"
        rows.append((here, "trusted" if trusted else state))
    return rows


def config_schema(options: Options) -> None:
    """Print the schema of a settings file."""
    said = schema()
    text = json.dumps(said, indent=2, ensure_ascii=False)
    finish(Envelope(command="config schema", data={"schema": said}, text=text), options)
