"""``hindbrain doctor --start`` on the real hosts, and on hosts that are broken."""

import json
import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner
from hosts.machine import Machine

from hindbrain.generic._cli import main


def seams(machine: Machine, path: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, dict[str, str]]:
    """The exit code, and the level of each finding about the host."""
    for name, value in {"PATH": path, "HOME": str(machine.home)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(machine.project)
    (machine.project / ".git").mkdir(exist_ok=True)
    asked = ["doctor", "--start", "--host", machine.host, "--json", "--data-dir", str(machine.root / "data")]
    done = CliRunner().invoke(main, asked)
    findings = json.loads(done.stdout)["data"]["findings"]
    found = {each["check"]: each["level"] for each in findings if each["check"].startswith(f"{machine.host} ")}
    return done.exit_code, {check.split()[-1]: level for check, level in found.items()}


def test_each_seam_of_the_real_host_is_tried(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    _, found = seams(machine, machine.env["PATH"], monkeypatch)
    assert found == dict.fromkeys(["start", "tools", "retain", "recall", "transcript"], "ok")
    assert not (machine.home / f".{machine.host}" / "agent" / "sessions").exists(), "the user's own home was used"


def test_a_host_that_is_not_there_or_does_not_start_is_a_problem(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert seams(machine, "/usr/bin:/bin", monkeypatch) == (1, {"start": "problem"})
    broken = tmp_path / machine.host
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    assert seams(machine, f"{tmp_path}{os.pathsep}/usr/bin:/bin", monkeypatch) == (1, {"start": "problem"})
