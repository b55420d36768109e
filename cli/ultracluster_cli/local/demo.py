"""`ultracluster demo`: buy capacity, deploy a rollout and train on a local AWS."""

import dataclasses
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ultracluster_cli._aws.selection import load_clusters
from ultracluster_cli._aws.target import ClusterTargets
from ultracluster_cli._aws.targets import open_targets
from ultracluster_cli._cdk.toolchain import open_project
from ultracluster_cli._cdk.workspace import project_folder, rollout_file
from ultracluster_cli.deploy.deployment import deploy_to, own_log
from ultracluster_cli.deploy.summary import summary_json
from ultracluster_cli.local import demo_purchase
from ultracluster_cli.local.demo_job import DemoTraining, can_train
from ultracluster_cli.local.demo_purchase import chapter, show_command
from ultracluster_cli.operate.status import print_status, read_status, write_picture
from ultracluster_cli.options import JsonOption, RolloutArgument
from ultracluster_cli.output import echo, print_json
from ultracluster_cli.progress import doing, durations, measure
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.rollout import Rollout
from ultracluster_stacks.config.reading.environment import refuse_environment
from ultracluster_stacks.config.reading.problem import Loc
from ultracluster_stacks.config.reading.source_file import read_source_file
from ultracluster_stacks.config.reading.yaml_edit import set_values
from ultracluster_stacks.config.reading.yaml_source import read_yaml

_LONG: Final = 3.0  # seconds
_HEADER = """# Written by `ultracluster demo`: {rollout} with Capacity Blocks that were bought on the local AWS.
# They do not exist in any account.
"""


