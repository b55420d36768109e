"""Run the steps of a rollout in threads: deploy a cluster, then check its gates; finish them on Ctrl-C."""

import queue
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_cli._aws.target import ClusterTargets
from ultracluster_cli._cdk.toolchain import Project
from ultracluster_cli.deploy.deployment import DeployedStack, DeploymentProgress, cdk_deploy
from ultracluster_cli.jobs.submit import submit_all
from ultracluster_cli.output import counted, echo
from ultracluster_cli.rollout import stack_status
from ultracluster_runtime.jobs.queues import find_definition, find_queue
from ultracluster_runtime.preflight.check import Status
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.run import run_checks
from ultracluster_runtime.preflight.subjects import Account
from ultracluster_runtime.rollout import plan as rollout_plan
from ultracluster_runtime.rollout.decide import Task
from ultracluster_runtime.rollout.drive import Result
from ultracluster_spec.findings import FindingsError

_PREFLIGHT_SECONDS = 120.0
_SIGNAL_SECONDS = 0.5  # Python handles signals only between waits
_GIVEN_UP = Result(passed=None, note="given up")


@dataclass(frozen=True, kw_only=True, slots=True)
class Steps:
    """Run steps. Thread-safe.

    Attributes:
        accounts: What preflight checks of each cluster. Empty for a rollback.
        skip: Codes of preflight checks to skip.
        patience_minutes: Minutes to wait for another deployment of a stack, and for a gate's job.
        poll_seconds: Seconds between polls.
        stopping: Set on Ctrl-C; waiting gates then end.
        show: Called with a cluster and its current activity.
        hold: Called with a cluster while it is deployed; raises FindingsError once another process may deploy it.
    """

    plan: rollout_plan.RolloutPlan
    run_id: str
    rollouts: Path
    accounts: Mapping[str, Account]
    skip: Collection[str]
    targets: ClusterTargets
    project: Project
    patience_minutes: float
    poll_seconds: float
    stopping: threading.Event
    show: Callable[[str, str], None]
    hold: Callable[[str], None]

    def take(self, task: Task) -> Result:
        """Run a step of a cluster and return its result."""
        cluster = next(planned for planned in self.plan.clusters if planned.name == task.cluster)
        if task.step == rollout_plan.PREFLIGHT:
            return self._preflight(cluster)
        if task.step == rollout_plan.DEPLOY:
            return self._deploy(cluster, task)
        if task.step == rollout_plan.STACKS:
            return self._check_stacks(cluster)
        if task.step == rollout_plan.ALARMS:
            return self._bake(cluster)
        return self._run_job(cluster, task)

    def _check_stacks(self, cluster: rollout_plan.PlannedCluster) -> Result:
        client = self.targets.of(cluster.name).client
        stacks = stack_status.describe_stacks(cluster.stacks, client=client)
        return _result(stack_status.unhealthy_stacks(stacks), good="healthy and as planned")

    def _preflight(self, cluster: rollout_plan.PlannedCluster) -> Result:
        client = self.targets.of(cluster.name).client
        reader = AwsReader(client, now=datetime.now(UTC), seconds=_PREFLIGHT_SECONDS)
        results = run_checks(self.accounts[cluster.name], reader, skip=self.skip)
        problems = [
            f"{result.code} {result.subject}: {result.outcome.evidence}. {result.outcome.remedy}"
            for result in results
            if result.outcome.status is Status.FAIL
        ]
        passed = sum(result.outcome.status is Status.PASS for result in results)
        return _result(problems, good=f"{passed} of {len(results)} checks passed, none failed")

    # Deploying

    def _deploy(self, cluster: rollout_plan.PlannedCluster, task: Task) -> Result:
        target = self.targets.of(cluster.name)
        stacks = stack_status.describe_stacks(cluster.stacks, client=target.client)
        deadline = time.monotonic() + self.patience_minutes * 60
        while (
            (task.interrupted or task.attempt > 1)
            and (busy := stack_status.changing_stacks(stacks))
            and time.monotonic() < deadline
        ):
            # CloudFormation finishes what a process started that was killed or lost the network or its credentials, and
            # rejects other changes meanwhile.
            self.show(cluster.name, f"waiting: {busy[0]}")
            if self.stopping.wait(self.poll_seconds):
                return _GIVEN_UP
            stacks = stack_status.describe_stacks(cluster.stacks, client=target.client)
        if problems := stack_status.changing_stacks(stacks) or stack_status.differing_stacks(stacks):
            return _failed("; ".join(problems))

        def on_change(progress: DeploymentProgress, _: DeployedStack | None) -> None:
            self.hold(cluster.name)  # an exception ends the CDK CLI before it begins the next stack
            self.show(cluster.name, progress.current or "preparing")

        self.hold(cluster.name)
        log = self.rollouts / self.run_id / "logs" / f"{cluster.name}.log"
        progress = cdk_deploy(
            self.rollouts / cluster.assembly,
            self.project,
            clusters=[cluster.name],
            target=target,
            log=log,
            on_change=on_change,
        )
        if progress.code:
            messages = " / ".join(progress.explanation(3))
            return _failed(f"cdk deploy ended with code {progress.code}: {messages}; see {log}")
        changed = sum(stack.changed for stack in progress.deployed)
        return _passed(f"{changed} of {len(progress.deployed)} stacks changed")

    # Gates

    def _bake(self, cluster: rollout_plan.PlannedCluster) -> Result:
        target = self.targets.of(cluster.name)
        names = list(stack_status.alarms_of(cluster, client=target.client))
        if not names:
            return _passed("the stacks define no alarms")
        cloudwatch = target.client("cloudwatch", cluster.region)
        deadline = time.monotonic() + self.plan.bake_minutes * 60
        while True:
            if alarms := list(stack_status.firing_alarms(names, cloudwatch)):
                reasons = (
                    f"alarm {alarm['AlarmName']}: {alarm.get('StateReason') or 'no reason given'}"
                    for alarm in alarms
                )
                return _failed("; ".join(reasons))
            seconds_left = deadline - time.monotonic()
            if seconds_left <= 0:
                minutes = self.plan.bake_minutes
                during = f" in {minutes:g} min" if minutes else ""
                return _passed(f"none of {counted(len(names), 'alarm')} fired{during}")
            self.show(cluster.name, f"baking, {seconds_left / 60:.0f} minutes left")
            if self.stopping.wait(min(seconds_left, self.poll_seconds)):
                return _GIVEN_UP

    def _run_job(self, cluster: rollout_plan.PlannedCluster, task: Task) -> Result:
        target = self.targets.of(cluster.name)
        client = target.client.in_region(cluster.region)
        job = task.step.removeprefix(rollout_plan.JOB)
        stack = next(stack.name for stack in cluster.stacks if stack.name.endswith("-Cluster"))
        job_queue = find_queue(stack, region=cluster.region, client=client)
        name = f"{job}-{self.run_id}-{task.attempt}"
        job_id = self._submitted(client("batch"), job_queue.arn, f"{job}-{self.run_id}", task)
        if job_id is None:
            definition = find_definition(job, queue=job_queue, client=client)
            (submitted,) = submit_all(definition, queue=job_queue, client=client, name=name, alone=True)
            job_id = submitted.job_id
        return self._wait_for(cluster, client("batch"), job_id)

    def _submitted(self, batch: Any, queue_arn: str, name: str, task: Task) -> str | None:
        """Return the job of this attempt, or one of an earlier attempt that has not failed; names are stable.

        An attempt also fails when its job still waits for nodes, or when the network or the credentials are lost.
        """
        for attempt in range(task.attempt, 0, -1):
            by_name = [{"name": "JOB_NAME", "values": [f"{name}-{attempt}"]}]
            pages = batch.get_paginator("list_jobs").paginate(jobQueue=queue_arn, filters=by_name)
            for job in (job for page in pages for job in page["jobSummaryList"]):
                if attempt == task.attempt or job["status"] != "FAILED":
                    return str(job["jobId"])
        return None

    def _wait_for(self, cluster: rollout_plan.PlannedCluster, batch: Any, job_id: str) -> Result:
        deadline = time.monotonic() + self.patience_minutes * 60
        while True:
            (job,) = batch.describe_jobs(jobs=[job_id])["jobs"]
            status = job["status"]
            if status == "SUCCEEDED":
                return _passed(f"job {job_id} succeeded")
            if status == "FAILED":
                return _failed(f"job {job_id} failed: {job.get('statusReason') or 'no reason given'}")
            if time.monotonic() >= deadline:
                why = f"see `ultracluster jobs why {job_id} --region {cluster.region}`"
                minutes = f"{self.patience_minutes:g} minutes"
                return _failed(f"job {job_id} is still {status} after {minutes}; {why}")
            self.show(cluster.name, f"job {job_id} is {status}")
            if self.stopping.wait(self.poll_seconds):
                return _GIVEN_UP


