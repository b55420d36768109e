"""Runs a command and says what it cost: processor seconds and peak memory, of Python and of Node."""

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Cost", "machine", "measure"]

_INTERVAL = 0.01
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What one run of a command cost.

    Attributes:
        cpu: Processor seconds of all its processes, user and system, as the kernel counts them.
        node_cpu: Those of Node, looked up every 10 ms, so up to that much too few.
        wall: Seconds from start to end.
        python_mib: Most memory that a Python process held at one time, in MiB.
        node_mib: The same of a Node process.
    """

    cpu: float
    node_cpu: float
    wall: float
    python_mib: float
    node_mib: float


class _Watch(threading.Thread):
    """Looks at the processes below one until it is told to stop."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._root = pid
        self._ended = threading.Event()
        self._cpu: dict[int, float] = {}
        self._peak: dict[str, float] = {"python": 0.0, "node": 0.0}

    def run(self) -> None:
        while not self._ended.wait(_INTERVAL):
            self._look(self._root)

    def stop(self) -> tuple[float, dict[str, float]]:
        self._ended.set()
        self.join()
        return sum(self._cpu.values()), self._peak

    def _look(self, pid: int) -> None:
        process = Path(f"/proc/{pid}")
        try:
            kind = "node" if (process / "exe").readlink().name == "node" else "python"
            if kind == "node":
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                self._cpu[pid] = (int(fields[11]) + int(fields[12])) / _TICKS
            status = (process / "status").read_text()
            peak = [line for line in status.splitlines() if line.startswith("VmHWM:")]
            if peak:
                self._peak[kind] = max(self._peak[kind], int(peak[0].split()[1]) / 1024)
            for task in (process / "task").iterdir():
                for child in (task / "children").read_text().split():
                    self._look(int(child))
        except OSError:  # it has ended meanwhile
            return


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
        watch = _Watch(process.pid)
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        node_cpu, peak = watch.stop()
        if process.returncode:
            said.seek(0)
            end = said.read()[-3000:].decode(errors="replace")
            raise RuntimeError(f"{' '.join(command)} ended with code {process.returncode}:\n{end}")
    return Cost(
        cpu=usage.ru_utime + usage.ru_stime,
        node_cpu=node_cpu,
        wall=wall,
        python_mib=peak["python"],
        node_mib=peak["node"],
    )


def machine() -> str:
    """Say in one line what this ran on."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "?")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3
    return (
        f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, {sys.platform}, "
        f"Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f} at the start"
    )
