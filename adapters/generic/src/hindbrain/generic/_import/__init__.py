"""Import of old sessions: what is kept of them, in which documents, and never twice."""

from hindbrain.generic._import._groups import Group, Survey, Where, survey
from hindbrain.generic._import._report import FileReport, ImportReport
from hindbrain.generic._import._source import PassedOver
from hindbrain.generic._import._tree import TreeImport
from hindbrain.generic._import._values import Dropped, Mode, Profile, Tally

__all__ = [
    "Dropped",
    "FileReport",
    "Group",
    "ImportReport",
    "Mode",
    "PassedOver",
    "Profile",
    "Survey",
    "Tally",
    "TreeImport",
    "Where",
    "survey",
]
