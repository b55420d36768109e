"""Runs the jobs of all Regions: places runnable jobs on nodes, follows them, and scales the nodes."""

import logging
import shutil
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from ultracluster_local.events.delivery import deliver_to_rules, new_event
from ultracluster_local.instance.running import is_running, running
from ultracluster_local.instance.state import regions_with_state
from ultracluster_local.jobs.attempt import Attempt
from ultracluster_local.jobs.nodes import (
    Node,
    adopt,
    fits,
    is_alive,
    is_draining,
    launch,
    nodes_in,
    terminate,
)
from ultracluster_local.jobs.settings import JobSettings
from ultracluster_local.services.batch.consumable_resources import has_consumables
from ultracluster_local.services.batch.containers import containers_of_task, quantity
from ultracluster_local.services.batch.overrides import TOO_LONG
from ultracluster_local.services.batch.pending import settle
from ultracluster_local.services.batch.state import Batch, batch_of, finish_job, platform_of

__all__ = ["JobRunner"]

_LOG = logging.getLogger(__name__)
_TICK_SECONDS = 0.1
_NO_TASKS = "The local AWS runs no multi-node jobs with several containers on a node"
_EVENT = "Batch Job State Change"  # https://docs.aws.amazon.com/batch/latest/userguide/batch_job_events.html


class JobRunner:
    """Runs jobs on a thread until it is stopped.

    Args:
        settings: How jobs run.
    """

    def __init__(self, settings: JobSettings) -> None:
        self._settings = settings
        self._attempts: list[Attempt] = []
        self._known: dict[str, str] = {}
        self._changes: deque[tuple[str, Mapping[str, Any]]] = deque()
        self._ticking = threading.RLock()
        self._delivering = threading.Lock()
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=work, name=work.__name__, daemon=True)
            for work in (self._run_jobs, self._deliver_events)
        ]

    def start(self) -> None:
        """Start running jobs."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Kill all jobs and stop."""
        self._stopped.set()
        self.forget()
        for thread in self._threads:
            thread.join(timeout=10)

    def forget(self) -> None:
        """Kill all jobs and delete their files."""
        with self._ticking:
            for attempt in self._attempts:
                attempt.kill()
            self._attempts.clear()
            self._known.clear()
            self._changes.clear()
            if is_running():
                shutil.rmtree(running().directory / "jobs", ignore_errors=True)

    def inside(self, name: str) -> dict[str, Any]:
        """Return the folder and the variables in which a shell opens, by the ARN of a task or the ID of an instance.

        Raises:
            ValueError: If nothing runs there.
        """
        with self._ticking:
            for attempt in self._attempts:
                if found := attempt.inside(name):
                    return found
        raise ValueError(f"nothing runs on {name}")

    def deliver(self) -> None:
        """Deliver the events of jobs that have changed; return after the last."""
        with self._delivering:
            while self._changes and not self._stopped.is_set():
                region, job = self._changes.popleft()
                deliver_to_rules(
                    new_event(
                        region=region,
                        source="aws.batch",
                        detail_type=_EVENT,
                        detail=job,
                        resources=[job["jobArn"]],
                    )
                )

    def _deliver_events(self) -> None:
        while not self._stopped.wait(_TICK_SECONDS):
            try:
                self.deliver()
            except Exception:  # noqa: BLE001 - a target that is not supported must not end the thread
                _LOG.exception("an event of a job was not delivered")

    def _run_jobs(self) -> None:
        while not self._stopped.wait(_TICK_SECONDS):
            try:
                self.tick()
            except Exception:  # noqa: BLE001 - one job must not end the thread
                _LOG.exception("jobs were not followed")

    def tick(self) -> None:
        """Follow running jobs, start others for which there is room, and terminate idle nodes."""
        with self._ticking:
            if self._stopped.is_set():
                return
            self._attempts = [attempt for attempt in self._attempts if not attempt.poll()]
            for region in regions_with_state("batch"):
                batch = batch_of(region)
                if not batch.jobs:
                    continue
                settle(batch)
                for job in _runnable(batch):
                    self._place(region, batch, job)
                settle(batch)
                terminate(_idle(region, batch))
                self._note_changes(region, batch)

    def end_stopped(self) -> None:
        """Follow the jobs that are being stopped until they have ended, which takes at most the time before they are killed."""
        self.tick()
        while any(attempt.stops for attempt in self._attempts) and not self._stopped.wait(_TICK_SECONDS):
            self.tick()

    def _place(self, region: str, batch: Batch, job: dict[str, Any]) -> None:
        if not has_consumables(batch, job):
            return
        count = job["nodeProperties"]["numNodes"] if "nodeProperties" in job else 1
        if sum(len(attempt.nodes) for attempt in self._attempts) + count > self._settings.containers:
            return
        for entry in batch.queues[job["jobQueue"]].get("computeEnvironmentOrder") or []:
            environment = batch.environments.get(entry["computeEnvironment"])
            if environment is None or not _takes_jobs(environment):
                continue
            if _has_tasks_of_nodes(job):
                finish_job(job, reason=_NO_TASKS)
                return
            nodes = _nodes_for(region, environment, job, count)
            if nodes and job["jobId"].partition(":")[0] in batch.oversized:
                finish_job(job, reason=TOO_LONG)
                return
            if nodes:
                attempt = Attempt(job, batch=batch, nodes=nodes, settings=self._settings)
                self._attempts.append(attempt)
                attempt.start()
                return

    def _note_changes(self, region: str, batch: Batch) -> None:
        for job in batch.jobs.values():
            if "nodeDetails" not in job and self._known.get(job["jobArn"]) != job["status"]:
                self._known[job["jobArn"]] = job["status"]
                self._changes.append((region, dict(job)))


