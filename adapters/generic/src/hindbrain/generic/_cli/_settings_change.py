"""``hindbrain config set | import``: change a settings file."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any

import attrs
import click

from hindbrain.generic._cli._run import Options, ecosystem_file, settings_for
from hindbrain.generic._cli._settings import finish_with
from hindbrain.generic._config import (
    BY_PATH,
    FileRead,
    FormError,
    Key,
    Places,
    SettingsFileError,
    Trust,
    changed,
    flatten,
    holds_secret,
    parse,
    plain,
    read,
    save,
)
from hindbrain.generic._config._imports import Plan, global_sources, plan, project_sources
from hindbrain.generic._envelope import Envelope, Exit


def config_set(options: Options, name: str, text: str, *, project: bool) -> None:
    """Set one key in the user's own file, or in the project's."""
    key = _key(name)

    def work(where: Places) -> Envelope:
        value = _value(key, text)
        found = _target(where, project=project)
        trusted = where.trust.of(found) is Trust.TRUSTED
        old = dict(flatten(found.values or {})).get(key.path)
        data = changed(found, {key.path: value})
        save(found.path, data)
        if project and trusted:
            where.trust.trust(FileRead(path=found.path, values=parse(data), raw=data))
        shown = json.dumps(value, ensure_ascii=False)
        return Envelope(
            command="config set",
            data={"file": str(found.path), "key": key.path, "old": _shown(old), "new": value},
            text=f"{key.path} = {shown} in {found.path}",
            warnings=_not_in_force(options, key, found.path),
        )

    finish_with("config set", options, work)


def _key(name: str) -> Key:
    key = BY_PATH.get(name)
    if key is None:
        near = difflib.get_close_matches(name[:80], BY_PATH, n=1)
        raise click.UsageError(f"There is no setting of that name.{f' Did you mean {near[0]}?' if near else ''}")
    return BY_PATH[key.target]


def _value(key: Key, text: str) -> Any:
    """What a text on the command line stands for: JSON, or the way it would stand in a variable, or itself."""
    if holds_secret(text):
        raise SettingsFileError(
            f"What was given for {key.path} looks like a secret; nothing was written.",
            next_step="Keep it in a variable or a file of your own, and name that place in an apiKeyRef setting.",
        )
    for value in (_json(text), key.form.parse(text), text):
        try:
            read_, said = key.read_leniently(value)
        except FormError:
            continue
        if said:
            raise SettingsFileError(f"Nothing was written. {said[0]}")
        return plain(read_)
    raise SettingsFileError(f"Nothing was written: {key.path} expects {key.form.words}.")


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _target(where: Places, *, project: bool) -> FileRead:
    """The file to change. A project's file must lie in the project: a cloned link could lead to any file."""
    if not project:
        return read(where.global_file)
    if where.project_dir is None or where.project_file is None:
        raise SettingsFileError(
            "This is no project; nothing was written.", next_step="Go into one, or say no --project."
        )
    if where.project_dir.is_symlink() or where.project_file.is_symlink():
        raise SettingsFileError(f"{where.project_file} is reached by a link; nothing was written.")
    return read(where.project_file)


def _not_in_force(options: Options, key: Key, file: Path) -> list[str]:
    """Why the file's word is not the last, where it is not."""
    origin = settings_for(options).values[key.path].origin
    if origin.endswith(f" {file}"):
        return []
    if origin == "default" or not origin.startswith("environment"):
        return [f"{key.path} in {file} counts only after `hindbrain trust`."] if not key.project_safe else []
    return [f"{origin} sets {key.path}, too, and wins."]


def _shown(old: object) -> Any:
    return "(looks like a secret)" if old is not None and holds_secret(old) else old


def config_import(options: Options, sources: tuple[Path, ...], *, project: bool, yes: bool) -> None:
    """Show what the settings of other tools would change in ours; write it with ``yes``."""

    def work(where: Places) -> Envelope:
        target = _target(where, project=project)
        looked = sources or _sources(where, project=project)
        found = [read(path) for path in looked]
        made = plan((file for file in found if file.values is not None), target)
        if yes and made.changes:
            save(target.path, changed(target, {change.path: change.new for change in made.changes}))
        missing = [file for file in found if file.problem or (sources and file.values is None)]
        warnings = [file.problem or f"there is no {file.path}" for file in missing]
        return _imported(made, target.path, [f.path for f in found if f.values is not None], warnings, yes=yes)

    finish_with("config import", options, work)


def _sources(where: Places, *, project: bool) -> tuple[Path, ...]:
    if project and where.project_dir is not None:
        return project_sources(where.project_dir.parent)
    return global_sources(where.home, ecosystem_file(where))


def _imported(made: Plan, target: Path, files: list[Path], warnings: list[str], *, yes: bool) -> Envelope:
    changes = [
        attrs.asdict(change) | {"old": _shown(change.old), "source": str(change.source)} for change in made.changes
    ]
    lines = [f"{c['path']}: {_word(c['old'])} → {_word(c['new'])}    ({c['was']} in {c['source']})" for c in changes]
    lines += [f"left: {text}" for text in made.left]
    written = yes and bool(changes)
    if written:
        lines.append(f"Written to {target}.")
    elif changes:
        lines.append(f"Nothing was written. Say --yes to write this to {target}.")
    else:
        lines.append("There is nothing to take over." if files else "No settings of other tools were found.")
    return Envelope(
        command="config import",
        data={
            "target": str(target),
            "files": [str(path) for path in files],
            "changes": changes,
            "left": list(made.left),
            "written": written,
        },
        text="\n".join(lines),
        warnings=warnings,
        exit=Exit.OK if files else Exit.FAILED,
    )


def _word(value: object) -> str:
    return "(not set)" if value is None else json.dumps(value, ensure_ascii=False)
