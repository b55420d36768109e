"""Processes that share the synthesis of many clusters."""

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ultracluster_rules.findings import Finding, FindingsError
from ultracluster_stacks.config import ClusterConfig

__all__ = ["processes_for", "synthesize_in_processes"]

# A process costs as much as eight clusters before its first one (docs/performance.md).
_CLUSTERS_WORTH_A_PROCESS = 8
_MEMORY_OF_A_PROCESS = 700 * 1024**2  # Python and Node with 45 clusters


def processes_for(clusters: int, *, cores: int | None = None, free_memory: int | None = None) -> int:
    """Return how many processes synthesize this many clusters soonest, without filling the memory.

    Args:
        clusters: Clusters to synthesize.
        cores: Processor cores. Default: those that this process may use.
        free_memory: Bytes of memory. Default: what the kernel says is available; unknown counts as enough.
    """
    cores = cores or _cores()
    free_memory = free_memory if free_memory is not None else _free_memory()
    by_memory = cores if free_memory is None else free_memory // _MEMORY_OF_A_PROCESS
    return max(1, min(cores, by_memory, clusters // _CLUSTERS_WORTH_A_PROCESS))


def synthesize_in_processes(
    clusters: Sequence[ClusterConfig], directory: Path, *, processes: int
) -> list[Path]:
    """Synthesize clusters into several assemblies at one time, and return where they are.

    Args:
        clusters: The clusters.
        directory: An empty folder for the assemblies.
        processes: How many to start.

    Raises:
        FindingsError: If a process fails (UC9101); what it says is on stderr.
    """
    shares = [list(clusters[first::processes]) for first in range(processes)]
    started = []
    for number, share in enumerate(shares):
        own = directory / str(number)
        with (directory / f"{number}.clusters").open("w+b") as clusters_of_it:
            pickle.dump(share, clusters_of_it)
            clusters_of_it.seek(0)
            command = [sys.executable, "-m", "ultracluster_stacks.synthesis.in_process", str(own)]
            started.append((own, share, subprocess.Popen(command, stdin=clusters_of_it)))
    if failed := [cluster.name for _, share, process in started if process.wait() for cluster in share]:
        problem = f"a process that synthesizes {', '.join(failed)} has failed; see above"
        raise FindingsError([Finding(code="UC9101", problem=problem, remedy="Repair the cause")])
    return [own for own, _, _ in started]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _free_memory() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    return found[0] if found else None
