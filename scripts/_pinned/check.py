"""Check the shim's types against the real host's: what `tsc --strict` says of the two files, beside its packages."""

import json
import subprocess
import tempfile
from pathlib import Path

from _pinned.install import CACHE, install
from _pinned.shim import assemble

SECONDS = 300.0
STRICT = {
    "strict": True,
    "exactOptionalPropertyTypes": True,
    "noFallthroughCasesInSwitch": True,
    "noImplicitOverride": True,
    "noImplicitReturns": True,
    "noPropertyAccessFromIndexSignature": True,
    "noUncheckedIndexedAccess": True,
    "noUnusedLocals": True,
    "noUnusedParameters": True,
}
SHAPE = {
    "noEmit": True,
    "target": "es2023",
    "lib": ["es2024", "esnext.disposable"],
    "module": "preserve",
    "moduleResolution": "bundler",
    "allowImportingTsExtensions": True,
    # Both hosts only take the types away.
    "erasableSyntaxOnly": True,
    "verbatimModuleSyntax": True,
    # The hosts' own declarations are theirs to check; ours are checked against them.
    "skipLibCheck": True,
    "types": ["node"],
}


def faults(host: str, more: str = "") -> list[str]:
    """What the compiler finds in the shim of a host; `more` is put behind its index.ts."""
    node, _ = install("types")
    install(host)
    types = CACHE / "types" / "node_modules"
    with tempfile.TemporaryDirectory(prefix="shim-") as name:
        folder = assemble(host, Path(name), ["none"])
        (folder / "node_modules").symlink_to(CACHE / host / "node_modules")
        with (folder / "index.ts").open("a", encoding="utf-8") as index:
            index.write(more)
        options = {**STRICT, **SHAPE, "typeRoots": [str(types / "@types")]}
        (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": ["index.ts"]}))
        compiler = [str(node / "node"), str(types / "typescript" / "bin" / "tsc"), "--pretty", "false"]
        done = subprocess.run(compiler, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    lines = done.stdout.splitlines()
    return lines or ([done.stderr] if done.returncode else [])
