"""Processes that stay until somebody ends them."""

import os
import sys
import time
from pathlib import Path

# Writes the ids of itself and of a child of its own, then stays.
STAYING = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(os.getpid(), child.pid, flush=True)
time.sleep(60)
"""


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def all_gone(pids: list[int]) -> bool:
    """Whether all processes end within a few seconds."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if not any(alive(pid) for pid in pids):
            return True
        time.sleep(0.01)
    return False


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # it went meanwhile, or this machine has no /proc
        return not Path("/proc").exists()
    return status.rpartition(")")[2].split()[0] != "Z"  # a zombie that nobody has waited for is gone, too
