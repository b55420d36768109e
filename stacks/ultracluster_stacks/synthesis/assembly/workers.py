"""Synthesize many clusters in several processes."""

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError

# Starting a process takes as long as synthesizing eight clusters (the performance page of the evidence).
_CLUSTERS_WORTH_A_PROCESS = 8
_MEMORY_OF_A_PROCESS = 700 * 1024**2  # memory of Python and Node with 45 clusters


def processes_for(clusters: int, *, cores: int | None = None, free_memory: int | None = None) -> int:
    """Return the number of processes that synthesize clusters fastest within the free memory.

    Default: the cores and the free bytes of memory that the kernel reports.
    """
    if cores is None:
        affinity = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
        cores = len(affinity) or os.cpu_count() or 1
    free_memory = free_memory if free_memory is not None else _free_memory()
    by_memory = cores if free_memory is None else free_memory // _MEMORY_OF_A_PROCESS
    return max(1, min(cores, by_memory, clusters // _CLUSTERS_WORTH_A_PROCESS))


def synthesize_in_processes(clusters: Sequence[Cluster], directory: Path, *, processes: int) -> list[Path]:
    """Synthesize clusters into several assemblies in parallel, and return their directories.

    Raises:
        FindingsError: If rules are broken, or a process fails.
    """
    shares = [list(clusters[first::processes]) for first in range(processes)]
    workers = []
    for number, share in enumerate(shares):
        assembly = directory / str(number)
        with (directory / f"{number}.clusters").open("w+b") as pickled:
            pickle.dump(share, pickled)
            pickled.seek(0)
            command = [sys.executable, "-m", "ultracluster_stacks.synthesis.in_process", str(assembly)]
            workers.append(
                (assembly, share, subprocess.Popen(command, stdin=pickled, stdout=subprocess.PIPE))
            )
    answers = [process.communicate()[0] for _, _, process in workers]
    # Each worker is our own process; what it writes is not read from a file that others could have written.
    if found := [finding for answer in answers if answer for finding in pickle.loads(answer)]:  # noqa: S301
        raise FindingsError(found)
    if failed := [cluster.name for _, share, process in workers if process.returncode for cluster in share]:
        problem = f"a process that synthesizes {', '.join(failed)} failed; see the message above"
        raise FindingsError.message(problem, remedy="Fix the cause")
    return [assembly for assembly, _, _ in workers]


def _free_memory() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    available = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    return available[0] if available else None