def _runnable(batch: Batch) -> list[dict[str, Any]]:
    jobs = [job for job in batch.jobs.values() if job["status"] == "RUNNABLE" and "nodeDetails" not in job]
    return sorted(
        (job for job in jobs if job["jobQueue"] in batch.queues and job["jobId"] not in batch.started),
        key=lambda job: (-batch.queues[job["jobQueue"]]["priority"], job["createdAt"]),
    )


def _has_tasks_of_nodes(job: Mapping[str, Any]) -> bool:
    ranges = job.get("nodeProperties", {}).get("nodeRangeProperties", [])
    return any("ecsProperties" in one for one in ranges)


def _takes_jobs(environment: Mapping[str, Any]) -> bool:
    kept = (environment["state"], environment["status"], platform_of(environment))
    return kept == ("ENABLED", "VALID", "EC2")


def _nodes_for(region: str, environment: Mapping[str, Any], job: Mapping[str, Any], count: int) -> list[Node]:
    """Return nodes with room for a job, launched if there are too few; empty if there is no room."""
    arn = environment["computeEnvironmentArn"]
    unmanaged = environment["type"] == "UNMANAGED"
    if not fits(environment, job):
        return []
    if unmanaged:
        adopt(region, environment)
    own = [node for node in nodes_in(region).values() if node.environment == arn and is_alive(node)]
    takes = [node for node in own if not is_draining(node)]
    if "nodeProperties" in job:
        free = [node for node in takes if not node.busy][:count]
    else:
        vcpus = sum(float(quantity(one, "VCPU") or 1) for one in containers_of_task(job))
        free = [node for node in takes if node.vcpus - node.busy >= vcpus][:1]
    missing = count - len(free)
    if missing:
        launched = (
            [] if unmanaged else launch(region, environment, missing, most_vcpus=_room(environment, own))
        )
        if not launched:
            return []
        free += launched
    return free


def _room(environment: Mapping[str, Any], nodes: list[Node]) -> int:
    return int(environment["computeResources"].get("maxvCpus", 0)) - sum(node.vcpus for node in nodes)


def _idle(region: str, batch: Batch) -> list[Node]:
    """Return the nodes that no job needs, beyond the minimum of their environment."""

    def kept(node: Node) -> bool:
        environment = batch.environments.get(node.environment)
        if environment is not None and environment["type"] == "UNMANAGED":
            return is_alive(node)  # its group ends it
        return environment is not None and environment["computeResources"].get("minvCpus", 0) > 0

    return [node for node in _all(region) if not node.busy and not kept(node)]


def _all(region: str) -> Iterator[Node]:
    yield from list(nodes_in(region).values())
