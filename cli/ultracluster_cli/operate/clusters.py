"""`ultracluster clusters`: list the clusters of an account."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import typer

from ultracluster_catalog.capacity.capacity_blocks import BLOCK_REGIONS
from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG
from ultracluster_catalog.places.zones import REGIONS
from ultracluster_cli.capacity.options import RegionsOption
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.jobs.session import aws_errors_as_findings
from ultracluster_cli.operate.status import nodes_of
from ultracluster_cli.options import JsonOption, ProfileOption
from ultracluster_cli.output import echo, print_json, print_table
from ultracluster_cli.progress import doing
from ultracluster_runtime.aws.aws_session import clients_of
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.functions.responses import AWS_ERRORS, problem_of
from ultracluster_runtime.jobs.submission import refuse_option
from ultracluster_spec.findings import FindingsError, quote

_AT_ONCE: Final = 8
_SOLD: Final = frozenset(region for regions in BLOCK_REGIONS.values() for region in regions)


def clusters(
    *, regions: RegionsOption = "all", profile: ProfileOption = None, as_json: JsonOption = False
) -> None:
    """List the clusters of an account, without a rollout file.

    Finds them by the tags of job queues and Auto Scaling groups, in all enabled Regions in which Capacity Blocks are sold.
    """
    client = clients_of(profile)
    names = regions.split(",")
    if unknown := [name for name in names if name not in (*REGIONS, "all")]:
        raise FindingsError([refuse_option("--regions", quote(unknown[0]), allowed=", ".join(REGIONS))])
    with doing("Reading the clusters"), ThreadPoolExecutor(_AT_ONCE) as pool:
        if "all" in names:
            with aws_errors_as_findings():
                enabled = client("ec2", "us-east-1").describe_regions()["Regions"]
            names = sorted(_SOLD & {region["RegionName"] for region in enabled})
        answers = list(pool.map(lambda name: _read(name, client.in_region(name)), names))
    rows = [row for found, _ in answers for row in found]
    unread = {name: problem for name, (_, problem) in zip(names, answers, strict=True) if problem}
    if as_json:
        print_json(clusters=rows, unread=unread)
    elif rows:
        print_table(rows, columns=["cluster", "region", "queues", "groups", "nodes"])
    elif not unread:
        echo(f"No clusters in {', '.join(names)}.")
    for name, problem in unread.items():
        echo(f"{name} could not be read: {problem}")
    if unread:
        raise typer.Exit(ExitCode.UNKNOWN)


def _read(region: str, client: Clients) -> tuple[list[dict[str, Any]], str]:
    """Return the clusters of a Region, or why it could not be read."""
    try:
        return list(_clusters_in(region, client)), ""
    except AWS_ERRORS as error:
        return [], problem_of(error)


def _clusters_in(region: str, client: Clients) -> Iterator[dict[str, Any]]:
    pages = client("batch").get_paginator("describe_job_queues").paginate()
    queues = [queue.get("tags", {}).get(CLUSTER_TAG) for page in pages for queue in page["jobQueues"]]
    group_pages = client("autoscaling").get_paginator("describe_auto_scaling_groups").paginate()
    groups = [
        tag["Value"]
        for page in group_pages
        for group in page["AutoScalingGroups"]
        for tag in group.get("Tags", [])
        if tag["Key"] == CLUSTER_TAG
    ]
    for name in sorted({*filter(None, queues), *groups}):
        nodes = list(nodes_of(name, client("ec2")))
        yield {
            "cluster": name,
            "region": region,
            "queues": queues.count(name),
            "groups": groups.count(name),
            "nodes": len(nodes),
        }
