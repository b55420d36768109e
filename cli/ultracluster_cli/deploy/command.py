"""`ultracluster deploy`: plan a rollout, deploy what passes, and show the deployed clusters; or rehearse all that."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from ultracluster_cli import options
from ultracluster_cli._aws.selection import load_clusters
from ultracluster_cli._aws.targets import open_targets
from ultracluster_cli._cdk.toolchain import open_project
from ultracluster_cli._cdk.workspace import rollout_file
from ultracluster_cli.deploy.deployment import deploy_to, own_log, stacks_as_wanted
from ultracluster_cli.deploy.rehearsal import rehearse
from ultracluster_cli.deploy.summary import print_next_steps, print_summary
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.output import counted, echo
from ultracluster_cli.plan.cluster_locks import ClusterLocks
from ultracluster_cli.plan.planning import approved_plan
from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_cli.progress import measure

_OF_REHEARSALS = ("cluster", "no_file_system", "clean", "qualifier")
_OF_DEPLOYMENTS = ("allow", "no_cache")


def deploy(
    context: typer.Context,
    rollout: options.RolloutArgument,
    *,
    local: options.LocalOption = False,
    wave: options.WaveOption = None,
    allow: options.AllowOption = None,
    yes: options.YesOption = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Synthesize all clusters, including unchanged ones.")
    ] = False,
    as_json: options.JsonOption = False,
    without_capacity: Annotated[
        bool,
        typer.Option(
            "--without-capacity", help="Rehearse: deploy without nodes, check the result, and remove it."
        ),
    ] = False,
    cluster: options.ClustersOption = None,
    no_file_system: Annotated[
        bool,
        typer.Option(
            "--no-file-system",
            help="Create no file system, which is faster and cheaper; the file system is then not checked.",
        ),
    ] = False,
    clean: Annotated[
        bool,
        typer.Option("--clean", help="Only remove the resources that an interrupted rehearsal has left."),
    ] = False,
    qualifier: Annotated[str, typer.Option(help="CDK bootstrap qualifier.")] = "hnb659fds",
) -> None:
    """Deploy a rollout with the CDK CLI and show the result.

    Plans first, and exits with code 3 where `plan` does. With --yes, it exits with code 5 and changes nothing if the
    account did not answer what has to be known of the changes, unless --allow unanswered is given. Reads the deployed
    clusters back from AWS. Never buys capacity.

    With --without-capacity, it is a rehearsal, which starts no node, states its price first, and removes everything at
    the end; it exits with code 4 if a check fails. --cluster, --no-file-system, --clean and --qualifier are for
    rehearsals, --allow and --no-cache for deployments.
    """
    _refuse_options_of_the_other(context, without_capacity=without_capacity)
    file = rollout_file(rollout)
    if without_capacity:
        rehearse(
            file,
            wave=wave,
            names=cluster or [],
            file_system=not no_file_system,
            clean=clean,
            local=local,
            yes=yes,
            qualifier=qualifier,
            as_json=as_json,
        )
        return
    loaded, clusters = load_clusters(rollout, wave=wave)
    with (
        open_project() as project,
        measure("in all"),
        open_targets(clusters, local=local, temporary=project.temporary) as targets,
        ClusterLocks(targets, state=project.state) as locks,
    ):
        assembly = project.temporary / "deploy"
        with measure("cdk synth"):
            project.synthesize(
                assembly,
                rollout=file,
                wave=wave,
                environment=targets.environment,
                no_cache=no_cache,
            )
        stacks = assembled_stacks(assembly)
        locks.take(stacks)
        with measure("plan"):
            plan = approved_plan(
                stacks,
                targets=targets,
                clusters=clusters,
                defined=loaded.config.clusters(),
                allowed=allow or (),
                yes=yes,
                as_json=as_json,
                question=f"Deploy this to {targets.name}?",
            )
        if plan is None:
            raise typer.Exit(ExitCode.STOPPED)
        as_wanted = stacks_as_wanted(plan, stacks, targets)
        echo(f"Deploying {counted(len(clusters), 'cluster')} to {targets.name}")
        multiple_profiles = len(targets.targets) > 1  # the CDK CLI accepts one profile per run
        with own_log(project.state / "logs") as (log, is_only):
            if is_only:  # else the CDK CLI of the other deployment reads cdk.out
                shutil.rmtree(project.directory / "cdk.out", ignore_errors=True)
                assembly = Path(shutil.move(assembly, project.directory / "cdk.out"))
            deployed = [
                deploy_to(
                    target,
                    project,
                    assembly=assembly,
                    clusters=clusters,
                    only=targets.clusters(profile) if multiple_profiles else (),
                    as_wanted=as_wanted,
                    log=log,
                    hold=locks.require,
                )
                for profile, target in targets.targets.items()
            ]
    clusters_read = [cluster for read, _ in deployed for cluster in read]
    reported = [stack for _, of_account in deployed for stack in of_account]
    print_summary(clusters_read, local=local, as_json=as_json, deployed=reported)
    if not as_json:
        print_next_steps(clusters_read, local=local)


def _refuse_options_of_the_other(context: typer.Context, *, without_capacity: bool) -> None:
    """Refuse options that a rehearsal, or a deployment, would ignore."""
    names = _OF_DEPLOYMENTS if without_capacity else _OF_REHEARSALS
    given = [
        f"--{name.replace('_', '-')}"
        for name in names
        if (source := context.get_parameter_source(name)) and source.name == "COMMANDLINE"
    ]
    if given:
        condition = "is not for" if without_capacity else "needs"
        raise typer.BadParameter(f"{', '.join(given)} {condition} --without-capacity")
