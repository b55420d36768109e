"""Ninety stacks on one local AWS: the time of a deployment grows no faster than the number of its stacks."""

import math
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from tests.deep.conftest import Tried
from tests.unit.stacks.conftest import ROOT, synthesize_rollout

pytestmark = [pytest.mark.deep, pytest.mark.slow]

BENCHMARKS = ROOT / "benchmarks"
SIZES = (3, 10, 30)  # clusters of three stacks; the first cluster of a process also loads moto's services
MOST = 1.1


@pytest.fixture
def _benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))


@pytest.mark.usefixtures("_benchmarks")
def test_ninety_stacks_deploy_in_linear_time(tmp_path: Path, tried: Tried) -> None:
    from rollouts import write_rollout

    points = []
    for size in SIZES:
        assembly = tmp_path / str(size)
        done = synthesize_rollout(write_rollout(tmp_path / f"{size}.yaml", size), assembly)
        assert done.returncode == 0, done.stderr
        measured = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("deploy_assembly.py")), str(assembly)],
            capture_output=True,
            text=True,
            check=True,
        )
        seconds, stacks = map(float, measured.stdout.split())
        assert stacks == 3 * size
        points.append((stacks, seconds))
    # The slope of a straight line through the points on paper that is logarithmic both ways.
    exponent = statistics.linear_regression(
        *zip(*((math.log(x), math.log(y)) for x, y in points), strict=True)
    ).slope
    tried("local AWS", f"{points[-1][0]:.0f} stacks, {points[-1][1]:.0f} CPU s, exponent {exponent:.2f}")
    assert exponent <= MOST
