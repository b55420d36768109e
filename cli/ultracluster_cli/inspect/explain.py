"""`ultracluster explain`: show where each value of a cluster comes from."""

import dataclasses
import json
from typing import Annotated

import typer

from ultracluster_cli._aws.selection import called
from ultracluster_cli.options import JsonOption, RolloutArgument
from ultracluster_cli.output import print_json, print_table
from ultracluster_stacks.config.explain import explain_rollout

__all__ = ["app", "explain"]

app = typer.Typer(add_completion=False)


@app.command()
def explain(
    rollout: RolloutArgument,
    cluster: Annotated[
        str | None, typer.Argument(metavar="CLUSTER", help="Only this cluster. Default: all.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Show each setting of a cluster and where its value comes from.

    A value comes from the cluster, from the defaults of the file, or is built in.
    """
    chosen = called(explain_rollout(rollout), [] if cluster is None else [cluster], rollout=rollout)
    if as_json:
        print_json({"clusters": [dataclasses.asdict(one) for one in chosen]})
        return
    for one in chosen:
        rows = [
            {
                "value": value.path,
                "is": value.note if value.value is None and value.note else _shown(value.value),
                "given_by": value.given_by,
                "where": value.location,
            }
            for value in one.values
        ]
        title = f"{one.name} in {one.region}, wave {one.wave}"
        print_table(columns=["value", "is", "given_by", "where"], rows=rows, title=title)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
