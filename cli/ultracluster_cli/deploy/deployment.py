"""Run `cdk deploy` on a synthesized assembly, parse its progress, and read the deployed clusters back from AWS."""

import os
import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ultracluster_cli._aws.deployed_template import describe_stack
from ultracluster_cli._aws.target import ClusterTargets, Target
from ultracluster_cli._cdk.toolchain import Project, require_deployed
from ultracluster_cli.deploy.verification import read_clusters
from ultracluster_cli.output import echo
from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_cli.progress import doing, if_interrupted, measure
from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.plan import Plan, StackState, StackTemplate

_COLORS = re.compile(r"\x1b\[[0-9;]*m")
_STARTED = re.compile(r"^(?P<stack>\S.*): deploying\.\.\. \[(?P<number>\d+)/(?P<of>\d+)\]$")
_EVENT = re.compile(
    r"^(?P<name>\S+) \| +(?P<done>\d+)(?:/ *(?P<total>\d+))? \| [^|]+ \| (?P<status>[A-Z_]+) +\| "
)
_DEPLOYED = re.compile(r"^\s*✅  (?P<stack>\S.*?)(?P<same> \(no changes\))?$")
_SECONDS = re.compile(r"^✨  Deployment time: (?P<seconds>[\d.]+)s$")
_FAILED = re.compile(r"_FAILED\b|❌|^\[?Error\b|\bis not authorized\b")
_SETTLED = {"CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "IMPORT_COMPLETE"}
_AT_ONCE = 8  # fewer than the pooled connections of a client
_LAST_LINES = 8
_FAILURES_SHOWN = 10
_PREPARING = "Preparing the next stack"
_LEFT = (
    "CloudFormation finishes the stack that it has begun, and later stacks are unchanged. "
    "Deploy again to finish; `ultracluster status` shows each stack."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class DeployedStack:
    """A stack that the CDK CLI reported as deployed: its display name, ``STAGE/ID (NAME)``, and its time, if known."""

    name: str
    changed: bool
    seconds: float | None = None

    def __str__(self) -> str:
        changes = "deployed" if self.changed else "no changes"
        return f"{_construct_path(self.name)}: {changes}, {self.seconds or 0:.1f} s"


@dataclass(kw_only=True, slots=True)
class DeploymentProgress:
    """The reported progress of `cdk deploy`.

    Attributes:
        current: Stack being deployed. None between stacks.
        stacks: Number of stacks to deploy. 0 until the first starts.
        resources_done: Finished resources of the current stack.
        resources_total: Total resources of the current stack. 0 while unknown.
        last_lines: Last non-empty output lines, shown when a failure has no line of its own.
        code: Exit code of the CDK CLI, once it has ended.
    """

    current: str | None = None
    stacks: int = 0
    resources_done: int = 0
    resources_total: int = 0
    deployed: list[DeployedStack] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    last_lines: deque[str] = field(default_factory=lambda: deque(maxlen=_LAST_LINES))
    code: int = 0

    @property
    def activity(self) -> str:
        """What the CDK CLI does, in words."""
        if self.current is None:
            return _PREPARING
        resources = (
            f", {self.resources_done} of {self.resources_total} resources" if self.resources_total else ""
        )
        return f"[{len(self.deployed) + 1}/{self.stacks}] {_construct_path(self.current)}{resources}"

    def explanation(self, most: int = _FAILURES_SHOWN) -> list[str]:
        """Return lines that may explain a failure: those of errors, else the last ones."""
        return (self.failures or list(self.last_lines))[:most]

    def show_failure(self) -> None:
        """Print the explanation of a failure to stderr."""
        for line in self.explanation():
            echo(f"  | {line}")

    def read(self, line: str) -> DeployedStack | None:
        """Update the progress from one line of output, and return the stack whose deployment it ends."""
        line, finished = _COLORS.sub("", line), None
        if match := _STARTED.match(line):
            self.current, self.stacks = match["stack"], int(match["of"])
            self.resources_done = self.resources_total = 0
        elif match := _DEPLOYED.match(line):
            self.deployed.append(DeployedStack(name=match["stack"], changed=not match["same"]))
            self.current = None
            self.resources_done = self.resources_total = 0
        elif self.deployed and (match := _SECONDS.match(line)):
            finished = replace(self.deployed.pop(), seconds=float(match["seconds"]))
            self.deployed.append(finished)
        elif match := _EVENT.match(line):
            self.resources_done, self.resources_total = int(match["done"]), int(match["total"] or 0)
        if line.strip():
            self.last_lines.append(line.strip())
        if _FAILED.search(line):
            self.failures.append(line.strip())
        return finished


def _construct_path(stack: str) -> str:
    """Return the name of a stack without that of CloudFormation, which the CDK CLI appends."""
    return stack.partition(" (")[0]


def cdk_deploy(
    assembly: Path,
    project: Project,
    *,
    target: Target,
    log: Path,
    on_change: Callable[[DeploymentProgress, DeployedStack | None], object],
    clusters: Sequence[str] = (),
    stacks: Sequence[str] = (),
    options: Sequence[str] = (),
) -> DeploymentProgress:
    """Run `cdk deploy --progress events` on an assembly whose plan has been approved, and return what it reported.

    ``clusters`` are stage names, such as ``training-a-us-east-2``; none are all. ``stacks`` are construct paths, and
    leave out all others. ``on_change`` is called after each line of output, with the stack whose deployment it ends.
    """
    # --all would select only stacks outside of stages.
    selected = [*stacks, "--exclusively"] if stacks else [f"{cluster}/**" for cluster in clusters] or ["**"]
    # The plan, with the permissions that it widens, has been approved.
    approved = ("--app", str(assembly), "--require-approval", "never")
    progress = DeploymentProgress()
    progress.code = project.run_cdk(
        *("deploy", *selected, *approved, "--progress", "events", *options, *target.cdk_options),
        environment=target.environment,
        log=log,
        on_line=lambda line: on_change(progress, progress.read(line)),
    )
    return progress


def deploy_to(
    target: Target,
    project: Project,
    *,
    assembly: Path,
    clusters: Sequence[Cluster],
    only: Sequence[str] = (),
    as_wanted: Collection[str] = (),
    log: Path,
    hold: Callable[[], None] = lambda: None,
) -> tuple[list[dict[str, Any]], list[DeployedStack]]:
    """Deploy an assembly with the CDK CLI, or raise CommandError if it fails, and read back the deployed clusters.

    Stacks ``as_wanted``, by name, are left out; where all are, the CDK CLI is not started. ``hold`` is called meanwhile;
    if it raises an exception, the CDK CLI is ended before it begins the next stack. Default: nothing ends it.
    """
    stacks = [stack for stack in assembled_stacks(assembly) if not only or stack.cluster in only]
    deployed = [
        DeployedStack(name=stack.settings["displayName"], changed=False)
        for stack in stacks
        if stack.name in as_wanted
    ]
    for each in deployed:
        echo(str(each))
    others = [
        _construct_path(stack.settings["displayName"]) for stack in stacks if stack.name not in as_wanted
    ]
    if others:
        with measure("cdk deploy"), if_interrupted(_LEFT), doing(_PREPARING) as rename:

            def on_change(progress: DeploymentProgress, finished: DeployedStack | None) -> None:
                hold()
                if finished is not None:
                    echo(str(finished))
                rename(progress.activity)

            progress = cdk_deploy(
                assembly,
                project,
                clusters=only,
                stacks=others if deployed else (),
                target=target,
                log=log,
                on_change=on_change,
            )
        if progress.code:
            progress.show_failure()
            require_deployed(progress.code, log=log)
        deployed += progress.deployed
    own_types = {
        cluster.instance_type: cluster.node_type for cluster in clusters if cluster.custom_instance_type
    }
    with measure("reading back"):
        named = [stack for stack in stacks if stack.cluster]
        return read_clusters(named, client=target.client, own_types=own_types), deployed


def stacks_as_wanted(plan: Plan, stacks: Sequence[StackTemplate], targets: ClusterTargets) -> set[str]:
    """Return the names of the stacks that a deployment would not change."""
    same = {stack.name for stack in plan.stacks if stack.state is StackState.SAME}
    asked = [stack for stack in stacks if stack.name in same]
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        answers = pool.map(lambda stack: is_as_wanted(stack, targets), asked)
        return {stack.name for stack, as_wanted in zip(asked, answers, strict=True) if as_wanted}


def is_as_wanted(stack: StackTemplate, targets: ClusterTargets) -> bool:
    """Return whether a stack whose template is deployed has all else that the CDK CLI would compare, too.

    Parameters from Parameter Store may have changed, except for the version of the bootstrap stack, which nothing uses.
    """
    parameters = stack.template.get("Parameters", {}).items()
    if any(
        str(each.get("Type")).startswith("AWS::SSM::") and name != "BootstrapVersion"
        for name, each in parameters
    ):
        return False
    cloudformation = targets.of(stack.cluster).client("cloudformation", stack.region)
    described = describe_stack(stack.name, cloudformation) or {}
    return (
        described.get("StackStatus") in _SETTLED
        and {each["Key"]: each["Value"] for each in described.get("Tags", ())}
        == stack.settings.get("tags", {})
        and described.get("EnableTerminationProtection", False)
        == stack.settings.get("terminationProtection", False)
        and described.get("NotificationARNs", []) == stack.settings.get("notificationArns", [])
    )


@contextmanager
def own_log(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Yield the log of this deployment, and whether no other one is running in the project, which has the usual log."""
    folder.mkdir(exist_ok=True)
    lock = FileLock(folder / "cdk-deploy.lock")
    try:
        lock.acquire(blocking=False)
    except Timeout:
        yield folder / f"cdk-deploy-{os.getpid()}.log", False
        return
    try:
        yield folder / "cdk-deploy.log", True
    finally:
        lock.release()
