"""What every run shares, installed once: the server's virtual environment and the unpacked PostgreSQL."""

import hashlib
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from _live.processes import Argv, Command, run, run_checked, unprivileged
from _live.run_dir import held, run_directory
from _live.waiting import LiveError, StopRequest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CACHE = ROOT / ".cache" / "live"
INPUTS = ("requirements.txt", "constraints.txt", "overrides.txt")
INSTALL_SECONDS = 900.0
UNPACK_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Installation:
    """``fresh`` is False when an earlier run's installation was used."""

    venv: Path
    postgres: Path
    fresh: bool


def install(stop: StopRequest, cache: Path = CACHE) -> Installation:
    """Install what ``cache`` lacks; the stamp says for which pinned versions and which Python it was made.

    Raises:
        StoppedError: a signal came; the next run installs anew.
        LiveError: uv is missing, or a step failed or took too long.
    """
    cache.mkdir(parents=True, exist_ok=True)
    stamp, wanted = cache / "stamp", _fingerprint()
    venv, postgres = cache / "venv", cache / "postgres"
    with held(cache / "install.lock", INSTALL_SECONDS + UNPACK_SECONDS, stop):
        if stamp.exists() and stamp.read_text() == wanted:
            return Installation(venv, postgres, fresh=False)
        stamp.unlink(missing_ok=True)
        _install_server(venv, cache / "install.log", stop)
        _unpack_postgres(venv, postgres, stop)
        stamp.write_text(wanted)
    return Installation(venv, postgres, fresh=True)


def _fingerprint() -> str:
    digest = hashlib.sha256(f"{sys.version} {HERE}".encode())
    for name in INPUTS:
        digest.update((HERE / name).read_bytes())
    return digest.hexdigest()


def _install_server(venv: Path, log: Path, stop: StopRequest) -> None:
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv is None:
        raise LiveError("uv was not found, so nothing was installed. Start with scripts/live, which brings it.")
    create: Argv = [uv, "venv", "--quiet", "--clear", "--python", sys.executable, venv]
    fill: Argv = [uv, "pip", "install", "--quiet", "--no-build", "--python", venv / "bin" / "python"]
    for option, name in zip(("--requirements", "--constraint", "--override"), INPUTS, strict=True):
        fill += [option, HERE / name]
    for name, argv in (("uv venv", create), ("uv pip install", fill)):
        # uv needs the caller's environment: proxies, certificates, mirrors, its cache.
        run_checked(Command(name, argv, os.environ, log), INSTALL_SECONDS, stop)


def _unpack_postgres(venv: Path, target: Path, stop: StopRequest) -> None:
    """Let pg0 unpack the PostgreSQL and pgvector it carries.

    pg0 unpacks only on its way to starting a server that then leaves our process group. So it is given a setting that
    PostgreSQL refuses: everything gets unpacked and no server ever runs that we could lose sight of.
    """
    (carrier,) = venv.glob("lib/python3*/site-packages/pg0/bin/pg0")
    account = unprivileged()
    with run_directory() as folder:
        home = folder / "pg0"
        home.mkdir()
        shutil.copy(carrier, home / "pg0")
        if account:
            account.own(home)
        argv: Argv = [home / "pg0", "start", "--name", "unpack", "--config", "max_connections=none"]
        env = {"HOME": str(home), "PATH": os.defpath}
        log = folder / "unpack.log"
        run(Command("pg0", argv, env, log, account), UNPACK_SECONDS, stop)
        unpacked = [path.parents[2] for path in home.glob(".pg0/installation/*/share/extension/vector.control")]
        if len(unpacked) != 1:
            raise LiveError(f"pg0 did not unpack PostgreSQL with pgvector. It said:\n{log.read_text()}")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(unpacked[0], target, symlinks=True, ignore=shutil.ignore_patterns("include"))
