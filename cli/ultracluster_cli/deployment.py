"""Deploys a rollout: check the file, run the CDK CLI, read back what is there."""

from collections.abc import Mapping
from pathlib import Path

from ultracluster_catalog.findings import Finding, FindingsError, quote
from ultracluster_cli.assembly import read_assembly
from ultracluster_cli.cdk_progress import DeploymentProgress
from ultracluster_cli.child_process import run_in_terminal, run_logged
from ultracluster_cli.next_steps import print_next_steps
from ultracluster_cli.output import print_findings, say
from ultracluster_cli.progress_display import progress_display
from ultracluster_cli.project import default_rollout, require_project, run_directory, state_directory
from ultracluster_cli.read_back import read_clusters
from ultracluster_cli.summary import print_summary
from ultracluster_cli.targets import account, local_aws, timed
from ultracluster_cli.toolchain import Toolchain, find_toolchain, with_own_folders
from ultracluster_stacks.config import ClusterConfig, RolloutConfig, load_rollout

__all__ = ["deploy_rollout"]

_FAILURES_SHOWN = 10


def deploy_rollout(
    *, directory: Path, rollout: Path | None, local: bool, wave: str | None, unattended: bool, as_json: bool
) -> None:
    """Deploy a rollout and print what AWS then has.

    Args:
        directory: Folder of the CDK app.
        rollout: The rollout file. None for the one that cdk.json names.
        local: Into a local AWS instead of a real account.
        wave: Name of the one wave to deploy. None for all.
        unattended: Never ask, also when permissions are widened in a real account.
        as_json: Print JSON instead of tables.

    Raises:
        FindingsError: If the rollout is wrong, a tool is missing, the CDK CLI fails or reading back fails.
    """
    require_project(directory)
    rollout = (rollout or default_rollout(directory)).resolve()
    loaded = load_rollout(rollout)
    print_findings(loaded.warnings)
    clusters = _clusters(loaded.config, wave)
    toolchain = find_toolchain(directory)
    state = state_directory(directory)
    steps: dict[str, float] = {}
    progress = DeploymentProgress()
    with (
        timed(steps, "in all"),
        run_directory(state) as temporary,
        local_aws(clusters, background=state / "local", temporary=temporary, steps=steps)
        if local
        else account() as target,
    ):
        say(f"Deploying {len(clusters)} cluster(s) to {target.name}")
        command = _command(toolchain, rollout, wave, local=local, unattended=unattended)
        environment = with_own_folders(
            target.environment, toolchain=toolchain, state=state, temporary=temporary
        )
        with timed(steps, "cdk deploy"):
            _run(command, directory, environment, state, progress, asks=not (local or unattended))
        with timed(steps, "reading back"):
            deployed = read_clusters(read_assembly(directory / "cdk.out"), client=target.client)
    print_summary(deployed, local=local, as_json=as_json, steps=steps, deployed=progress.deployed)
    if not as_json:
        print_next_steps(deployed, local=local)


def _clusters(config: RolloutConfig, wave: str | None) -> list[ClusterConfig]:
    names = [each.name for each in config.waves]
    if wave is not None and wave not in names:
        problem = f"got the wave {quote(wave)}, which the rollout does not have"
        raise FindingsError([Finding(code="UC9008", problem=problem, allowed=", ".join(names))])
    return [cluster for each in config.waves if wave in (None, each.name) for cluster in each.clusters]


def _command(
    toolchain: Toolchain, rollout: Path, wave: str | None, *, local: bool, unattended: bool
) -> list[str]:
    # "**" and not --all, which takes the stacks outside stages only and fails when there are none.
    command = [str(toolchain.cdk), "deploy", "**", "--context", f"rollout={rollout}", "--output", "cdk.out"]
    if wave is not None:
        command += ["--context", f"wave={wave}"]
    if local:
        command.append("--no-notices")  # they come from outside this machine
    if local or unattended:
        return [*command, "--require-approval", "never", "--progress", "events", "--no-color"]
    return [*command, "--require-approval", "broadening"]


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
