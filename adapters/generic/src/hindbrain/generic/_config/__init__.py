"""Settings: one table of keys, layers of values, and where each value came from."""

from hindbrain.generic._config._keys import BY_PATH, KEYS, Key
from hindbrain.generic._config._load import Places, load_settings
from hindbrain.generic._config._merge import Layer, Setting, Settings, merge
from hindbrain.generic._config._typed import memory_config

__all__ = [
    "BY_PATH",
    "KEYS",
    "Key",
    "Layer",
    "Places",
    "Setting",
    "Settings",
    "load_settings",
    "memory_config",
    "merge",
]
