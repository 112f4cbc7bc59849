"""Seals: how the store knows its own lines again."""

from hindbrain.store._seal._key import SealKeyError, known_seal_key, seal_key
from hindbrain.store._seal._seal import SEAL_LENGTH, SealKey, check, seal

__all__ = ["SEAL_LENGTH", "SealKey", "SealKeyError", "check", "known_seal_key", "seal", "seal_key"]
