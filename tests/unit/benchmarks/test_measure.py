"""What a command costs."""

import os
import sys
from pathlib import Path

import pytest
from measure import machine, measure

pytestmark = pytest.mark.slow

BUSY = "import time; t = time.process_time() + 0.2\nwhile time.process_time() < t: pass"


def test_counts_processor_seconds_of_children_too(tmp_path: Path) -> None:
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY!r}])"
    cost = measure([sys.executable, "-c", parent], environment=os.environ, directory=tmp_path)

    assert 0.2 <= cost.cpu < 1
    assert cost.wall >= 0.2


def test_a_command_that_fails_reports_the_reason(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"code 3:\nno such thing"):
        measure(
            [sys.executable, "-c", "import sys; print('no such thing'); sys.exit(3)"],
            environment=os.environ,
            directory=tmp_path,
        )


def test_says_what_it_ran_on() -> None:
    assert f"{os.cpu_count()} cores" in machine()