def demo(
    rollout: RolloutArgument,
    *,
    no_job: Annotated[bool, typer.Option("--no-job", help="Stop after the deployment.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Buy capacity on a local AWS, deploy a rollout, and train on it.

    Needs no account and no network. A second run on the same `ultracluster local up` buys nothing, changes nothing
    and does not train, because the demo moves the clock only of a local AWS that it started itself.
    """
    directory = project_folder()
    rollout = rollout_file(rollout)
    refuse_environment(rollout)
    loaded, clusters = load_clusters(rollout)
    blocks = blocks_of(loaded.config)
    with (
        open_project() as project,
        measure("in all"),
        # Where the CDK has never run, Python compiles its modules and jsii unpacks them, while other steps wait for answers.
        subprocess.Popen(
            [sys.executable, "-c", "import ultracluster_stacks.synthesis.in_process"],
            env=project.environment(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # the synthesis says what is wrong
        ) as loading,
        open_targets(
            clusters,
            local=True,
            temporary=project.temporary,
            seed_blocks=False,
            run_jobs=not no_job,
        ) as targets,
    ):
        target = targets.of(clusters[0].stage)
        folder, log = project.state / "demo", project.state / "logs" / "demo-capacity.log"
        for path in (folder, log.parent):
            path.mkdir(exist_ok=True)
        log.write_text("", encoding="utf-8")
        echo("On a local AWS, a simulation on this machine: list prices, and no charge.")
        with measure("making the ledger"):
            demo_purchase.make_ledger(target.client("dynamodb", demo_purchase.LEDGER_REGION))
        run = demo_purchase.CommandRunner(target=target, directory=directory, log=log)
        buyer = demo_purchase.DemoBuyer(target=target, directory=directory, folder=folder, run=run)
        purchases = {loc: buyer.buy(cluster) for loc, cluster in blocks.items()}
        copy = folder / rollout.name
        write_copy(rollout, copy, {loc: purchase.fragment for loc, purchase in purchases.items()})
        _, clusters = load_clusters(copy)
        chapter(4, "Deploy", "nodes start in the block that the file names, and nowhere else.")
        show_command("deploy", os.path.relpath(copy))
        assembly = project.temporary / "demo"
        with measure("cdk synth"):
            loading.wait()
            project.synthesize(assembly, rollout=copy, wave=None, environment=target.environment)
        with own_log(project.state / "logs") as (log, _):
            deployed, stacks = deploy_to(target, project, assembly=assembly, clusters=clusters, log=log)
        require_bought(deployed, list(purchases.values()))
        named = ", ".join(purchase.reservation_id for purchase in purchases.values())
        echo(f"  All launch templates name {named}, and no other.")
        trained = None
        for loc, cluster in blocks.items():
            if target.runs_jobs and trained is None and can_train(cluster):
                trained = DemoTraining(target=target, run=run).train(cluster, purchases[loc])
        if trained is None and not no_job:
            echo(
                "\nChapters 5 and 6 are left out: the demo trains only on a local AWS that it has started itself."
            )
        picture = folder / "timeline.svg"
        states = _look(copy, picture, clusters, targets)
    if as_json:
        summary = summary_json(deployed, local=True, deployed=stacks)
        job = dataclasses.asdict(trained) if trained else None
        rows = [*map(_row, purchases.values())]
        print_json(**summary, rollout=copy, purchases=rows, job=job, picture=picture)
        return
    for state in states:
        print_status(state, where="the local AWS")
    echo(f"The timeline of the block, drawn: {os.path.relpath(picture)}")
    parts = ", ".join(
        f"{step} {seconds:.1f}"
        for step, seconds in durations().items()
        if _LONG <= seconds < durations()["in all"]
    )
    echo(f"Took {durations()['in all']:.1f} s: {parts}.")
    echo("Next: `ultracluster docs first-cluster`, and a local AWS that stays: `local up`.")


def _look(
    rollout: Path, picture: Path, clusters: Sequence[Cluster], targets: ClusterTargets
) -> list[dict[str, Any]]:
    """Read and draw the clusters after the story."""
    chapter(7, "Look", "one screen shows what runs, until when, and what it costs.")
    show_command("status", os.path.relpath(rollout), "--picture", os.path.relpath(picture))
    with doing("Reading the clusters"):
        states = [read_status(cluster, targets.of(cluster.stage)) for cluster in clusters]
        write_picture(picture, states, clusters, targets)
    return states


def _row(purchase: demo_purchase.Purchase) -> dict[str, Any]:
    return dataclasses.asdict(purchase) | {"fragment": str(purchase.fragment)}


def blocks_of(config: Rollout) -> dict[Loc, Cluster]:
    """Return the clusters in Capacity Blocks by their locations in the rollout; an error without any."""
    blocks = {
        loc: cluster
        for loc, cluster in config.located_clusters()
        if cluster.capacity.market_type == "capacity-block"
    }
    if not blocks:
        problem = "no cluster of the rollout uses a Capacity Block"
        remedy = "Deploy it with `ultracluster deploy --local`"
        raise FindingsError.message(problem, remedy=remedy)
    return blocks


def write_copy(rollout: Path, copy: Path, fragments: Mapping[Loc, Path]) -> None:
    """Write a copy of a rollout with purchased capacity, keeping everything else including comments."""
    values = {
        (*loc, *inner): value
        for loc, fragment in fragments.items()
        for inner, value in _leaves(read_yaml(fragment).values)
    }
    text = _HEADER.format(rollout=rollout.name) + set_values(read_source_file(rollout), values)
    copy.write_text(text, encoding="utf-8", newline="")


def _leaves(values: Mapping[str, Any]) -> Iterator[tuple[Loc, str]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from (((key, *inner), leaf) for inner, leaf in _leaves(value))
        else:
            yield (key,), str(value)


def require_bought(
    clusters: Sequence[Mapping[str, Any]], purchases: Sequence[demo_purchase.Purchase]
) -> None:
    """Check that the launch templates target exactly the purchased reservations."""
    targeted = sorted(
        cluster["reservation"]["id"]
        for cluster in clusters
        if cluster["reservation"] and cluster["reservation"]["market_type"] == "capacity-block"
    )
    reservation_ids = sorted(purchase.reservation_id for purchase in purchases)
    if targeted != reservation_ids:
        problem = f"bought {', '.join(reservation_ids)}, but the launch templates target {', '.join(targeted) or 'none'}"
        raise demo_purchase.unexpected_purchase(problem)
