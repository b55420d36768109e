"""Run `cdk deploy` on a synthesized assembly and read the deployed clusters back from AWS."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ultracluster_cli._aws.target import Target
from ultracluster_cli._cdk.cdk_synthesis import require_deployed
from ultracluster_cli._cdk.child_process import run_logged
from ultracluster_cli._cdk.timing import measure
from ultracluster_cli._cdk.toolchain import Project
from ultracluster_cli.deploy.cdk_progress import DeployedStack, DeploymentProgress, progress_display
from ultracluster_cli.deploy.verification import read_clusters
from ultracluster_cli.output import say
from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_cli.progress import if_interrupted
from ultracluster_stacks.config import ClusterConfig

_FAILURES_SHOWN = 10
_LEFT = (
    "CloudFormation finishes the stack that it has begun, and later stacks are unchanged. "
    "Deploy again to finish; `ultracluster status` shows each stack."
)


def cdk_deploy(
    assembly: Path,
    project: Project,
    *,
    clusters: Sequence[str] = (),
    target: Target,
    log: Path,
    progress: DeploymentProgress,
    on_change: Callable[[], object],
    options: Sequence[str] = (),
) -> int:
    """Run `cdk deploy` on an assembly whose plan has been approved, and return its exit code.

    ``clusters`` are stage names, such as ``training-a-us-east-2``. Default: all.
    """
    # --all would select only stacks outside of stages.
    command = [str(project.toolchain.cdk), "deploy", *([f"{cluster}/**" for cluster in clusters] or ["**"])]
    # The plan, with the permissions that it widens, has been approved.
    command += ["--app", str(assembly), "--require-approval", "never", "--progress", "events", "--no-color"]
    log.parent.mkdir(exist_ok=True)

    def on_line(line: str) -> None:
        progress.read(line)
        on_change()

    return run_logged(
        [*command, *options, *target.cdk_options],
        directory=project.directory,
        environment=project.environment(target.environment),
        log=log,
        on_line=on_line,
    )


def deploy_to(
    target: Target,
    project: Project,
    *,
    assembly: Path,
    clusters: Sequence[ClusterConfig],
    only: Sequence[str] = (),
    steps: dict[str, float],
    log: Path,
) -> tuple[list[dict[str, Any]], list[DeployedStack]]:
    """Deploy an assembly with the CDK CLI, or raise UC9006 if it fails, and read back the deployed clusters."""
    progress = DeploymentProgress()
    with (
        measure(steps, "cdk deploy"),
        if_interrupted(_LEFT),
        progress_display() as show,
    ):
        show(progress)
        code = cdk_deploy(
            assembly,
            project,
            clusters=only,
            target=target,
            log=log,
            progress=progress,
            on_change=lambda: show(progress),
        )
    if code:
        for line in progress.failures[:_FAILURES_SHOWN] or progress.last_lines:
            say(f"  | {line}")
        require_deployed(code, log=log)
    with measure(steps, "reading back"):
        stacks = [stack for stack in assembled_stacks(assembly) if stack.cluster]
        read = read_clusters(
            [stack for stack in stacks if not only or stack.cluster in only],
            client=target.client,
            own_types={
                cluster.instance_type: cluster.machine for cluster in clusters if cluster.custom_instance_type
            },
        )
    return read, progress.deployed


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
