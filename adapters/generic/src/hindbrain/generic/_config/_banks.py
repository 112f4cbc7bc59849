"""Values that are objects: the list of banks, and the program that may refuse a job."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hindbrain.generic._config._form import BankId, Form, FormError, choice
from hindbrain.memory import Access, BankEntry, EnqueueGate, RetainMode

MODE = choice(*RetainMode)
_MOST_BANKS = 64
_MISSIONS = frozenset(
    {"mission", "retainMission", "reflectMission", "observationsMission", "retainStructuredChunkSize"}
)
"""Fields that are for making a bank on a server: known, and not looked at here."""
_GATE_MS = EnqueueGate(command=()).timeout_ms
_EXPECTED = {
    "id": "a bank id, which only the coding bank may go without",
    "role": "a word such as coding, user or life",
    "enabled": "true or false",
    "access": "read, write or read-write",
    "retain": "an object with mode",
    "retain.mode": MODE.words,
}


class _Retain(BaseModel):
    model_config = ConfigDict(defer_build=True)

    mode: RetainMode | None = None


class _Entry(BaseModel):
    """One bank, as it stands in a file."""

    model_config = ConfigDict(defer_build=True)

    id: BankId | None = None
    role: Annotated[str, Field(strict=True, pattern=r"^[a-z][a-z0-9-]{0,31}$")] = "coding"
    enabled: Annotated[bool, Field(strict=True)] = True
    access: Access = Access.READ_WRITE
    retain: _Retain = _Retain()

    def entry(self) -> BankEntry:
        """The entry as the memory path knows it; without a mode of its own it has its role's."""
        own = {} if self.retain.mode is None else {"retain_mode": self.retain.mode}
        return BankEntry(id=self.id, role=self.role, enabled=self.enabled, access=self.access, **own)


class _Banks(Form):
    """A list of banks. One bad entry costs that entry only; a bad ``retain.mode`` costs no more than itself."""

    def read(self, value: object) -> tuple[BankEntry, ...]:
        entries, said = self.read_leniently(value)
        if said:
            raise FormError(self.words)
        return entries

    def read_leniently(self, value: object) -> tuple[tuple[BankEntry, ...], tuple[str, ...]]:
        if not isinstance(value, list | tuple) or len(value) > _MOST_BANKS:
            raise FormError(self.words)
        entries: dict[str | None, BankEntry] = {}
        said: list[str] = []
        for number, raw in enumerate(value):
            place = f"banks[{number}]"
            entry = _read_entry(raw, place, said)
            if entry is None:
                continue
            if entry.id in entries:
                said.append(f"{place} was dropped: an entry before it names the same bank.")
            else:
                entries[entry.id] = entry
        return tuple(entries.values()), tuple(said)


def _read_entry(raw: object, place: str, said: list[str]) -> BankEntry | None:
    if not isinstance(raw, dict):
        said.append(f"{place} was dropped: expected an object with id, role, enabled, access and retain.mode.")
        return None
    unknown = [name for name in raw if name not in _Entry.model_fields and name not in _MISSIONS]
    said.extend(f"{place}: the field {str(name)[:80]!r} is not known and was passed over." for name in unknown[:3])
    bad = list(_bad_fields(raw))
    if bad == ["retain.mode"]:
        said.append(f"{place}.retain.mode was dropped: expected {MODE.words}. The mode of its role applies.")
        raw = {**raw, "retain": {}}
    elif bad:
        # A wrong access or id must not widen what is done with a bank.
        said.append(f"{place} was dropped: {bad[0]} is not {_EXPECTED[bad[0]]}.")
        return None
    return _Entry.model_validate(raw).entry()


def _bad_fields(raw: dict[str, Any]) -> Iterator[str]:
    try:
        read = _Entry.model_validate(raw)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_context=False, include_input=False):
            field, *inner = detail["loc"]
            yield "retain.mode" if field == "retain" and inner else str(field)
    else:
        if read.id is None and read.role != "coding":
            yield "id"


class _Gate(BaseModel):
    """The gate, as it stands in a file."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    command: Annotated[tuple[Annotated[str, Field(strict=True)], ...], Field(strict=False, min_length=1, max_length=64)]
    timeout_ms: Annotated[int, Field(strict=True, ge=1, le=60000, alias="timeoutMs")] = _GATE_MS


class _GateForm(Form):
    def read(self, value: object) -> EnqueueGate:
        gate: _Gate = super().read(value)
        return EnqueueGate(command=gate.command, timeout_ms=gate.timeout_ms)


BANKS = _Banks(list[_Entry], "a list of banks, each an object with id, role, enabled, access and retain.mode", "json")
GATE = _GateForm(_Gate, "an object with command, a list of words, and timeoutMs from 1 to 60000", "json")
