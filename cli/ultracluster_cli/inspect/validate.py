"""`ultracluster validate`: validate a rollout file."""

import typer

from ultracluster_cli.inspect.expected_network import expected_network, network_row
from ultracluster_cli.inspect.expected_storage import expected_file_system, file_system_row
from ultracluster_cli.options import JsonOption, RolloutArgument
from ultracluster_cli.output import print_findings, print_json, print_table
from ultracluster_stacks.config import load_rollout

__all__ = ["app", "validate"]

app = typer.Typer(add_completion=False)


@app.command()
def validate(
    rollout: RolloutArgument,
    *,
    as_json: JsonOption = False,
) -> None:
    """Validate a rollout file and list its clusters.

    Reports all errors with their lines. Needs neither AWS nor the CDK.
    """
    loaded = load_rollout(rollout)
    print_findings(loaded.warnings)
    rows = [
        {
            "wave": wave.name,
            "cluster": cluster.name,
            "region": cluster.region,
            "zone_id": cluster.zone_id,
            "instance_type": cluster.instance_type,
            "nodes": cluster.nodes,
            "market_type": cluster.capacity.market_type,
            "reservation_id": cluster.capacity.reservation_id,
            "jobs": len(cluster.jobs),
            "file_system": expected_file_system(cluster),
            "network": expected_network(cluster),
        }
        for wave in loaded.config.waves
        for cluster in wave.clusters
    ]
    if as_json:
        print_json(
            {
                "clusters": rows,
                "warnings": [str(finding) for finding in loaded.warnings],
                "suppressed": [
                    {"warning": str(suppression.finding), "reason": suppression.reason}
                    for suppression in loaded.suppressed
                ],
            }
        )
    else:
        columns = [name for name in rows[0] if name not in {"file_system", "network"}]
        print_table(columns=columns, rows=rows)
        network = [network_row(row) for row in rows]
        print_table(columns=list(network[0]), rows=network, title="Network interfaces and addresses")
        storage = [file_system_row(row) for row in rows if row["file_system"] is not None]
        if storage:
            title = "New file systems: documented maximum performance"
            print_table(columns=list(storage[0]), rows=storage, title=title)
