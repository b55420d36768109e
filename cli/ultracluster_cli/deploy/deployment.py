"""Run `cdk deploy` and read the deployed clusters back from AWS."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ultracluster_cli._aws.selection import clusters_of
from ultracluster_cli._aws.target import Target
from ultracluster_cli._cdk.assembly import read_assembly
from ultracluster_cli._cdk.child_process import run_in_terminal, run_logged
from ultracluster_cli._cdk.timing import measure
from ultracluster_cli._cdk.toolchain import Toolchain, with_project_folders
from ultracluster_cli._cdk.workspace import state_directory
from ultracluster_cli.deploy.cdk_progress import DeployedStack, DeploymentProgress
from ultracluster_cli.deploy.cluster_state import Cluster
from ultracluster_cli.deploy.progress_display import progress_display
from ultracluster_cli.deploy.verification import read_clusters
from ultracluster_cli.output import say
from ultracluster_rules.findings import FindingsError
from ultracluster_stacks.config import load_rollout

_FAILURES_SHOWN = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployed:
    """The result of a deployment.

    Attributes:
        clusters: The clusters, read back from AWS.
        stacks: Stacks reported by the CDK CLI. Empty if it ran interactively.
    """

    clusters: tuple[Cluster, ...]
    stacks: tuple[DeployedStack, ...]


def deploy_to(
    target: Target,
    *,
    toolchain: Toolchain,
    directory: Path,
    rollout: Path,
    wave: str | None = None,
    only: Sequence[str] = (),
    unattended: bool = False,
    no_cache: bool = False,
    temporary: Path,
    steps: dict[str, float],
) -> Deployed:
    """Run the CDK CLI and read back the deployed clusters.

    Args:
        target: Deployment target.
        toolchain: CDK toolchain.
        directory: Folder of the CDK app.
        rollout: Valid rollout file.
        wave: Wave to deploy. Default: all.
        only: Stage names of the clusters to deploy, such as ``training-a-us-east-2``. Default: all.
        unattended: Whether to skip the approval of widened permissions. Default: False.
        no_cache: Whether to synthesize unchanged clusters. Default: False.
        temporary: Folder for temporary files.
        steps: Receives the seconds of each step.

    Raises:
        FindingsError: If the CDK CLI fails (UC9006) or reading back fails (UC9007).
    """
    state = state_directory(directory)
    interactive = not (target.local or unattended)
    command = _command(
        toolchain, rollout, wave, target=target, only=only, interactive=interactive, no_cache=no_cache
    )
    environment = with_project_folders(
        target.environment, toolchain=toolchain, state=state, temporary=temporary
    )
    progress = DeploymentProgress()
    with measure(steps, "cdk deploy"):
        _run(command, directory, environment, state, progress, interactive=interactive)
    with measure(steps, "reading back"):
        own_type_clusters = [
            cluster
            for cluster in clusters_of(load_rollout(rollout).config, wave)
            if cluster.custom_instance_type
        ]
        clusters = read_clusters(
            [stack for stack in read_assembly(directory / "cdk.out") if not only or stack.cluster in only],
            client=target.client,
            own_types={cluster.instance_type: cluster.machine for cluster in own_type_clusters},
        )
    return Deployed(clusters=tuple(clusters), stacks=tuple(progress.deployed))


def _command(
    toolchain: Toolchain,
    rollout: Path,
    wave: str | None,
    *,
    target: Target,
    only: Sequence[str],
    interactive: bool,
    no_cache: bool,
) -> list[str]:
    # --all would select only stacks outside of stages.
    stacks = [f"{cluster}/**" for cluster in only] or ["**"]
    command = [
        str(toolchain.cdk),
        "deploy",
        *stacks,
        "--context",
        f"rollout={rollout}",
        "--output",
        "cdk.out",
    ]
    if wave is not None:
        command += ["--context", f"wave={wave}"]
    if no_cache:
        command += ["--context", "cache=false"]
    command += target.cdk_options
    if interactive:
        return [*command, "--require-approval", "broadening"]
    return [*command, "--require-approval", "never", "--progress", "events", "--no-color"]


def _run(
    command: list[str],
    directory: Path,
    environment: Mapping[str, str],
    state: Path,
    progress: DeploymentProgress,
    *,
    interactive: bool,
) -> None:
    if interactive:
        code = run_in_terminal(command, directory=directory, environment=environment)
        if code:
            raise _failed(code, "see its output above")
        return
    log = state / "logs" / "cdk-deploy.log"
    log.parent.mkdir(exist_ok=True)
    with progress_display() as display:
        display.show(progress)

        def show(line: str) -> None:
            progress.read(line)
            display.show(progress)

        code = run_logged(command, directory=directory, environment=environment, log=log, on_line=show)
    if code:
        for line in progress.failures[:_FAILURES_SHOWN] or progress.last_lines:
            say(f"  | {line}")
        raise _failed(code, f"see {log}")


def _failed(code: int, where: str) -> FindingsError:
    problem = f"cdk deploy ended with code {code}; {where}"
    return FindingsError.of("UC9006", problem, remedy="Fix the error and deploy again")
