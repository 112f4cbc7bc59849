"""Putting the shim where a host finds it, and taking it away again. No file of the user is ever edited."""

from hindbrain.generic.hosts._kinds import HostKind, NoSuchHostError, kind_of, kinds
from hindbrain.generic.hosts._place import ForeignFolderError, Placed, install, uninstall
from hindbrain.generic.hosts._shim import shim_files
from hindbrain.generic.hosts._survey import Installed, survey
from hindbrain.generic.hosts._trial import Seam, try_host

__all__ = [
    "ForeignFolderError",
    "HostKind",
    "Installed",
    "NoSuchHostError",
    "Placed",
    "Seam",
    "install",
    "kind_of",
    "kinds",
    "shim_files",
    "survey",
    "try_host",
    "uninstall",
]