def _passed(note: str) -> Result:
    return Result(passed=True, note=note)


def _failed(note: str) -> Result:
    return Result(passed=False, note=note)


def _result(problems: list[str], *, good: str) -> Result:
    return _failed("; ".join(problems)) if problems else _passed(good)


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadedExecutor:
    """Run each step in a separate thread.

    ``report`` gets None when a step starts, and its result when it ends. ``stopping`` is set on the first Ctrl-C.
    """

    take: Callable[[Task], Result]
    report: Callable[[Task, Result | None], None]
    stopping: threading.Event
    _ended: queue.SimpleQueue[tuple[Task, Result | Exception]] = field(default_factory=queue.SimpleQueue)

    def begin(self, task: Task) -> None:
        """Start a step without waiting for it."""
        self.report(task, None)
        # Daemon threads, so that a second Ctrl-C ends this process and its children.
        threading.Thread(
            target=self._work, args=(task,), name=f"{task.cluster} {task.step}", daemon=True
        ).start()

    def wait(self) -> tuple[Task, Result]:
        """Wait for the next step to end, and return it with its result."""
        while True:
            try:
                task, result = self._ended.get(timeout=_SIGNAL_SECONDS)
            except queue.Empty:
                continue
            except KeyboardInterrupt:
                if self.stopping.is_set():
                    raise
                self.stopping.set()
                echo(
                    "Stopping after the current steps. Press Ctrl-C again to exit now; CloudFormation finishes its deployments."
                )
                continue
            if isinstance(result, Exception):
                raise result
            self.report(task, result)
            return task, result

    def stop_requested(self) -> bool:
        """Return whether Ctrl-C was pressed."""
        return self.stopping.is_set()

    def _work(self, task: Task) -> None:
        try:
            self._ended.put((task, self.take(task)))
        except (FindingsError, OSError, BotoCoreError, ClientError) as error:
            self._ended.put((task, _failed(str(error))))
        except Exception as error:  # noqa: BLE001 - raised again by wait
            self._ended.put((task, error))
