"""The demo: from the search for a Capacity Block to the cluster that is deployed on it, all on a local AWS."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ultracluster_cli._aws.selection import clusters_of
from ultracluster_cli._aws.targets import local_aws
from ultracluster_cli._cdk.timing import timed, told
from ultracluster_cli._cdk.toolchain import find_toolchain
from ultracluster_cli._cdk.workspace import rollout_file, run_directory, state_directory
from ultracluster_cli.deploy.cluster_state import Cluster
from ultracluster_cli.deploy.deployment import deploy_to
from ultracluster_cli.deploy.next_steps import print_next_steps
from ultracluster_cli.deploy.summary import print_summary, summary_json
from ultracluster_cli.local.demo_purchase import LEDGER_REGION, LEDGER_TABLE, DemoBuyer, Purchase, make_ledger
from ultracluster_cli.output import print_findings, print_json, print_table, say
from ultracluster_rules.findings import Finding, FindingsError
from ultracluster_stacks.config import ClusterConfig, RolloutConfig, load_rollout
from ultracluster_stacks.config.reading.environment import refuse_environment
from ultracluster_stacks.config.reading.problem import Loc
from ultracluster_stacks.config.reading.source_file import read_source_file
from ultracluster_stacks.config.reading.yaml_edit import set_values
from ultracluster_stacks.config.reading.yaml_source import read_yaml

__all__ = ["demonstrate"]

_HEADER = """# Written by `ultracluster demo`: {rollout} with the Capacity Blocks
# that it bought on the local AWS with fake money. They exist nowhere else.
"""


def demonstrate(*, directory: Path, rollout: Path | None, as_json: bool) -> None:
    """Buy the Capacity Blocks of a rollout on a local AWS, and deploy it on what was bought.

    Takes the local AWS that `ultracluster local up` has started; else starts one that ends with this call.

    Args:
        directory: Folder of the CDK app.
        rollout: The rollout file. None for the one that cdk.json names.
        as_json: Print JSON instead of tables.

    Raises:
        FindingsError: If the rollout is wrong or has nothing to buy (UC9012), a tool is missing, a command fails
            (UC9011), or what is deployed is not what was bought (UC9010).
        typer.Exit: With 3, if a purchase was sent and nobody knows yet what came of it.
    """
    rollout = rollout_file(directory, rollout)
    refuse_environment(rollout)
    loaded = load_rollout(rollout)
    print_findings(loaded.warnings)
    wanted = blocks_of(loaded.config)
    clusters = clusters_of(loaded.config, None)
    toolchain = find_toolchain(directory)
    state = state_directory(directory)
    folder, log = state / "demo", state / "logs" / "demo-capacity.log"
    for each in (folder, log.parent):
        each.mkdir(exist_ok=True)
    log.write_text("", encoding="utf-8")
    steps: dict[str, float] = {}
    with (
        timed(steps, "in all"),
        run_directory(state) as temporary,
        local_aws(
            clusters, background=state / "local", temporary=temporary, steps=steps, seed_blocks=False
        ) as target,
    ):
        say(f"Using {target.name} ({steps['starting the local AWS']:.1f} s)")
        with told(steps, "making the ledger") as came_of_it:
            make_ledger(target.client("dynamodb", LEDGER_REGION))
            came_of_it.append(
                f"The ledger is the table {LEDGER_TABLE}, made directly; in an account, deploy the CapacityLedger"
            )
        buyer = DemoBuyer(
            target=target, directory=directory, folder=folder, log=log, steps=steps, shows_offers=not as_json
        )
        purchases = {loc: buyer.buy(cluster) for loc, cluster in wanted.items()}
        with told(steps, "handing over") as came_of_it:
            copy = folder / rollout.name
            write_copy(rollout, copy, {loc: purchase.fragment for loc, purchase in purchases.items()})
            load_rollout(copy)
            came_of_it.append(f"The rollout with what was bought is {copy.relative_to(directory)}")
        deployed = deploy_to(
            target, toolchain=toolchain, directory=directory, rollout=copy, temporary=temporary, steps=steps
        )
        require_bought(deployed.clusters, list(purchases.values()))
    if as_json:
        summary = summary_json(deployed.clusters, local=True, steps=steps, deployed=deployed.stacks)
        print_json(summary | {"rollout": str(copy), "purchases": [*map(_row, purchases.values())]})
        return
    columns = ["order", "state_before", "state", "reservation_id", "zone_id", "start", "end", "fake_fee"]
    rows = [_row(purchase) for purchase in purchases.values()]
    print_table(columns=columns, rows=rows, title="Bought on the local AWS, with fake money")
    print_summary(deployed.clusters, local=True, as_json=False, steps=steps, deployed=deployed.stacks)
    print_next_steps(deployed.clusters, local=True)


def blocks_of(config: RolloutConfig) -> dict[Loc, ClusterConfig]:
    """The clusters that run in a Capacity Block, by their places in the rollout.

    Raises:
        FindingsError: If there is none (UC9012).
    """
    found = {
        loc: cluster
        for loc, cluster in config.located_clusters()
        if cluster.capacity.market_type == "capacity-block"
    }
    if not found:
        problem = "no cluster of the rollout runs in a Capacity Block, so there is nothing to buy"
        remedy = "Deploy it with `ultracluster deploy --local`"
        raise FindingsError([Finding(code="UC9012", problem=problem, remedy=remedy)])
    return found


def write_copy(rollout: Path, copy: Path, fragments: Mapping[Loc, Path]) -> None:
    """Write a rollout anew with what was bought for its clusters; the rest, comments too, stays as it is.

    Args:
        rollout: The rollout file.
        copy: The file to write.
        fragments: What `ultracluster capacity buy --write` has written, by the place of the cluster that it is for.

    Raises:
        FindingsError: If a file cannot be read.
    """
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


def require_bought(clusters: Sequence[Cluster], purchases: Sequence[Purchase]) -> None:
    """Compare what the launch templates target with what was bought.

    Raises:
        FindingsError: If they differ (UC9010).
    """
    targeted = sorted(
        cluster.reservation.id
        for cluster in clusters
        if cluster.reservation and cluster.reservation.market_type == "capacity-block"
    )
    bought = sorted(purchase.reservation_id for purchase in purchases)
    if targeted != bought:
        problem = (
            f"bought {', '.join(bought)}, but the launch templates target {', '.join(targeted) or 'none'}"
        )
        raise FindingsError([Finding(code="UC9010", problem=problem)])


def _row(purchase: Purchase) -> dict[str, Any]:
    return dataclasses.asdict(purchase) | {"fragment": str(purchase.fragment)}
