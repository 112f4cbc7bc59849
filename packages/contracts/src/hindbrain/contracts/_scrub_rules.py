"""All rules of the scrubber, in the order in which they name what they find."""

from __future__ import annotations

from hindbrain.contracts._scrub_carriers import BLOCKS, HEADERS, PLACES, WEB_ADDRESSES
from hindbrain.contracts._scrub_named import NAMED
from hindbrain.contracts._scrub_personal import PERSONAL
from hindbrain.contracts._scrub_rule import Rule
from hindbrain.contracts._scrub_vendors import VENDORS

__all__ = ["PERSONAL", "RULES"]

RULES: tuple[Rule, ...] = (*BLOCKS, *VENDORS, *WEB_ADDRESSES, *HEADERS, *PLACES, NAMED)
"""The most telling first: where several find the same text, the first gives the placeholder its kind."""
