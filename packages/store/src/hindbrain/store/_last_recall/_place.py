"""Where the last recall may be written: pure rules of paths."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from hindbrain.store._last_recall._errors import LastRecallPathError

NAME = "last-recall.json"
_SUFFIX = ".json"


@frozen(kw_only=True)
class Place:
    """A path that may be used.

    ``within`` is a folder above it: no link between the two is followed. ``is_ours`` says that nobody else has business
    there, so that what is broken may be put aside.
    """

    path: Path
    within: Path
    is_ours: bool


def place_of(folder: Path, *, root: Path | None = None, named: str | None = None) -> Place:
    """The place of the file.

    Args:
        folder: the state folder.
        root: the project's root; None means that relative paths begin in the state folder.
        named: absolute, or relative to the root; None means ``last-recall.json`` in the state folder.

    Raises:
        LastRecallPathError: it leads out of the root by ``..``, has another ending, or means another state file.

    Source: spec/memory.md section 1.3; the confinement is ours (decisions.md, "Durability": links are not followed).
    """
    if named is None:
        return Place(path=folder / NAME, within=folder if root is None else root, is_ours=True)
    given, base = Path(named), folder if root is None else root
    path = base / given
    # A NUL ends a path for the system, and `..` behind a link leads where the text does not say.
    if ".." in given.parts or "\0" in named or path.suffix != _SUFFIX:
        raise LastRecallPathError
    if path.is_relative_to(folder) and (path.parent != folder or not path.name.startswith("last-recall")):
        raise LastRecallPathError
    return Place(path=path, within=base if path.is_relative_to(base) else path.parent, is_ours=path == folder / NAME)
