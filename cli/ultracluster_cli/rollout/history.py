"""Store rollouts on disk, with journal, cloud assembly and logs."""

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from ultracluster_runtime.rollout.decide import Kind
from ultracluster_runtime.rollout.journal import FileJournal, read_journal
from ultracluster_runtime.rollout.plan import DEPLOY, PlannedCluster
from ultracluster_spec.findings import FindingsError

JOURNAL = "journal.jsonl"
_KEPT = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """A started rollout. The name of its folder is its ID."""

    folder: Path
    journal: FileJournal

    @property
    def open(self) -> bool:
        """Whether the rollout has not finished. Only the latest rollout of a file is ever resumed."""
        return self.journal.entries[-1].kind is not Kind.FINISHED

    def touched(self, cluster: str) -> bool:
        """Return whether the rollout has started to deploy a cluster."""
        return any(
            (entry.kind, entry.cluster, entry.step) == (Kind.BEGUN, cluster, DEPLOY)
            for entry in self.journal.entries
        )

    def touched_wave(self, wave: str) -> bool:
        """Return whether the rollout has started to deploy a cluster of a wave."""
        return any(
            cluster.wave == wave and self.touched(cluster.name) for cluster in self.journal.plan.clusters
        )


@contextmanager
def rollout_lock(rollouts: Path) -> Iterator[None]:
    """Hold the lock of a project's rollouts, which the kernel releases when this process ends."""
    rollouts.mkdir(parents=True, exist_ok=True)
    holder = rollouts / "lock.pid"
    try:
        lock = FileLock(rollouts / "lock").acquire(blocking=False)
    except Timeout:
        process = holder.read_text("ascii", errors="replace")[:20] if holder.is_file() else ""
        problem = f"another rollout is running here (process {process if process.isdecimal() else 'unknown'})"
        remedy = "Wait for it to finish, or stop it with Ctrl-C"
        raise FindingsError.message(problem, remedy=remedy) from None
    with lock:
        holder.write_text(str(os.getpid()), "ascii")
        yield


def new_run_folder(rollouts: Path, now: datetime) -> Path:
    """Return the folder for a new rollout, whose name sorts after all earlier ones."""
    folder = rollouts / f"{now:%Y%m%dT%H%M%S%fZ}"
    latest = max((folder.name for folder in rollouts.iterdir() if folder.is_dir()), default="")
    # Keep the order of rollouts when the clock was set back.
    return folder if folder.name > latest else rollouts / f"{latest}-next"


def runs_of(rollouts: Path, file: Path) -> list[Run]:
    """Return the rollouts of a rollout file, oldest first."""
    # Without a complete first line, the process was killed before it did anything.
    journals = (path for path in sorted(rollouts.glob(f"*/{JOURNAL}")) if b"\n" in path.read_bytes())
    runs = [Run(folder=path.parent, journal=read_journal(path)) for path in journals]
    return [run for run in runs if run.journal.plan.file == str(file)]


def prune_assemblies(rollouts: Path, runs: list[Run]) -> None:
    """Remove cloud assemblies that neither --resume nor --rollback can need.

    Keep those of the last rollout and of the last 5 deployments of each cluster, and all journals.
    """
    deployments: Counter[str] = Counter()
    kept: set[str] = set()
    for run in reversed(runs):
        for cluster in run.journal.plan.clusters:
            if run is not runs[-1] and not run.touched(cluster.name):
                continue
            deployments[cluster.name] += 1
            if deployments[cluster.name] <= _KEPT:
                kept.add(cluster.assembly)
    for run in runs:
        for assembly in {cluster.assembly for cluster in run.journal.plan.clusters} - kept:
            shutil.rmtree(rollouts / assembly, ignore_errors=True)


def earlier_deployment(runs: list[Run], cluster_to_undo: PlannedCluster) -> PlannedCluster | None:
    """Return the latest earlier deployment of a cluster with the templates before a rollout. None without its assembly."""
    before = {stack.name: stack.before for stack in cluster_to_undo.stacks}
    for run in reversed(runs):
        for cluster in run.journal.plan.clusters:
            after = {stack.name: stack.after for stack in cluster.stacks}
            kept = (run.folder.parent / cluster.assembly).is_dir()
            if (
                cluster.name == cluster_to_undo.name
                and after == before
                and run.touched(cluster.name)
                and kept
            ):
                return cluster
    return None
