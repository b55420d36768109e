"""Lock the clusters that a command deploys, each in its own account and Region."""

import getpass
import os
import shlex
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import boto3
from botocore.exceptions import ClientError
from filelock import FileLock, Timeout

from ultracluster_cli._aws.target import ClusterTargets, Target
from ultracluster_cli.output import echo
from ultracluster_cli.plan.stacks import asset_destination
from ultracluster_cli.progress import doing
from ultracluster_runtime.functions.responses import AWS_ERRORS, problem_of
from ultracluster_runtime.rollout.cluster_lock import LEASE, ClusterLock, Held, LockHeldError, new_holder
from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.plan import StackTemplate

_KEY: Final = "ultracluster/locks"
_AT_ONCE: Final = 8  # fewer than the pooled connections of a client
_RENEW_SECONDS: Final = LEASE.total_seconds() / 5
_ROLE_SECONDS: Final = 45 * 60  # credentials of an assumed role last an hour


class ClusterLocks(ExitStack):
    """The locks that this process holds: renewed while it works, and released when it ends, also on Ctrl-C and SIGTERM."""

    def __init__(self, targets: ClusterTargets, *, state: Path) -> None:
        super().__init__()
        self._targets = targets
        self._folder = state / "locks"
        self._locks: dict[str, ClusterLock] = {}
        self._lost: dict[str, str] = {}
        self._over = threading.Event()

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            # A pipeline that is cancelled sends SIGTERM.
            before = signal.signal(signal.SIGTERM, signal.default_int_handler)
            self.callback(signal.signal, signal.SIGTERM, before)
        return super().__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        self._over.set()
        with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
            for warning in filter(None, pool.map(_release, self._locks, self._locks.values())):
                echo(warning)
        return super().__exit__(kind, error, traceback)

    def take(self, stacks: Iterable[StackTemplate]) -> None:
        """Lock the clusters of some stacks, or none of them."""
        by_cluster = sorted(_first_stacks(stacks), key=lambda stack: stack.cluster)
        self._folder.mkdir(exist_ok=True)
        with doing("Locking the clusters"), ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
            locks = [pool.submit(_lock_of, stack, self._targets.of(stack.cluster)) for stack in by_cluster]
            # One after the other and in the same order for all, so that of two commands one gets its locks.
            for stack, lock in zip(by_cluster, locks, strict=True):
                self._take_lock(stack.cluster, lock, who=_who(self._targets.of(stack.cluster)))
        threading.Thread(target=self._renew_locks, name="cluster locks", daemon=True).start()

    def require(self, *clusters: str) -> None:
        """Raise FindingsError unless this process still holds the locks of these clusters, by default of all."""
        for cluster in clusters or self._locks:
            self._require_lock(cluster)

    def _require_lock(self, cluster: str) -> None:
        try:
            if cluster not in self._lost:
                self._locks[cluster].require()
                return
        except LockHeldError as error:
            self._lost[cluster] = _describe_holder(error.held)
        except AWS_ERRORS as error:
            self._lost[cluster] = f"it could not be renewed: {problem_of(error)}"
        problem = f"{cluster} is no longer locked by this process: {self._lost[cluster]}"
        remedy = "See what is deployed with `ultracluster plan`, then run the command again"
        raise FindingsError.message(problem, remedy=remedy)

    def _take_lock(self, cluster: str, opened: Future[ClusterLock], *, who: str) -> None:
        try:
            lock = opened.result()
            self._lock_folder_and_bucket(lock, cluster, who=who)
        except LockHeldError as error:
            problem = f"{cluster} is being deployed: {_describe_holder(error.held)}"
            remedy = "Wait until that command ends; the lock of a dead one is taken over when it has expired"
            raise FindingsError.message(problem, remedy=remedy) from error
        except AWS_ERRORS as error:
            problem = f"the lock of {cluster} cannot be written: {problem_of(error)}"
            remedy = (
                "Bootstrap its account and Region with `cdk bootstrap`, and use credentials that may deploy"
            )
            raise FindingsError.message(problem, remedy=remedy) from error
        self._locks[cluster] = lock

    def _lock_folder_and_bucket(self, lock: ClusterLock, cluster: str, *, who: str) -> None:
        name = f"{lock.bucket}-{cluster}"
        # The kernel releases this lock with the process. So who holds it knows that other owners of this folder are dead.
        folder_lock = FileLock(self._folder / f"{name}.lock", thread_local=False)
        try:
            folder_lock.acquire(blocking=False)
        except Timeout:
            raise LockHeldError(lock.read()) from None
        self.callback(folder_lock.release)
        owners = self._folder / f"{name}.owners"
        dead = owners.read_text("ascii", errors="replace").split() if owners.is_file() else []
        holder = new_holder(who=who, why=shlex.join(["ultracluster", *sys.argv[1:]]))
        # Before the lock is taken, so that the next process also knows this one if it is killed now.
        owners.write_text("\n".join([*dead, holder.owner]), "ascii")
        taken_over = lock.acquire(holder, own=dead)
        owners.write_text(holder.owner, "ascii")
        if taken_over is not None and taken_over.holder.owner not in dead:
            echo(f"{cluster}: took over an expired lock: {_describe_holder(taken_over)}")

    def _renew_locks(self) -> None:
        while not self._over.wait(_RENEW_SECONDS):
            for cluster, lock in self._locks.items():
                try:
                    lock.renew()
                except LockHeldError as error:
                    self._lost[cluster] = _describe_holder(error.held)
                except AWS_ERRORS:
                    continue  # `require` judges how long ago it was renewed


