"""Changing a settings file: the whole of it is written anew, or nothing is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hindbrain.contracts import HindbrainError
from hindbrain.generic._config._files import FileRead
from hindbrain.generic._config._private import PRIVATE_FILE, write_private


class SettingsFileError(HindbrainError):
    """A settings file cannot be changed as asked; it was left as it is."""

    code = "config"


def changed(found: FileRead, changes: Mapping[str, Any]) -> bytes:
    """The bytes of a settings file with some keys set, by path. Everything else keeps its value and its place.

    Raises:
        SettingsFileError: writing it anew would lose something, such as a comment, or a value is in the way.
    """
    tree = _plain_json(found)
    for path, value in changes.items():
        _put(tree, path, value, found.path)
    return json.dumps(tree, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def save(path: Path, data: bytes) -> None:
    """Put a settings file in place, whole; one that is there keeps its mode, a new one is for its owner only.

    A link to a file elsewhere stays a link.

    Raises:
        SettingsFileError: the disk did not take it.
    """
    real = path.resolve()
    try:
        mode = real.stat().st_mode & 0o777 if real.exists() else PRIVATE_FILE
        write_private(real, data, mode=mode)
    except OSError as error:
        raise SettingsFileError(
            f"{path} could not be written and is as it was.", next_step="Look at its folder's permissions and room."
        ) from error


def _plain_json(found: FileRead) -> dict[str, Any]:
    if found.values is None:
        if found.problem is None:
            return {}
        raise SettingsFileError(f"Nothing was written: {found.problem}")
    try:
        tree: dict[str, Any] = json.loads(found.raw.decode("utf-8-sig"), object_pairs_hook=_unrepeated)
    except ValueError:
        raise SettingsFileError(
            f"{found.path} holds comments, repeated keys or other things that writing it anew would lose; nothing was"
            " written.",
            next_step="Change it by hand; see docs/settings.md for the names.",
        ) from None
    return tree


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree = dict(pairs)
    if len(tree) != len(pairs):
        raise ValueError("repeated")
    return tree


def _put(tree: dict[str, Any], path: str, value: Any, file: Path) -> None:
    """Set a key where it stands already, however its path is split up, or else at its usual place."""
    for name in sorted(tree, key=len, reverse=True):
        if path == name:
            break
        if path.startswith(f"{name}."):
            below = tree[name]
            if not isinstance(below, dict):
                raise SettingsFileError(
                    f"{path} cannot be set, since {name} in {file} is no object; nothing was written.",
                    next_step="Change it by hand.",
                )
            _put(below, path[len(name) + 1 :], value, file)
            return
    head, _, rest = path.partition(".")
    if path in tree or not rest:
        tree[path] = value
    else:
        tree[head] = {}
        _put(tree[head], rest, value, file)
