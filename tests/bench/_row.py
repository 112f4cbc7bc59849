"""What a bench prints: one row a figure, with its floor, its peers and whether its bar holds."""

from __future__ import annotations

import json
import operator
import re
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from attrs import field, frozen

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


@frozen(kw_only=True)
class Row:
    """One measured figure.

    ``value`` is the median of ``runs`` runs in ``unit``. ``floor`` and ``peers`` were measured in the same run and have
    the same unit. ``bar`` is one of ``x NAME <= 0.75`` (value over that peer), ``x floor <= 1.35`` (value over the
    floor) or ``value >= 0.73``; several are joined by `` and ``. None means the row is only reported.
    """

    name: str
    value: float
    unit: str
    runs: int
    floor: float | None = None
    peers: dict[str, float] = field(factory=dict)
    bar: str | None = None

    def holds(self) -> bool | None:
        """Whether the bar holds for the numbers of this row; None where there is no bar."""
        if self.bar is None:
            return None
        return all(self._holds(part) for part in self.bar.split(" and "))

    def _holds(self, part: str) -> bool:
        m = re.fullmatch(r"(value|x (?P<peer>\S+)) (?P<op><=|>=|<|>) (?P<number>[0-9.e-]+)", part)
        if m is None:
            raise ValueError(part)
        left = self.value
        if m["peer"]:
            base = self.floor if m["peer"] == "floor" else self.peers.get(m["peer"])
            if not base:
                return False
            left = self.value / base
        return _COMPARE[m["op"]](left, float(m["number"]))

    def as_json(self) -> str:
        """The row as one line of JSON."""
        row: dict[str, Any] = {"name": self.name, "value": self.value, "unit": self.unit, "runs": self.runs}
        row["floor"] = self.floor
        row["x_floor"] = round(self.value / self.floor, 3) if self.floor else None
        row["peers"] = {k: {"value": v, "x": round(self.value / v, 3) if v else None} for k, v in self.peers.items()}
        return json.dumps({**row, "bar": self.bar, "holds": self.holds()})


def median(samples: Sequence[float]) -> float:
    """The median, to five significant digits."""
    return float(f"{statistics.median(samples):.5g}")


def p95(samples: Sequence[float]) -> float:
    """The 95th percentile by nearest rank, to five significant digits."""
    ordered = sorted(samples)
    return float(f"{ordered[max(0, -(-len(ordered) * 95 // 100) - 1)]:.5g}")
