"""The one place that reads the environment and settings files. Libraries get frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import evolve, frozen

from hindbrain.generic._config._environ import own_layers, shared_layers
from hindbrain.generic._config._files import ecosystem_layer, first_of, read
from hindbrain.generic._config._merge import Layer, Settings, merge
from hindbrain.generic._config._trust import Trust, TrustStore


@frozen(kw_only=True)
class Places:
    """Where settings may lie. ``config_dir`` is the host's agent dir or the platform's config dir."""

    home: Path
    config_dir: Path
    project_dir: Path | None = None
    """The project's own folder for us, such as ``<root>/.hindbrain``; None outside a project."""
    host: str | None = None
    """The host whose settings these are; None for the command line's own."""

    @property
    def global_file(self) -> Path:
        """The user's settings for every project."""
        return first_of(self.config_dir)

    @property
    def project_file(self) -> Path | None:
        """The project's own settings."""
        return None if self.project_dir is None else first_of(self.project_dir)

    @property
    def trust(self) -> TrustStore:
        """What the user has said about files of projects."""
        return TrustStore(self.config_dir / "trusted")

    def ecosystem_file(self, environ: Mapping[str, str]) -> Path:
        """The file that the official integrations share."""
        return Path(environ.get("HINDSIGHT_CONFIG") or self.home / ".hindsight/coding-agent.json")


def host_places(host: str, agent_dir: Path, cwd: Path) -> Places:
    """The host's own folder for the user's settings, and the project's ``.pi`` or ``.omp`` for its own.

    Source: architecture.md, "Files a user sees".
    """
    folder = f".{host}"
    root = next((each for each in (cwd, *cwd.parents) if (each / ".git").exists() or (each / folder).is_dir()), None)
    home = Path.home()
    if root == home:
        root = None  # the host's own folder lies there, and is no project's
    return Places(home=home, config_dir=agent_dir, project_dir=root / folder if root else None, host=host)


def _project_layer(places: Places) -> tuple[Layer | None, list[str | None]]:
    if places.project_file is None:
        return None, []
    found = read(places.project_file)
    trust = places.trust.of(found)
    way = "hindbrain trust" if places.host is None else f"hindbrain trust --host {places.host}"
    changed = (
        f"project file {found.path} was changed since you trusted it, so that its own word counts only for what is"
        f" harmless. Look at it, then run `{way}`."
    )
    layer = found.layer("project file", trusted=trust is Trust.TRUSTED, way=way)
    return layer, [found.warning("project file"), changed if trust is Trust.CHANGED else None]


def load_settings(places: Places, environ: Mapping[str, str]) -> Settings:
    """Read all layers, lowest first: defaults, the ecosystem's file and variables, global, project, our variables.

    Of a project's file that is not trusted only what is safe counts.

    Source: decisions.md, "Configuration and trust".
    """
    ecosystem, said = ecosystem_layer(places.ecosystem_file(environ))
    everywhere = read(places.global_file)
    here, said_here = _project_layer(places)
    layers = [ecosystem, *shared_layers(environ), everywhere.layer("global file"), here, *own_layers(environ)]
    settings = merge(layer for layer in layers if layer is not None)
    said_all = [text for text in (said, everywhere.warning("global file"), *said_here) if text]
    return evolve(settings, warnings=(*said_all, *settings.warnings))
