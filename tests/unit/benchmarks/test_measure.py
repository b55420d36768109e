"""What a command costs."""

import os
import sys
from pathlib import Path

import pytest
from measure import measure

pytestmark = pytest.mark.slow

BUSY = "import time; t = time.process_time() + 0.2\nwhile time.process_time() < t: pass"


def test_counts_processor_seconds_of_children_too(tmp_path: Path) -> None:
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY!r}])"
    cost = measure([sys.executable, "-c", parent], environment=os.environ, directory=tmp_path)

    assert 0.2 <= cost.cpu < 1
    assert cost.wall >= 0.2
