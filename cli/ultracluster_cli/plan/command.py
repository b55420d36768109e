"""`ultracluster plan`: compare a rollout with what is deployed."""

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ultracluster_cli import options
from ultracluster_cli._aws.rehearsals import rehearsals_of
from ultracluster_cli._aws.selection import load_clusters
from ultracluster_cli._aws.target import ClusterTargets
from ultracluster_cli._aws.targets import existing_targets, open_targets
from ultracluster_cli._cdk.toolchain import open_project
from ultracluster_cli._cdk.workspace import rollout_file
from ultracluster_cli.output import echo, print_findings, print_json, print_text
from ultracluster_cli.plan.cluster_locks import describe_locks
from ultracluster_cli.plan.output import cost_lines, costs_json, plan_json, plan_markdown, print_plan
from ultracluster_cli.plan.planning import (
    blocks_to_come,
    check_allowed,
    check_limits,
    compare_with_account,
    exit_code_of_plan,
)
from ultracluster_cli.plan.stacks import assembled_stacks, deployed_stacks
from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.config.rehearsal import PLAN
from ultracluster_stacks.cost import catalogue_prices, cost_differences
from ultracluster_stacks.plan import compare, headroom


def plan(
    rollout: options.RolloutArgument,
    *,
    against: Annotated[
        str,
        typer.Option(
            metavar="DIR|deployed", help="Compare with a saved cloud assembly or with the deployed stacks."
        ),
    ] = "deployed",
    local: options.LocalOption = False,
    wave: options.WaveOption = None,
    allow: options.AllowOption = None,
    as_json: options.JsonOption = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown for a pull request.")
    ] = False,
) -> None:
    """Show what a deployment would add, change, replace, retain and remove.

    Exits with code 3 if the deployment would lose data, end running jobs, cut off the network or fail, unless each such
    change is allowed, and with code 5 if the account did not answer what has to be known of the changes, unless --allow
    unanswered is given.
    """
    if as_json and as_markdown:
        raise typer.BadParameter("specify only one of --json and --markdown")
    file, allowed = rollout_file(rollout), allow or []
    loaded, clusters = load_clusters(rollout, wave=wave, deployable=False)
    unbought = [order for cluster in clusters for order in cluster.unresolved_orders]
    if unbought:
        echo(f"Placeholders stand for what is not bought yet: {', '.join(unbought)}")
    saved = None if against == "deployed" else Path(against)
    with open_project() as project:
        targets = _local_targets(clusters, project.temporary, fakes=not unbought) if local else None
        project.synthesize(
            project.temporary / "plan",
            rollout=file,
            wave=wave,
            environment=targets.environment if targets else os.environ,
            purpose=PLAN if unbought else None,
        )
        after = assembled_stacks(project.temporary / "plan")
        if saved is not None:
            planned = {stack.cluster for stack in after}  # others are not removed if they are of other waves
            before = [stack for stack in assembled_stacks(saved) if not wave or stack.cluster in planned]
            compared_with = str(saved)
            changes = compare(before, after, idle_blocks=blocks_to_come(clusters))
        else:
            targets = targets or existing_targets(clusters)
            before, compared_with = deployed_stacks(after, targets), targets.name
            rehearsed = [
                sentence
                for cluster in clusters
                for sentence in rehearsals_of(cluster, targets.of(cluster.stage))
            ]
            for sentence in (*rehearsed, *describe_locks(after, targets)):
                echo(sentence)
            changes = compare_with_account(
                before, after, clusters=clusters, defined=loaded.config.clusters(), targets=targets
            )
    costs = cost_differences(before, after, prices=catalogue_prices())
    windows = {cluster.stage: (cluster.capacity.start, cluster.capacity.end) for cluster in clusters}
    check_allowed(changes, allowed)
    check_limits(after)
    if saved is not None:
        echo(
            "The account is not asked: the plan does not know its reservations, quotas, images and imported roles"
        )
    if as_json:
        usages = [dataclasses.asdict(usage) for usage in headroom(after)]
        document = plan_json(changes, against=compared_with, allowed=allowed)
        print_json(**document, headroom=usages, clusters=costs_json(costs, windows))
    elif as_markdown:
        typer.echo(plan_markdown(changes, against=compared_with, allowed=allowed))
        typer.echo("\n".join(f"- {line}" for line in cost_lines(costs, windows)))
    else:
        print_plan(changes, against=compared_with, allowed=allowed)
        for line in cost_lines(costs, windows):
            print_text(line)
        fullest_stacks = "; ".join(str(usage) for usage in headroom(after))
        print_text(f"Fullest stacks: {fullest_stacks}")
    print_findings(loaded.unshown)
    if code := exit_code_of_plan(changes, allowed):
        raise typer.Exit(code)


def _local_targets(clusters: Sequence[Cluster], temporary: Path, *, fakes: bool) -> ClusterTargets:
    """Return the running local AWS, with the fakes of reservations and images that `deploy --local` makes too."""
    targets = existing_targets(clusters, local=True)
    if fakes:
        with open_targets(clusters, local=True, temporary=temporary):
            pass
    return targets
