"""Run benches by name: ``run.py NAME… [--json]``.

Each ``bench_NAME.py`` beside this file has ``run() -> Iterable[Row]``.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from _row import Row  # noqa: E402  (the folder must be on the path first)


def table(rows: Iterable[Row]) -> None:
    """Print rows for a person."""
    for row in rows:
        floor = f"  x{row.value / row.floor:.2f} floor" if row.floor else ""
        peers = "".join(f"  x{row.value / v:.2f} {k}" for k, v in row.peers.items() if v)
        bar = "" if row.bar is None else f"  [{'ok' if row.holds() else 'MISSED'}: {row.bar}]"
        print(f"{row.name:44s} {row.value:12.5g} {row.unit:6s}{floor}{peers}{bar}", flush=True)


def main() -> int:
    """Run what was asked for; exit 1 if a bar is missed, 2 if a name is unknown."""
    known = sorted(p.stem.removeprefix("bench_") for p in HERE.glob("bench_*.py"))
    parser = argparse.ArgumentParser(description="Measure hindbrain beside its floors and peers.")
    parser.add_argument("names", nargs="+", choices=known)
    parser.add_argument("--json", action="store_true", help="one JSON object a row")
    args = parser.parse_args()
    missed = False
    for name in args.names:
        for row in importlib.import_module(f"bench_{name}").run():
            missed |= row.holds() is False
            print(row.as_json(), flush=True) if args.json else table([row])
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
