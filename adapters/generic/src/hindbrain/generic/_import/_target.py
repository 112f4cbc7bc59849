"""Where the sessions of one project and host go."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from hindbrain.generic._config import Settings
from hindbrain.generic._open import SettingsError
from hindbrain.memory import MemoryConfig, Project, bank_of, project_bank


@frozen(kw_only=True)
class Target:
    """The project with the settings that hold there, the host whose state folder it is, and the bank.

    ``origin`` is the backend's address, which operation ids are bound to.
    """

    project: Project
    settings: Settings
    config: MemoryConfig
    host: str
    folder: Path
    bank: str
    origin: str

    @property
    def place(self) -> str:
        """Where documents are known by their ids: a bank of one backend."""
        return f"{self.origin} {self.bank}"


def import_bank(config: MemoryConfig, project: Project, named: str | None) -> str:
    """The bank that was named, else the project's.

    Raises:
        SettingsError: the settings list it and let nothing be written to it.
    """
    bank = project_bank(config, project) if named is None else named
    listed = [entry for entry in config.banks if bank_of(entry, config, project) == bank]
    if listed and not any(entry.writable for entry in listed):
        raise SettingsError(
            "The settings make this bank read-only or switch it off; nothing was imported.",
            next_step="Change its access in banks[], or name another bank with --bank.",
        )
    return bank
