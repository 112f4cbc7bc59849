"""``python scripts/_live/server.py up|down|serve|test``: the real Hindsight server, for tests, benches and people."""

import sys
from pathlib import Path

# Run as a file: make the package importable.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _live.cli import main

if __name__ == "__main__":
    sys.exit(main())
