"""Composition for any host: a session, a host in this process, settings, and the ``hindbrain`` command.

Names are loaded when they are first used, so that the command can be interrupted from its first moment on.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindbrain.generic._config import Layer, Places, Setting, Settings, load_settings, memory_config, merge
    from hindbrain.generic._disk_outbox import DiskOutbox, state_folder
    from hindbrain.generic._embedder import EmbeddingError, OpenAIEmbedder
    from hindbrain.generic._endpoint_model import EndpointModel, EndpointModelError
    from hindbrain.generic._explicit import Explicit, ExplicitRetain
    from hindbrain.generic._governance import Governance
    from hindbrain.generic._host import BranchMovedError, InProcessHost
    from hindbrain.generic._live import live_session
    from hindbrain.generic._observe import Cancelled, CompactionAnswer, CompactionAsk, Observing, Told, live_observing
    from hindbrain.generic._open import SessionPlace, SettingsError, find_project, name_session, open_backend
    from hindbrain.generic._open_model import OneModel, open_model
    from hindbrain.generic._otel import record_span
    from hindbrain.generic._outbox import Flush, Forgotten, MemoryOutbox, Outbox
    from hindbrain.generic._patch import ContextPatch
    from hindbrain.generic._replay import AnswerItem, Replay, ReplayReport
    from hindbrain.generic._session import Session
    from hindbrain.generic._settled import SettledTurn
    from hindbrain.generic._status import MemoryStatus

__all__ = [
    "AnswerItem",
    "BranchMovedError",
    "Cancelled",
    "CompactionAnswer",
    "CompactionAsk",
    "ContextPatch",
    "DiskOutbox",
    "EmbeddingError",
    "EndpointModel",
    "EndpointModelError",
    "Explicit",
    "ExplicitRetain",
    "Flush",
    "Forgotten",
    "Governance",
    "InProcessHost",
    "Layer",
    "MemoryOutbox",
    "MemoryStatus",
    "Observing",
    "OneModel",
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
    "Told",
    "find_project",
    "live_observing",
    "live_session",
    "load_settings",
    "memory_config",
    "merge",
    "name_session",
    "open_backend",
    "open_model",
    "record_span",
    "state_folder",
]

_HOMES = {
    "_config": ("Layer", "Places", "Setting", "Settings", "load_settings", "memory_config", "merge"),
    "_disk_outbox": ("DiskOutbox", "state_folder"),
    "_embedder": ("EmbeddingError", "OpenAIEmbedder"),
    "_endpoint_model": ("EndpointModel", "EndpointModelError"),
    "_explicit": ("Explicit", "ExplicitRetain"),
    "_governance": ("Governance",),
    "_host": ("BranchMovedError", "InProcessHost"),
    "_live": ("live_session",),
    "_observe": ("Cancelled", "CompactionAnswer", "CompactionAsk", "Observing", "Told", "live_observing"),
    "_open": ("SessionPlace", "SettingsError", "find_project", "name_session", "open_backend"),
    "_open_model": ("OneModel", "open_model"),
    "_otel": ("record_span",),
    "_outbox": ("Flush", "Forgotten", "MemoryOutbox", "Outbox"),
    "_patch": ("ContextPatch",),
    "_replay": ("AnswerItem", "Replay", "ReplayReport"),
    "_session": ("Session",),
    "_settled": ("SettledTurn",),
    "_status": ("MemoryStatus",),
}


def __getattr__(name: str) -> object:
    """Load a public name from its home."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"hindbrain.generic.{home}"), name)
    raise AttributeError(name)
