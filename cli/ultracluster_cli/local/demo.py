"""`ultracluster demo`: buy capacity, deploy a rollout and train on a local AWS."""

import dataclasses
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ultracluster_cli._aws.selection import load_clusters
from ultracluster_cli._aws.targets import open_targets
from ultracluster_cli._cdk.toolchain import open_project
from ultracluster_cli._cdk.workspace import project_folder, rollout_file
from ultracluster_cli.deploy.deployment import deploy_to, own_log
from ultracluster_cli.deploy.summary import print_next_steps, print_summary, summary_json
from ultracluster_cli.local import demo_purchase
from ultracluster_cli.local.demo_job import DemoTraining, can_train
from ultracluster_cli.options import JsonOption, RolloutArgument
from ultracluster_cli.output import print_json, print_table, say
from ultracluster_cli.progress import measure, measure_and_report
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.rollout import Rollout
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.config.reading.environment import refuse_environment
from ultracluster_stacks.config.reading.problem import Loc
from ultracluster_stacks.config.reading.source_file import read_source_file
from ultracluster_stacks.config.reading.yaml_edit import set_values
from ultracluster_stacks.config.reading.yaml_source import read_yaml

_HEADER = """# Written by `ultracluster demo`: {rollout} with Capacity Blocks that were bought on the local AWS
# with fake money. They do not exist in any account.
"""


def demo(
    rollout: RolloutArgument,
    *,
    no_job: Annotated[bool, typer.Option("--no-job", help="Stop after the deployment.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Buy capacity with fake money on a local AWS, deploy a rollout, and train on it.

    Needs no account and no network. A second run on the same `ultracluster local up` buys nothing, changes nothing
    and does not train, because the demo moves the clock only of a local AWS that it started itself.
    """
    directory = project_folder()
    rollout = rollout_file(rollout)
    refuse_environment(rollout)
    loaded, clusters = load_clusters(rollout)
    blocks = blocks_of(loaded.config)
    steps: dict[str, float] = {}
    with (
        open_project() as project,
        measure(steps, "in all"),
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
            steps=steps,
            seed_blocks=False,
            run_jobs=not no_job,
        ) as targets,
    ):
        target = targets.of(clusters[0].stage)
        folder, log = project.state / "demo", project.state / "logs" / "demo-capacity.log"
        for path in (folder, log.parent):
            path.mkdir(exist_ok=True)
        log.write_text("", encoding="utf-8")
        say(f"Using {target.name} ({steps['starting the local AWS']:.1f} s)")
        with measure_and_report(steps, "making the ledger") as messages:
            demo_purchase.make_ledger(target.client("dynamodb", demo_purchase.LEDGER_REGION))
            messages.append(
                f"Created the ledger table {demo_purchase.LEDGER_TABLE}; in an account, deploy the CapacityLedger construct"
            )
        run = demo_purchase.CommandRunner(target=target, directory=directory, log=log)
        buyer = demo_purchase.DemoBuyer(
            target=target, directory=directory, folder=folder, run=run, steps=steps, shows_offers=not as_json
        )
        purchases = {loc: buyer.buy(cluster) for loc, cluster in blocks.items()}
        with measure_and_report(steps, "handing over") as messages:
            copy = folder / rollout.name
            write_copy(rollout, copy, {loc: purchase.fragment for loc, purchase in purchases.items()})
            load_rollout(copy)
            messages.append(f"Wrote the rollout with the purchased capacity to {copy.relative_to(directory)}")
        assembly = project.temporary / "demo"
        with measure(steps, "cdk synth"):
            loading.wait()
            project.synthesize(assembly, rollout=copy, wave=None, environment=target.environment)
        with own_log(project.state / "logs") as (log, _):
            deployed, stacks = deploy_to(
                target, project, assembly=assembly, clusters=clusters, steps=steps, log=log
            )
        require_bought(deployed, list(purchases.values()))
        trained = None
        for loc, cluster in blocks.items():
            if target.runs_jobs and trained is None and can_train(cluster):
                trained = DemoTraining(target=target, run=run, steps=steps).train(cluster, purchases[loc])
    if as_json:
        summary = summary_json(deployed, local=True, steps=steps, deployed=stacks)
        job = dataclasses.asdict(trained) if trained else None
        rows = [*map(_row, purchases.values())]
        print_json(**summary, rollout=copy, purchases=rows, job=job)
        return
    columns = ["order", "state_before", "state", "reservation_id", "zone_id", "start", "end", "fake_fee"]
    rows = [_row(purchase) for purchase in purchases.values()]
    print_table(rows, columns=columns, title="Purchases on the local AWS (fake money)")
    print_summary(deployed, local=True, as_json=False, steps=steps, deployed=stacks)
    print_next_steps(deployed, local=True)


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
