"""What is examined: looked up once, for all checks."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from hindbrain.generic._config import Places, Settings
from hindbrain.generic._disk_outbox import state_folder
from hindbrain.memory import MemoryConfig, Project


@frozen(kw_only=True)
class Case:
    """Settings, host and project. ``project`` is None where the directory ``cwd`` is none.

    ``places`` None leaves out where the settings lie. ``state_dir`` names the state folder in place of the project's.
    """

    settings: Settings
    config: MemoryConfig
    host: str = "generic"
    project: Project | None = None
    places: Places | None = None
    state_dir: Path | None = None
    cwd: str = ""

    @property
    def tag(self) -> str:
        """The host as it stands in tags."""
        return "cli" if self.host == "generic" else self.host

    @property
    def state(self) -> tuple[Path, Path | None] | None:
        """The state folder and the root it must lie in; None where neither is known."""
        if self.state_dir is not None:
            return self.state_dir, None
        if self.project is None:
            return None
        root = Path(self.project.root)
        return state_folder(self.host, root), root
