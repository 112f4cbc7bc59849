"""Putting the shim where a host finds it, and taking it away again. No file of the user is ever edited."""

from hindbrain.generic._install._kinds import HostKind, NoSuchHostError, kind_of, kinds
from hindbrain.generic._install._place import ForeignFolderError, Placed, install, uninstall
from hindbrain.generic._install._shim import shim_files
from hindbrain.generic._install._survey import Installed, survey

__all__ = [
    "ForeignFolderError",
    "HostKind",
    "Installed",
    "NoSuchHostError",
    "Placed",
    "install",
    "kind_of",
    "kinds",
    "shim_files",
    "survey",
    "uninstall",
]
