"""`ultracluster rehearse`: deploy a rollout without capacity, to learn what AWS accepts before anything is bought."""

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ultracluster_cli import options
from ultracluster_cli._aws.selection import load_clusters
from ultracluster_cli._aws.target import ClusterTargets
from ultracluster_cli._aws.targets import open_targets
from ultracluster_cli._cdk.toolchain import Project, find_toolchain
from ultracluster_cli._cdk.workspace import rollout_file, run_directory, state_directory
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.output import print_json, say
from ultracluster_cli.preflight.command import print_results, result_row
from ultracluster_cli.rehearse.guard import check_assembly
from ultracluster_cli.rehearse.price import hourly_price, price_text
from ultracluster_cli.rehearse.run import AccountRehearsal, removed_at_the_end
from ultracluster_runtime.costs.price_list import PRICE_LIST_REGION
from ultracluster_runtime.preflight.check import Status
from ultracluster_runtime.preflight.run import CheckResult
from ultracluster_stacks.config import ClusterConfig
from ultracluster_stacks.config.rehearsal import REHEARSAL, REHEARSAL_WITHOUT_FILE_SYSTEM, left_out, rehearsed


def rehearse(
    rollout: options.RolloutArgument,
    *,
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
    local: options.LocalOption = False,
    yes: options.YesOption = False,
    qualifier: Annotated[str, typer.Option(help="CDK bootstrap qualifier.")] = "hnb659fds",
    as_json: options.JsonOption = False,
) -> None:
    """Deploy a rollout without capacity, check the result, and remove it.

    Starts no node and buys nothing. Exits with code 4 if a check fails.
    """
    directory, start = Path.cwd(), time.monotonic()
    rollout = rollout_file(rollout)
    _, clusters = load_clusters(rollout, names=cluster or [], deployable=False)
    with (
        run_directory(state_directory(directory)) as temporary,
        open_targets(clusters, local=local, temporary=temporary, seed_blocks=False) as targets,
    ):
        rehearsals = [
            _of_account(targets, profile, clusters, file_system=not no_file_system)
            for profile in targets.targets
        ]
        for rehearsal in rehearsals:
            rehearsal.check_account(qualifier=qualifier)
        if clean:
            removed = sum(rehearsal.remove() for rehearsal in rehearsals)
            say(f"Removed {removed} stacks of rehearsals.")
            return
        project = Project(directory=directory, temporary=temporary, toolchain=find_toolchain(directory))
        for rehearsal in rehearsals:
            rehearsal.check_absent()
        _state_price(rehearsals, local=local, name=targets.name)
        if not (yes or local):
            typer.confirm("Begin?", abort=True, err=True)
        results = {id(rehearsal): rehearsal.check_before(qualifier=qualifier) for rehearsal in rehearsals}
        assembly = temporary / "rehearsal"
        environment = rehearsals[0].target.environment
        purpose = REHEARSAL_WITHOUT_FILE_SYSTEM if no_file_system else REHEARSAL
        project.synthesize(assembly, rollout=rollout, wave=None, environment=environment, purpose=purpose)
        check_assembly(assembly)
        with removed_at_the_end(rehearsals):
            for rehearsal in rehearsals:
                rehearsal.deploy(assembly, project)
                results[id(rehearsal)] += rehearsal.check_deployed()
        for rehearsal in rehearsals:
            for problem in rehearsal.write_records(results[id(rehearsal)]):
                say(f"warning: {problem}")
    _print_outcome(
        [result for of_account in results.values() for result in of_account],
        clusters,
        seconds=round(time.monotonic() - start, 1),
        as_json=as_json,
    )


def _of_account(
    targets: ClusterTargets, profile: str | None, clusters: Sequence[ClusterConfig], *, file_system: bool
) -> AccountRehearsal:
    own = [cluster for cluster in clusters if targets.profiles.get(cluster.stage) == profile]
    rehearsals = [rehearsed(cluster, file_system=file_system) for cluster in own]
    return AccountRehearsal(target=targets.targets[profile], clusters=own, rehearsals=rehearsals)


def _state_price(rehearsals: Sequence[AccountRehearsal], *, local: bool, name: str) -> None:
    clusters = [cluster for rehearsal in rehearsals for cluster in rehearsal.rehearsals]
    say(
        f"Rehearsing {len(clusters)} cluster(s) in {name}, without nodes: {', '.join(one.stage for one in clusters)}"
    )
    for cluster in (cluster for rehearsal in rehearsals for cluster in rehearsal.clusters):
        if parts := left_out(cluster):
            say(f"{cluster.name}: not rehearsed: {', '.join(parts)}")
    pricing = None if local else rehearsals[0].target.client("pricing", PRICE_LIST_REGION)
    say(price_text(hourly_price(clusters, pricing=pricing)))


def _print_outcome(
    results: Sequence[CheckResult], clusters: Sequence[ClusterConfig], *, seconds: float, as_json: bool
) -> None:
    counts = Counter(result.outcome.status for result in results)
    rows = [result_row(result) for result in results]
    if as_json:
        not_rehearsed = {cluster.stage: list(left_out(cluster)) for cluster in clusters}
        passed = counts[Status.FAIL] == 0
        print_json(passed=passed, results=rows, not_rehearsed=not_rehearsed, seconds=seconds)
    else:
        print_results(rows, counts, calls=f"{seconds:.0f} s; everything is removed")
    if counts[Status.FAIL]:
        raise typer.Exit(ExitCode.FAILED)
