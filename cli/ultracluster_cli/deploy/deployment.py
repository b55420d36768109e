"""Deploys a rollout: check the file, run the CDK CLI, read back what is there."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ultracluster_cli._aws.cluster_targets import one_target, targets_by_profile
from ultracluster_cli._aws.selection import clusters_of
from ultracluster_cli._aws.targets import Target, account, local_aws
from ultracluster_cli._cdk.assembly import read_assembly
from ultracluster_cli._cdk.child_process import run_in_terminal, run_logged
from ultracluster_cli._cdk.timing import timed
from ultracluster_cli._cdk.toolchain import Toolchain, find_toolchain, with_own_folders
from ultracluster_cli._cdk.workspace import rollout_file, run_directory, state_directory
from ultracluster_cli.deploy.cdk_progress import DeployedStack, DeploymentProgress
from ultracluster_cli.deploy.cluster_state import Cluster
from ultracluster_cli.deploy.next_steps import print_next_steps
from ultracluster_cli.deploy.progress_display import progress_display
from ultracluster_cli.deploy.summary import print_summary
from ultracluster_cli.deploy.verification import read_clusters
from ultracluster_cli.output import print_findings, say
from ultracluster_rules.findings import Finding, FindingsError
from ultracluster_stacks.config import load_rollout

__all__ = ["Deployed", "deploy_rollout", "deploy_to"]

_FAILURES_SHOWN = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployed:
    """What a deployment left.

    Attributes:
        clusters: The clusters, read back from AWS.
        stacks: What the CDK CLI said of each stack; empty if it talked to the terminal itself.
    """

    clusters: tuple[Cluster, ...]
    stacks: tuple[DeployedStack, ...]


def deploy_rollout(
    *,
    directory: Path,
    rollout: Path | None,
    local: bool,
    wave: str | None,
    unattended: bool,
    no_cache: bool,
    as_json: bool,
) -> None:
    """Deploy a rollout and print what AWS then has.

    Args:
        directory: Folder of the CDK app.
        rollout: The rollout file. None for the one that cdk.json names.
        local: Into a local AWS instead of a real account.
        wave: Name of the one wave to deploy. None for all.
        unattended: Never ask, also when permissions are widened in a real account.
        no_cache: Synthesize every cluster, also those that have not changed.
        as_json: Print JSON instead of tables.

    Raises:
        FindingsError: If the rollout is wrong, a tool is missing, the CDK CLI fails or reading back fails.
    """
    rollout = rollout_file(directory, rollout)
    loaded = load_rollout(rollout)
    print_findings(loaded.warnings)
    clusters = clusters_of(loaded.config, wave)
    toolchain = find_toolchain(directory)
    state = state_directory(directory)
    steps: dict[str, float] = {}
    with (
        timed(steps, "in all"),
        run_directory(state) as temporary,
        ExitStack() as stack,
    ):
        if local:
            fake = local_aws(clusters, background=state / "local", temporary=temporary, steps=steps)
            targets = one_target(stack.enter_context(fake))
        else:
            targets = stack.enter_context(targets_by_profile(clusters, account))
        say(f"Deploying {len(clusters)} cluster(s) to {targets.name}")
        several = len(targets.targets) > 1  # the CDK CLI takes one profile at a time
        deployed = [
            deploy_to(
                target,
                toolchain=toolchain,
                directory=directory,
                rollout=rollout,
                wave=wave,
                only=targets.clusters(profile) if several else (),
                unattended=unattended,
                no_cache=no_cache,
                temporary=temporary,
                steps=steps,
            )
            for profile, target in targets.targets.items()
        ]
    read = [cluster for each in deployed for cluster in each.clusters]
    stacks = [stack for each in deployed for stack in each.stacks]
    print_summary(read, local=local, as_json=as_json, steps=steps, deployed=stacks)
    if not as_json:
        print_next_steps(read, local=local)


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
    """Run the CDK CLI and read back what AWS then has.

    Args:
        target: Where to deploy.
        toolchain: What deploys.
        directory: Folder of the CDK app.
        rollout: The rollout file, which was checked already.
        wave: Name of the one wave to deploy. Default: all.
        only: Names and Regions of the clusters to deploy, such as ``training-a-us-east-2``. Default: all.
        unattended: Do not ask before permissions are widened; a local AWS never asks. Default: ask.
        no_cache: Synthesize every cluster. Default: those that have changed.
        temporary: Folder for temporary files.
        steps: Receives the seconds of each step.

    Raises:
        FindingsError: If the CDK CLI fails (UC9006) or reading back fails (UC9007).
    """
    state = state_directory(directory)
    asks = not (target.local or unattended)
    command = _command(toolchain, rollout, wave, target=target, only=only, asks=asks, no_cache=no_cache)
    environment = with_own_folders(target.environment, toolchain=toolchain, state=state, temporary=temporary)
    progress = DeploymentProgress()
    with timed(steps, "cdk deploy"):
        _run(command, directory, environment, state, progress, asks=asks)
    with timed(steps, "reading back"):
        own = [each for each in clusters_of(load_rollout(rollout).config, wave) if each.own_instance_type]
        clusters = read_clusters(
            [one for one in read_assembly(directory / "cdk.out") if not only or one.cluster in only],
            client=target.client,
            own_types={each.instance_type: each.machine for each in own},
        )
    return Deployed(clusters=tuple(clusters), stacks=tuple(progress.deployed))


def _command(
    toolchain: Toolchain,
    rollout: Path,
    wave: str | None,
    *,
    target: Target,
    only: Sequence[str],
    asks: bool,
    no_cache: bool,
) -> list[str]:
    # "**" and not --all, which takes the stacks outside stages only and fails when there are none.
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
    if asks:
        return [*command, "--require-approval", "broadening"]
    return [*command, "--require-approval", "never", "--progress", "events", "--no-color"]


def _run(
    command: list[str],
    directory: Path,
    environment: Mapping[str, str],
    state: Path,
    progress: DeploymentProgress,
    *,
    asks: bool,
) -> None:
    if asks:
        code = run_in_terminal(command, directory=directory, environment=environment)
        if code:
            raise _failed(code, "see what it says above")
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
        raise _failed(code, f"the whole log is {log}")


def _failed(code: int, where: str) -> FindingsError:
    problem = f"cdk deploy ended with code {code}; {where}"
    return FindingsError(
        [Finding(code="UC9006", problem=problem, remedy="Repair the cause and deploy again")]
    )
