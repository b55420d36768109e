"""Print a summary of deployed clusters, as tables or as JSON (`ultracluster docs command-line`)."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from ultracluster_cli.deploy.deployment import DeployedStack
from ultracluster_cli.output import echo, print_json, print_table, short_time
from ultracluster_cli.progress import durations

_FROM_LOCAL = """
This was the local AWS: no instances were started, and the reservation and AMI are fake. To deploy to an account:
  1. Buy a Capacity Block (`ultracluster docs capacity`), or use one that you have.
  2. Copy the rollout file and replace the values marked REPLACE: reservation, zone ID, AMI and job image.
  3. ultracluster validate YOUR-ROLLOUT.yaml
  4. Once per account and Region: cdk bootstrap aws://ACCOUNT/REGION
  5. ultracluster deploy YOUR-ROLLOUT.yaml
For a local AWS that keeps running: ultracluster local up"""


def summary_json(
    clusters: Sequence[Mapping[str, Any]],
    *,
    local: bool,
    deployed: Sequence[DeployedStack],
) -> dict[str, Any]:
    """Return the summary as plain values."""
    return {
        "local": local,
        "changed": any(stack.changed for stack in deployed),
        "clusters": list(clusters),
        "seconds": {step: round(seconds, 1) for step, seconds in durations().items()},
    }


def print_summary(
    clusters: Sequence[Mapping[str, Any]],
    *,
    local: bool,
    as_json: bool,
    deployed: Sequence[DeployedStack],
) -> None:
    """Print the summary to stdout."""
    if as_json:
        print_json(**summary_json(clusters, local=local, deployed=deployed))
        return
    where = "in the local AWS (fake, no cost)" if local else "in your account"
    for cluster in clusters:
        rows = [{"property": name, "value": value} for name, value in _facts(cluster)]
        print_table(rows, title=f"{cluster['name']}, {where}")
    stacks = [stack for cluster in clusters for stack in cluster["stacks"]]
    print_table(_stack_rows(stacks, deployed))
    print_table({"step": step, "seconds": f"{seconds:.1f}"} for step, seconds in durations().items())


def _facts(cluster: Mapping[str, Any]) -> list[tuple[str, str]]:
    cores = f"{cluster['logical_neuron_cores']:,} logical, {cluster['neuron_cores']:,} physical"
    efa = f"{cluster['efa_interfaces_per_node']} interfaces, {cluster['efa_gbps_per_node']:,.0f} Gbit/s"
    facts = [
        ("Region", cluster["region"]),
        ("nodes", f"{cluster['nodes']} x {cluster['instance_type']}"),
        ("chips", f"{cluster['chips']:,}"),
        ("NeuronCores", cores),
        ("EFA per node", efa),
        ("placement group", cluster["placement_group"] or "none"),
        ("reservation", _reservation(cluster["reservation"])),
    ]
    facts += [("FSx for Lustre", _file_system(system)) for system in cluster["file_systems"]]
    facts += [("bucket", bucket) for bucket in cluster["buckets"]]
    facts.append(("job queue", cluster["queue"]))
    for job in cluster["job_definitions"]:
        devices = f"{job['neuron_devices']} Neuron and {job['efa_devices']} EFA devices each"
        facts.append(("job definition", f"{job['name']}: {job['nodes']} nodes, {devices}"))
    return facts


def _reservation(reservation: Mapping[str, Any] | None) -> str:
    if reservation is None:
        return "none: on-demand capacity"
    ends = short_time(reservation["ends"]) if reservation["ends"] else "never"
    market = reservation["market_type"] or "on-demand"
    instances = f"{reservation['instances']} instances"
    return f"{reservation['id']} ({reservation['state']}; {market}; {instances}; ends {ends})"


def _file_system(system: Mapping[str, Any]) -> str:
    size = "" if system["storage_gib"] is None else f"{system['storage_gib']:,} GiB, "
    cost = "unknown" if system["usd_per_month"] is None else f"{system['usd_per_month']:,.2f} USD"
    return (
        f"{system['id']} ({system['state']}): {size}{system['throughput_mb_per_s']:,.0f} MB/s, {system['object_servers']} object "
        f"servers; at most {system['node_gbps']:g} Gbit/s for a single node, {system['node_mb_per_s']:,.0f} MB/s per node "
        f"when all are active; list price per month: {cost}"
    )


def _stack_rows(stacks: Sequence[Any], deployed: Sequence[DeployedStack]) -> list[dict[str, Any]]:
    # The CDK CLI displays "stage/id (name)" or only the name.
    reported = {stack.name.rpartition(" (")[2].removesuffix(")"): stack for stack in deployed}
    return [
        {
            "stack": stack["name"],
            "status": stack["status"],
            "resources": stack["resources"],
            **(_report(reported[stack["name"]]) if stack["name"] in reported else {}),
        }
        for stack in stacks
    ]


def _report(stack: DeployedStack) -> dict[str, str]:
    changes = "deployed" if stack.changed else "no changes"
    return {"changes": changes, "seconds": f"{stack.seconds or 0:.1f}"}


def print_next_steps(clusters: Sequence[Mapping[str, Any]], *, local: bool) -> None:
    """Print what to do next."""
    if local:
        echo(_FROM_LOCAL)
        return
    for cluster in clusters:
        cluster_name = cluster["name"].removesuffix(f"-{cluster['region']}")
        for job in cluster["job_definitions"]:
            # Plain SubmitJob would skip dependencies and the share identifier.
            name = job["job"] or job["name"]
            words = ["ultracluster", "jobs", "submit", cluster_name, name, "--region", cluster["region"]]
            echo(f"To submit {name}: {shlex.join(words)}")
