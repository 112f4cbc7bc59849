"""Asking git about a directory. Source: spec/memory.md section 2.1."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from hindbrain.contracts import HindbrainError
from hindbrain.memory._identity import Checkout

_GIT_SECONDS = 1.0
_ELSEWHERE = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_PREFIX"})
"""Variables that would make git speak of another repository than the directory's, as in an agent started by a hook."""


class NoProjectError(HindbrainError):
    """A directory that cannot be a project: the root of the file system or a home directory."""

    code = "no-project"

    def __init__(self) -> None:
        super().__init__(
            "This directory is the file system's root or a home directory, which is no project; memory stays off here.",
            next_step="Start the agent in a project's folder.",
        )


def _git(cwd: Path, *args: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603  (fixed argv, no shell)
            ["git", "-C", str(cwd), *args],  # noqa: S607  (git is found on PATH, as the user's own git is)
            capture_output=True,
            check=False,
            timeout=_GIT_SECONDS,
            env={name: value for name, value in os.environ.items() if name not in _ELSEWHERE},
            text=True,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def _root(cwd: Path) -> Path:
    common = _git(cwd, "rev-parse", "--path-format=absolute", "--git-common-dir")
    own = _git(cwd, "rev-parse", "--path-format=absolute", "--git-dir")
    if common and own and common != own and Path(common).name == ".git":
        return Path(common).parent
    if top := _git(cwd, "rev-parse", "--show-toplevel"):
        return Path(top)
    if common:
        return Path(common).parent if Path(common).name == ".git" else Path(common)
    return next((p for p in (cwd, *cwd.parents) if (p / ".git").exists()), cwd)


def _is_dir(place: Path) -> bool:
    try:
        return place.is_dir()
    except OSError:  # a name that is too long, a folder that is closed to us
        return False


def read_checkout(cwd: str, *, home: str | None = None) -> Checkout:
    """Look at a directory with git, blocking for at most a few seconds.

    A directory that is gone, or cannot be looked at, is its own root and has no remote. Linked worktrees resolve to the
    main checkout.

    Args:
        cwd: an absolute path.
        home: the user's home directory, which is refused as a project.

    Raises:
        NoProjectError: the directory is the file system's root or the home directory.
    """
    place = Path(cwd)
    there = _is_dir(place)
    root = _root(place).resolve() if there else place
    if root == Path(root.anchor) or (home is not None and root == Path(home).resolve()):
        raise NoProjectError
    remote = _git(place, "config", "--get", "remote.origin.url") if there else None
    return Checkout(cwd=cwd, root=str(root), remote=remote)
