"""The hosts that an adapter is installed for. Each adapter's dist names its own in an entry point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path

from attrs import frozen

from hindbrain.contracts import HindbrainError

GROUP = "hindbrain.hosts"
NAME = "hindbrain"
"""The folder under the host's extensions that is ours."""


class NoSuchHostError(HindbrainError):
    """There is no adapter for this host here; nothing was done."""

    code = "no-such-host"

    def __init__(self, name: str, known: list[str]) -> None:
        what = f"There is no adapter for {name!r} in this environment; nothing was done."
        there = (
            f"Installed adapters: {', '.join(known)}." if known else f"Install hindbrain-{name} beside this command."
        )
        super().__init__(what, next_step=there)


@frozen(kw_only=True)
class HostKind:
    """A kind of host.

    Attributes:
        name: pi or omp.
        version: of the adapter.
        module: what the sidecar is run as, ``python -m MODULE``.
        shim: the host's own TypeScript file.
        core: the TypeScript that all hosts share.
        protocol: the version that shim and sidecar have to speak.
        home: the agent folder below the user's home.
        profiles: the variable that names a profile, and the folder of profiles; empty where the host has none.
        manifest: the key of package.json that the host reads.
        settings: the host's own settings file in its agent folder, where that says whether it has a memory of its own.
        trial_settings: the host's settings for one model at a URL: the content of files in its agent folder.
        trial_arguments: what it is started with in a trial, before ``-p``.
    """

    name: str
    version: str
    module: str
    shim: Path
    core: Path
    protocol: int
    home: str
    profiles: tuple[str, str] | None = None
    manifest: str
    settings: str | None = None
    trial_settings: Callable[[str, str], Mapping[str, str]]
    trial_arguments: tuple[str, ...] = ()

    def agent_dir(self, environ: Mapping[str, str], user_home: Path) -> Path:
        """Where the host keeps its extensions and settings. Source: spec/pi-host.md 6, spec/omp-host.md 2."""
        if environ.get("PI_CODING_AGENT_DIR"):
            return Path(environ["PI_CODING_AGENT_DIR"]).expanduser()
        if self.profiles is not None and environ.get(self.profiles[0]):
            return user_home / self.profiles[1] / environ[self.profiles[0]] / "agent"
        return user_home / self.home

    def user_folder(self, environ: Mapping[str, str], user_home: Path) -> Path:
        """Our folder for every project of the user."""
        return self.agent_dir(environ, user_home) / "extensions" / NAME

    def project_folder(self, root: Path) -> Path:
        """Our folder for one project."""
        return root / f".{self.name}" / "extensions" / NAME


def kinds() -> dict[str, HostKind]:
    """The hosts by name, of the adapters in this environment."""
    return {each.name: each.load() for each in sorted(entry_points(group=GROUP), key=lambda each: each.name)}


def kind_of(name: str) -> HostKind:
    """The host of this name.

    Raises:
        NoSuchHostError: no adapter for it is installed.
    """
    known = kinds()
    if name not in known:
        raise NoSuchHostError(name, list(known))
    return known[name]
