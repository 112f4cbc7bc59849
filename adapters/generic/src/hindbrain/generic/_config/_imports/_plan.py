"""From files of other tools to the changes of ours: what becomes of each value, decided before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import Factory, define, frozen

from hindbrain.generic._config._files import FileRead
from hindbrain.generic._config._form import FormError
from hindbrain.generic._config._imports._ecosystem import read_ecosystem
from hindbrain.generic._config._imports._ext_memory import NAMESPACE, OLD_NAMESPACE, read_ext_memory
from hindbrain.generic._config._imports._found import Found, Taken
from hindbrain.generic._config._imports._hindsight import read_hindsight
from hindbrain.generic._config._imports._smart_compact import TURNS_STAYED, read_smart_compact
from hindbrain.generic._config._keys import BY_PATH
from hindbrain.generic._config._merge import flatten
from hindbrain.generic._config._plain import holds_secret, plain

_HOSTS = (".pi", ".omp")
_AMONG_OTHERS = ("settings.json", "ext_settings.json")
"""Files that belong to a host, most of whose parts are no business of ours."""


@frozen
class Change:
    """One key of ours and the value it gets. ``old`` is what our file says now, None where it says nothing."""

    path: str
    old: Any
    new: Any
    was: str
    source: Path


@frozen
class Plan:
    """What an import would do: changes, and a line for each name that is not taken over."""

    changes: tuple[Change, ...]
    left: tuple[str, ...]


def global_sources(home: Path, ecosystem: Path) -> tuple[Path, ...]:
    """Where the user's own settings of other tools lie; what stands later wins."""
    agents = [home / host / "agent" for host in _HOSTS]
    names = ("ext_settings.json", "settings.json", "hindsight.jsonc", "hindsight.json")
    return (ecosystem, *(agent / name for name in names for agent in reversed(agents)))


def project_sources(root: Path) -> tuple[Path, ...]:
    """Where a project's settings of other tools lie. They are never taken into the user's own file."""
    names = ("ext_settings.json", "hindsight.jsonc", "hindsight.json")
    return tuple(root / host / name for name in names for host in reversed(_HOSTS))


def read_source(found: FileRead) -> Found | None:
    """What a file holds for us, by its name and what is in it; None where it holds nothing of the kind."""
    tree = found.values
    if tree is None:
        return None
    reader: Callable[[Mapping[str, Any]], Found]
    compact = tree.get("smartCompact")
    if isinstance(compact, Mapping):
        return read_smart_compact(compact)
    if NAMESPACE in tree or OLD_NAMESPACE in tree:
        return read_ext_memory(tree)
    if found.path.name in _AMONG_OTHERS:
        return None
    reader = read_ecosystem if found.path.name == "coding-agent.json" else read_hindsight
    return reader(tree)


def plan(sources: Iterable[FileRead], target: FileRead) -> Plan:
    """Decide each value. One of the wrong form is left with a line that names key and form, and never its value."""
    planning = _Planning(have=dict(flatten(target.values or {})))
    for source in sources:
        found = read_source(source)
        if found is not None:
            planning.take(found, source.path)
    planning.settle()
    changes = tuple(change for change in planning.changes.values() if change.new != change.old)
    return Plan(changes, tuple(planning.left))


@define
class _Planning:
    have: Mapping[str, Any]
    changes: dict[str, Change] = Factory(dict)
    left: dict[str, None] = Factory(dict)

    def take(self, found: Found, source: Path) -> None:
        for name in found.left:
            self.left[f"{source}: {name.name} is not taken over: {name.why}."] = None
        for item in found.taken:
            try:
                new, said = _value(item)
            except FormError as error:
                self.left[f"{source}: {item.was} is not taken over: {item.path} expects {error}."] = None
                continue
            if holds_secret(new):
                self.left[f"{source}: {item.was} is not taken over: it looks like a secret."] = None
                continue
            self.left |= {f"{source}: {text}": None for text in said}
            before = self.changes.get(item.path)
            if before is not None and before.new != new:
                self.left[f"{before.source}: {before.was} gives way to {item.was} of {source}."] = None
            self.changes[item.path] = Change(item.path, self.have.get(item.path), new, item.was, source)

    def settle(self) -> None:
        """Turns stay here only where the server comes from those settings, too: another tool may have sent them."""
        turns, server = self.changes.get("retain.enabled"), self.changes.get("backend")
        if turns is None or turns.was != TURNS_STAYED or server is None:
            return
        if server.source != turns.source or server.old == server.new or "retain.enabled" in self.have:
            del self.changes["retain.enabled"]


def _value(item: Taken) -> tuple[Any, tuple[str, ...]]:
    """The value as it will stand in our file, and what was left out of it."""
    value, said = BY_PATH[item.path].read_leniently(item.value)
    return plain(value), said
