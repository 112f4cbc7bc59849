"""Composition for any host: a session, a host in this process, settings, and the ``hindbrain`` command."""

from hindbrain.generic._config import Layer, Places, Setting, Settings, load_settings, memory_config, merge
from hindbrain.generic._disk_outbox import DiskOutbox, state_folder
from hindbrain.generic._embedder import EmbeddingError, OpenAIEmbedder
from hindbrain.generic._host import BranchMovedError, InProcessHost
from hindbrain.generic._live import live_session
from hindbrain.generic._open import SessionPlace, SettingsError, find_project, name_session, open_backend
from hindbrain.generic._outbox import Flush, MemoryOutbox, Outbox
from hindbrain.generic._patch import ContextPatch
from hindbrain.generic._replay import AnswerItem, Replay, ReplayReport
from hindbrain.generic._session import Session, SettledTurn

__all__ = [
    "AnswerItem",
    "BranchMovedError",
    "ContextPatch",
    "DiskOutbox",
    "EmbeddingError",
    "Flush",
    "InProcessHost",
    "Layer",
    "MemoryOutbox",
    "OpenAIEmbedder",
    "Outbox",
    "Places",
    "Replay",
    "ReplayReport",
    "Session",
    "SessionPlace",
    "Setting",
    "Settings",
    "SettingsError",
    "SettledTurn",
    "find_project",
    "live_session",
    "load_settings",
    "memory_config",
    "merge",
    "name_session",
    "open_backend",
    "state_folder",
]
