"""Every setting there is, and the older names some of them still go by."""

from __future__ import annotations

from hindbrain.generic._config._key import Key
from hindbrain.generic._config._keys_endpoint import ENDPOINT
from hindbrain.generic._config._keys_general import BANK_ALIASES, BANK_KEYS, GENERAL, SCOPE
from hindbrain.generic._config._keys_observe import OBSERVE
from hindbrain.generic._config._keys_recall import RECALL
from hindbrain.generic._config._keys_retain import RETAIN
from hindbrain.generic._config._keys_shown import SHOWN

KEYS: tuple[Key, ...] = (*GENERAL, *BANK_KEYS, *SCOPE, *RECALL, *RETAIN, *OBSERVE, *ENDPOINT, *SHOWN)
ALIASES: tuple[Key, ...] = BANK_ALIASES
BY_PATH = {key.path: key for key in (*KEYS, *ALIASES)}
