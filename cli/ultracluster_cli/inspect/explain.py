"""`ultracluster explain`: show the settings of clusters and where they come from."""

import dataclasses
import json
from typing import Annotated

import typer

from ultracluster_cli._aws.selection import clusters_named
from ultracluster_cli.options import JsonOption, RolloutArgument
from ultracluster_cli.output import print_json, print_table
from ultracluster_stacks.config.explain import explain_rollout


def explain(
    rollout: RolloutArgument,
    cluster: Annotated[
        str | None, typer.Argument(metavar="CLUSTER", help="Limit to this cluster. Default: all.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Show each setting of a cluster and where its value comes from.

    A value comes from the cluster, the defaults of the file, or a built-in default.
    """
    explained = clusters_named(
        explain_rollout(rollout), [] if cluster is None else [cluster], rollout=rollout
    )
    if as_json:
        print_json(clusters=[dataclasses.asdict(cluster_settings) for cluster_settings in explained])
        return
    for cluster_settings in explained:
        rows = [
            {
                "setting": value.path,
                "value": value.note
                if value.value is None and value.note
                else value.value
                if isinstance(value.value, str)
                else json.dumps(value.value, default=str),
                "source": value.given_by,
                "location": value.location,
            }
            for value in cluster_settings.values
        ]
        title = f"{cluster_settings.name} in {cluster_settings.region}, wave {cluster_settings.wave}"
        print_table(rows, title=title)
