"""Settings: one table of keys, layers of values, and where each value came from."""

from hindbrain.generic._config._check import conflicts
from hindbrain.generic._config._edit import SettingsFileError, changed, save
from hindbrain.generic._config._files import FileRead, parse, read
from hindbrain.generic._config._form import Form, FormError
from hindbrain.generic._config._key import Key
from hindbrain.generic._config._keys import ALIASES, BY_PATH, KEYS
from hindbrain.generic._config._load import Places, host_places, load_settings
from hindbrain.generic._config._merge import Layer, Setting, Settings, flatten, merge
from hindbrain.generic._config._plain import holds_secret, plain
from hindbrain.generic._config._schema import schema
from hindbrain.generic._config._trust import Trust, TrustStore
from hindbrain.generic._config._typed import bank_entries, memory_config
from hindbrain.generic._config._typed_observe import observe_config

__all__ = [
    "ALIASES",
    "BY_PATH",
    "KEYS",
    "FileRead",
    "Form",
    "FormError",
    "Key",
    "Layer",
    "Places",
    "Setting",
    "Settings",
    "SettingsFileError",
    "Trust",
    "TrustStore",
    "bank_entries",
    "changed",
    "conflicts",
    "flatten",
    "holds_secret",
    "host_places",
    "load_settings",
    "memory_config",
    "merge",
    "observe_config",
    "parse",
    "plain",
    "read",
    "save",
    "schema",
]
