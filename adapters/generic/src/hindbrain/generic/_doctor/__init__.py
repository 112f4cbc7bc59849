"""Read-only checks that say why memory is or is not working."""

from hindbrain.generic._doctor._examine import examine
from hindbrain.generic._doctor._finding import Finding

__all__ = ["Finding", "examine"]