def _release(cluster: str, lock: ClusterLock) -> str:
    """Release a lock and return an empty string, or why it could not be."""
    try:
        lock.release()
    except AWS_ERRORS as error:
        minutes = LEASE.total_seconds() / 60
        return f"{cluster} stays locked for {minutes:.0f} minutes: {problem_of(error)}"
    return ""


def describe_locks(stacks: Iterable[StackTemplate], targets: ClusterTargets) -> list[str]:
    """Return a sentence for each cluster that somebody has locked, or whose lock cannot be read."""
    describe = partial(_describe_lock, targets=targets)
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        return list(filter(None, pool.map(describe, _first_stacks(stacks))))


def _first_stacks(stacks: Iterable[StackTemplate]) -> list[StackTemplate]:
    """Return the first stack of each cluster, in the order of the assembly."""
    first: dict[str, StackTemplate] = {}
    for stack in stacks:
        if stack.cluster:
            first.setdefault(stack.cluster, stack)
    return list(first.values())


def _describe_lock(stack: StackTemplate, targets: ClusterTargets) -> str:
    try:
        held = _lock_of(stack, targets.of(stack.cluster)).read()
    except AWS_ERRORS as error:
        return f"Whether {stack.cluster} is being deployed could not be read: {problem_of(error)}"
    return f"{stack.cluster} is being deployed: {_describe_holder(held)}" if held and not held.expired else ""


def _describe_holder(held: Held | None) -> str:
    if held is None:
        return "its lock was deleted"
    holder, seconds = held.holder, max(held.age.total_seconds(), 0)
    return (
        f"`{holder.why}` by {holder.who} since {holder.since}, lock renewed {seconds:.0f} s ago, "
        f"expires in {max(LEASE.total_seconds() - seconds, 0):.0f} s unless renewed"
    )


def _who(target: Target) -> str:
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a container without an entry for its user
        user = "unknown"
    return f"{user}@{socket.gethostname()}, process {os.getpid()}, {target.name}"


def _lock_of(stack: StackTemplate, target: Target) -> ClusterLock:
    """Return the lock of a cluster, in the bucket to which the CDK CLI publishes the assets of its stacks."""
    if stack.assembly is None:
        raise ValueError(f"{stack.name} was not read from an assembly")
    bucket, role = asset_destination(stack.assembly)
    if not bucket:
        raise ValueError("its stacks have no assets, so there is no bucket for it")
    identity = target.client("sts", stack.region).get_caller_identity()
    own = target.client("s3", stack.region)
    known = {"${AWS::AccountId}": identity["Account"], "${AWS::Partition}": identity["Arn"].split(":")[1]}
    for name, value in known.items():
        bucket, role = bucket.replace(name, value), role.replace(name, value)
    client = (lambda: own) if target.local or not role else _AssumedRole(target, stack.region, role)
    return ClusterLock(client=client, bucket=bucket, key=f"{_KEY}/{stack.cluster}.json")


class _AssumedRole:
    """Client of S3 with the role that publishes assets, which whoever may deploy may assume; else with own credentials."""

    def __init__(self, target: Target, region: str, role: str) -> None:
        self._target = target
        self._region = region
        self._role = role
        self._client: Any = None
        self._until = 0.0

    def __call__(self) -> Any:
        if time.monotonic() >= self._until:
            self._client = self._open()
            self._until = time.monotonic() + _ROLE_SECONDS
        return self._client

    def _open(self) -> Any:
        own = self._target.client("s3", self._region)
        try:
            answer = self._target.client("sts", self._region).assume_role(
                RoleArn=self._role, RoleSessionName="ultracluster-lock"
            )
        except ClientError:
            return own
        credentials = answer["Credentials"]
        return boto3.client(
            "s3",
            region_name=self._region,
            endpoint_url=own.meta.endpoint_url,
            config=own.meta.config,
            aws_access_key_id=credentials["AccessKeyId"],
            aws_secret_access_key=credentials["SecretAccessKey"],
            aws_session_token=credentials["SessionToken"],
        )
