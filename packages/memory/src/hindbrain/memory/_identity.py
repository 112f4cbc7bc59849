"""Which project a directory belongs to, as pure functions of what git says.

Source: spec/memory.md sections 2.1 to 2.3; the hash suffix is ours (decisions.md, "Identity and tags").
"""

from __future__ import annotations

import hashlib
import re
from pathlib import PurePath

from attrs import Factory, field, frozen

from hindbrain.memory._config import ScopeConfig

_SLUG_LENGTH = 48
_WORD = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_PLAIN_REMOTE = re.compile(r"[a-z0-9]+(\.[a-z0-9]+)+/[a-z0-9]+/[a-z0-9]+")
"""A remote whose dots and slashes can be read back from its slug, so that no other remote shares it."""


def short_hash(text: str) -> str:
    """The first 12 hex digits of the SHA-256 of ``text``."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def session_key(session_file: str) -> str:
    """The session id in tags and documents: 16 hex digits of the SHA-256 of the session file's path."""
    return hashlib.sha256(session_file.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def upstream_slug(text: str) -> str:
    """The slug as the TypeScript ancestor makes it; two texts may share one."""
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower())
    slug = slug.removeprefix("-").removesuffix("-")
    return slug[:_SLUG_LENGTH] or "repo"


def unique_slug(text: str) -> str:
    """The slug, with eight hex digits of the text's hash where the slug alone could be another text's."""
    slug, low = upstream_slug(text), text.lower()
    whole = len(low) <= _SLUG_LENGTH and ((low == slug and _WORD.fullmatch(low)) or _PLAIN_REMOTE.fullmatch(low))
    return slug if whole else f"{slug}-{hashlib.sha256(low.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def normalise_remote(url: str) -> str:
    """A git remote as ``host/path``, without scheme, credentials and ``.git``: every way to clone is one project."""
    text = url.strip()
    if scp := re.fullmatch(r"(?:[^@/\s]+@)([^:/\s]+):(?!/)(.*)", text):
        text = f"{scp[1]}/{scp[2]}"
    else:
        text = re.sub(r"^(?:https?|ssh|git|git\+ssh|git\+https)://", "", text, flags=re.IGNORECASE)
        text = re.sub(r"^[^@/]*@", "", text)
    text = re.sub(r"/+", "/", text).rstrip("/").removesuffix(".git")
    return text.rstrip("/")


@frozen(kw_only=True)
class Checkout:
    """What is known of a working directory. ``root`` and ``cwd`` are absolute; ``remote`` is git's own text or None."""

    cwd: str
    root: str
    remote: str | None = None


@frozen(kw_only=True)
class Project:
    """A project's identity. ``how`` is pin, remote or basename; ``legacy_id`` is the slug without our suffix.

    ``cwd`` is the working directory as the host named it; where it is not given, it is the root.
    """

    id: str
    legacy_id: str
    how: str
    root: str
    cwd: str = field(default=Factory(lambda self: self.root, takes_self=True))
    repo_key: str = field(init=False, eq=False, repr=False)
    """``<slug of the folder name>-<12 hex of the root path>``, as the TypeScript ancestor wrote it."""

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "repo_key", f"{upstream_slug(PurePath(self.root).name)}-{short_hash(self.root)}")

    @property
    def bank(self) -> str:
        """The bank derived for the project where none is configured."""
        return f"pi-project-{self.repo_key}"


def identify(checkout: Checkout, scope: ScopeConfig) -> Project:
    """Find the project's identity: the pin, else the remote, else the folder's name."""
    pin = (scope.project_id or "").strip()
    if pin:
        source, how = pin, "pin"
    elif scope.project_id_strategy == "remote" and checkout.remote and normalise_remote(checkout.remote):
        source, how = normalise_remote(checkout.remote), "remote"
    else:
        source, how = PurePath(checkout.root).name, "basename"
    return Project(
        id=unique_slug(source), legacy_id=upstream_slug(source), how=how, root=checkout.root, cwd=checkout.cwd
    )
