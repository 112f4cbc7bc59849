"""The one place that reads the environment and settings files. Libraries get frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import evolve, frozen

from hindbrain.generic._config._environ import own_layers, shared_layers
from hindbrain.generic._config._files import ecosystem_layer, first_of, read_file
from hindbrain.generic._config._merge import Settings, merge


@frozen(kw_only=True)
class Places:
    """Where settings may lie. ``config_dir`` is the host's agent dir or the platform's config dir."""

    home: Path
    config_dir: Path
    project_dir: Path | None = None
    """The project's own folder for us, such as ``<root>/.hindbrain``; None outside a project."""


def load_settings(places: Places, environ: Mapping[str, str]) -> Settings:
    """Read all layers, lowest first: defaults, the ecosystem's file and variables, global, project, our variables.

    Source: decisions.md, "Configuration and trust".
    """
    ecosystem, said = ecosystem_layer(
        Path(environ.get("HINDSIGHT_CONFIG") or places.home / ".hindsight/coding-agent.json")
    )
    everywhere, said_too = read_file(first_of(places.config_dir), origin="global file")
    here, said_last = (
        (None, None)
        if places.project_dir is None
        else read_file(first_of(places.project_dir), origin="project file", trusted=False)
    )
    layers = [
        *([ecosystem] if ecosystem else []),
        *shared_layers(environ),
        *([everywhere] if everywhere else []),
        *([here] if here else []),
        *own_layers(environ),
    ]
    settings = merge(layers)
    return evolve(settings, warnings=(*filter(None, (said, said_too, said_last)), *settings.warnings))
