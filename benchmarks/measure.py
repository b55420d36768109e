"""Runs a command and says what it cost."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Cost", "machine", "measure"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What one run of a command cost.

    Attributes:
        wall: Seconds from start to end.
        cpu: Processor seconds of all its processes, user and system, as the kernel counts them.
    """

    wall: float
    cpu: float


def measure(command: Sequence[str], *, environment: Mapping[str, str], directory: Path) -> Cost:
    """Run a command to its end.

    Args:
        command: Program and arguments.
        environment: Its whole environment.
        directory: Where it runs.

    Raises:
        RuntimeError: If it fails, with the end of what it said.
    """
    with tempfile.TemporaryFile() as said:
        began = time.perf_counter()
        process = subprocess.Popen(
            list(command), env=dict(environment), cwd=directory, stdout=said, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            end = said.read()[-3000:].decode(errors="replace")
            raise RuntimeError(f"{' '.join(command)} ended with code {process.returncode}:\n{end}")
    return Cost(wall=wall, cpu=usage.ru_utime + usage.ru_stime)


def machine() -> str:
    """Say in one line what this ran on."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "?")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3
    return (
        f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, {sys.platform}, "
        f"Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f} at the start"
    )
