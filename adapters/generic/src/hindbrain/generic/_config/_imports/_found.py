"""What a settings file of another tool holds for us."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import Factory, define, frozen

UNKNOWN = "hindbrain has no such setting"
LATER = "it belongs to a part that hindbrain does not have yet"


@frozen
class Taken:
    """A value to take over: the name it has there, the key it gets here, and the value in our form."""

    was: str
    path: str
    value: Any


@frozen
class Left:
    """A name that is not taken over, and why. Its value is never shown."""

    name: str
    why: str


@define
class Found:
    """All that one file holds."""

    taken: list[Taken] = Factory(list)
    left: list[Left] = Factory(list)

    def take(self, was: str, path: str, value: Any) -> None:
        """Take a value over under our key."""
        self.taken.append(Taken(was, path, value))

    def leave(self, name: str, why: str = UNKNOWN) -> None:
        """Leave a name where it is."""
        self.left.append(Left(name, why))


def leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Paths and values of a nested object, down to what is no object."""
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
