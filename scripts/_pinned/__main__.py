"""``python -m _pinned NAME…``: install what is named and say where it lies."""

import sys

from _pinned.install import CACHE, ROOT, install

for name in sys.argv[1:]:
    install(name)
    print(f"{name} is in {(CACHE / name).relative_to(ROOT)}", file=sys.stderr)
