"""The sweeps are worth something only if they find mistakes: each known one is put in, and must be found."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.runtime.protocol_bugs import BUGS, Bug

import ultracluster_runtime

pytestmark = [pytest.mark.sweep, pytest.mark.process]

_ROOT = Path(__file__).parents[3]
_PACKAGE = Path(str(ultracluster_runtime.__file__)).parent
_FOUND = 3


def hunt(package_root: Path) -> "subprocess.CompletedProcess[str]":
    """Hunt in the package under `package_root`."""
    return subprocess.run(
        [sys.executable, "-m", "tests.unit.runtime.hunt", str(package_root)],
        cwd=_ROOT,
        env={
            **os.environ,
            "PYTHONPATH": f"{package_root}{os.pathsep}{_ROOT}",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_the_sweeps_find(bug: Bug, tmp_path: Path) -> None:
    shutil.copytree(_PACKAGE, tmp_path / _PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    for name, old, new in bug.changes:
        module = tmp_path / _PACKAGE.name / name
        source = module.read_text()
        assert source.count(old) == 1, f"{bug.name} no longer fits {name}: update the bug"
        module.write_text(source.replace(old, new))
    result = hunt(tmp_path)
    assert result.returncode == _FOUND, f"{bug.name} survived: {result.stdout}{result.stderr}"


def test_the_sweeps_find_nothing_in_the_protocol_itself(tmp_path: Path) -> None:
    shutil.copytree(_PACKAGE, tmp_path / _PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    result = hunt(tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_there_are_enough_bugs_and_each_has_its_own_name() -> None:
    names = [bug.name for bug in BUGS]
    assert len(set(names)) == len(names) >= 12
