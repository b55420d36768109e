"""`ultracluster status`: show what is deployed, what runs, and what it costs, on one screen."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ultracluster_catalog.capacity.capacity_blocks import drain_before_end
from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG
from ultracluster_cli._aws.deployed_template import describe_stack, read_deployed, stack_resources
from ultracluster_cli._aws.rehearsals import rehearsals_of
from ultracluster_cli._aws.selection import clusters_named
from ultracluster_cli._aws.target import ClusterTargets, Target
from ultracluster_cli._aws.targets import existing_targets
from ultracluster_cli.cost.actual import estimated_cost, in_hours
from ultracluster_cli.jobs.session import list_rows
from ultracluster_cli.options import (
    ClustersOption,
    JsonOption,
    LocalOption,
    PictureOption,
    RolloutArgument,
)
from ultracluster_cli.output import echo, print_json, print_table, short_time
from ultracluster_cli.pictures.status import draw_status
from ultracluster_cli.progress import doing
from ultracluster_cli.rollout.stack_status import firing_alarms
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.functions.responses import AWS_ERRORS, problem_of
from ultracluster_runtime.jobs.describe import STATES
from ultracluster_runtime.jobs.queues import find_queues
from ultracluster_runtime.jobs.resumes import PENDING
from ultracluster_runtime.lifecycle.sick import read_sick_nodes
from ultracluster_runtime.preflight.live_facts import live_facts, summarize
from ultracluster_spec.cluster import STACKS, Cluster
from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.plan import StackTemplate

_ALARMS: Final = ("AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm")
_METRICS_LOGS: Final = "ClusterMetricsLogs"  # logical ID of the log group of the nodes' metrics
_ACTIVE: Final = tuple(state for state in STATES if state not in {"SUCCEEDED", "FAILED"})


def status(
    rollout: RolloutArgument,
    *,
    cluster: ClustersOption = None,
    local: LocalOption = False,
    watch: Annotated[bool, typer.Option("--watch", help="Refresh the output until Ctrl-C.")] = False,
    every: Annotated[float, typer.Option(min=1, help="Seconds between two refreshes of --watch.")] = 10,
    picture: PictureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what is deployed, what runs, and what it costs, on one screen.

    Sends only read requests that cost nothing.
    """
    clusters, targets = open_clusters(rollout, cluster or [], local=local)
    while True:
        with doing("Reading the clusters"):
            states = [read_status(config, targets.of(config.stage)) for config in clusters]
        if watch and sys.stdout.isatty():
            sys.stdout.write("\x1b[H\x1b[2J")
        if as_json:
            print_json(target=targets.name, clusters=states, live_tests=live_facts())
        else:
            for state in states:
                print_status(state, where=targets.name)
            if live_tests := summarize(live_facts()):
                echo(live_tests)
        if picture is not None:
            write_picture(picture, states, clusters, targets)
        sys.stdout.flush()
        if not watch:
            return
        time.sleep(every)


def write_picture(
    picture: Path, states: Sequence[dict[str, Any]], clusters: Sequence[Cluster], targets: ClusterTargets
) -> None:
    """Draw clusters, which may be of several accounts, with the timelines of their blocks."""
    templates = [list(_templates(config, targets.of(config.stage))) for config in clusters]
    texts = [[line for line in _lines(state) if line[1]] for state in states]
    drawing = draw_status(states, templates, texts, now=states[0]["at"])
    picture.write_text(drawing.svg(), encoding="utf-8")


def open_clusters(
    rollout: Path, names: Sequence[str], *, local: bool
) -> tuple[list[Cluster], ClusterTargets]:
    """Return the clusters of a rollout with given names, and their accounts or the running local AWS."""
    config = load_rollout(rollout, deployable=False).config
    clusters = clusters_named(config.clusters(), names, rollout=rollout)
    return clusters, existing_targets(clusters, local=local)


def read_status(cluster: Cluster, target: Target) -> dict[str, Any]:
    """Return the state of a cluster as plain values. What cannot be read is listed under ``unread``."""
    client = target.client.in_region(cluster.region)
    now, unread = target.now(), list[str]()

    def read(what: str, function: Callable[[], Any]) -> Any:
        try:
            return function()
        except (FindingsError, *AWS_ERRORS) as error:
            unread.append(f"{what}: {error if isinstance(error, FindingsError) else problem_of(error)}")
            return None

    stacks = read("stacks", lambda: stacks_of(cluster, client("cloudformation"))) or []
    deployed = any(stack["name"].endswith("-Cluster") for stack in stacks)
    blocks = read("capacity", lambda: _blocks(cluster, client("ec2"), now)) or []
    queues, more = (read("queues", lambda: _queues(cluster, client)) if deployed else None) or ([], [])
    unread += more
    nodes = read("nodes", lambda: list(nodes_of(cluster.name, client("ec2"))))
    sick = read("sick nodes", lambda: _sick(cluster, client, now, nodes)) if deployed and nodes else None
    created = min((stack["created"] for stack in stacks), default=None)
    return {
        "cluster": cluster.name,
        "region": cluster.region,
        "at": now,
        "stacks": stacks,
        "capacity": blocks,
        "nodes": nodes,
        "sick": sick or {},
        "queues": [{name: value for name, value in queue.items() if name != "jobs"} for queue in queues],
        "jobs": [job for queue in queues for job in queue["jobs"]],
        "alarms": read("alarms", lambda: _alarms(cluster, client)) if deployed else None,
        "cost": _cost(cluster, created, blocks, now) if created else None,
        "rehearsal": [] if deployed else rehearsals_of(cluster, target),
        "unread": unread,
    }


def stacks_of(cluster: Cluster, cloudformation: Any) -> list[dict[str, Any]]:
    """Return the existing stacks of a cluster, in the order of their deployment."""
    stacks = (describe_stack(f"{cluster.stage}-{part}", cloudformation) for part in STACKS)
    return [
        {
            "name": stack["StackName"],
            "id": stack["StackId"],
            "status": stack["StackStatus"],
            "created": stack["CreationTime"],
        }
        for stack in stacks
        if stack is not None
    ]


def _templates(cluster: Cluster, target: Target) -> Iterator[StackTemplate]:
    cloudformation = target.client("cloudformation", cluster.region)
    for part in STACKS:
        name = f"{cluster.stage}-{part}"
        if template := read_deployed(name, cloudformation).template:
            yield StackTemplate(cluster=cluster.stage, name=name, region=cluster.region, template=template)


def nodes_of(cluster: str | None, ec2: Any, *, node: str = "*") -> Iterator[dict[str, Any]]:
    """Return the nodes of a cluster that have not been terminated.

    ``node`` is an instance ID, in which `*` stands for any characters.
    """
    tagged = {"Name": "tag-key", "Values": [CLUSTER_TAG]}
    pages = ec2.get_paginator("describe_instances").paginate(
        Filters=[
            {"Name": f"tag:{CLUSTER_TAG}", "Values": [cluster]} if cluster else tagged,
            {"Name": "instance-state-name", "Values": ["pending", "running", "shutting-down", "stopping"]},
            {"Name": "instance-id", "Values": [node]},
        ]
    )
    for page in pages:
        for reservation in page["Reservations"]:
            for instance in reservation["Instances"]:
                tags = {tag["Key"]: tag["Value"] for tag in instance.get("Tags", [])}
                yield {
                    "node": instance["InstanceId"],
                    "state": instance["State"]["Name"],
                    "type": instance["InstanceType"],
                    "zone": instance["Placement"]["AvailabilityZone"],
                    "launched": instance["LaunchTime"],
                    "address": instance.get("PrivateIpAddress"),
                    "image": instance.get("ImageId"),
                    "reservation": instance.get("CapacityReservationId"),
                    "cluster": tags[CLUSTER_TAG],
                    "auto_scaling_group": tags.get("aws:autoscaling:groupName"),
                }


def _blocks(cluster: Cluster, ec2: Any, now: datetime) -> list[dict[str, Any]]:
    ids = [capacity.reservation_id for _, capacity in cluster.sources() if capacity.reservation_id]
    if not ids:
        return []
    answer = ec2.describe_capacity_reservations(CapacityReservationIds=ids)
    blocks = []
    for item in answer["CapacityReservations"]:
        end = item.get("EndDate")
        is_block = item.get("ReservationType") == "capacity-block"
        drain = end - drain_before_end(cluster.node_type) if end and is_block else None
        blocks.append(
            {
                "id": item["CapacityReservationId"],
                "state": item["State"],
                "instances": item["TotalInstanceCount"],
                "free": item["AvailableInstanceCount"],
                "start": item.get("StartDate"),
                "end": end,
                "drain": drain,
                "paid_in_advance": is_block,
                "hours_left": round((end - now) / timedelta(hours=1), 1) if end else None,
            }
        )
    return blocks


def _queues(cluster: Cluster, client: Clients) -> tuple[list[dict[str, Any]], list[str]]:
    rows = []
    queues = find_queues(cluster.name, region=cluster.region, client=client)
    all_jobs, unread = list_rows(queues, states=_ACTIVE, client=client)
    for queue in queues:
        described = client("batch").describe_job_queues(jobQueues=[queue.arn])["jobQueues"]
        jobs = [job for job in all_jobs if job["queue"] == queue.name]
        states = Counter(job["state"] for job in jobs)
        rows.append(
            {
                "queue": queue.name or "main",
                "state": described[0]["state"] if described else "missing",
                "status": described[0]["status"] if described else "missing",
                "running": states["RUNNING"],
                "waiting": len(jobs) - states["RUNNING"] - states[PENDING],
                "to_resume": states[PENDING],
                "jobs": jobs,
            }
        )
    return rows, unread


def _sick(
    cluster: Cluster, client: Clients, now: datetime, nodes: Sequence[dict[str, Any]]
) -> dict[str, str]:
    """Return what is wrong with nodes, by instance ID; empty if they publish no metrics."""
    known = {node["node"] for node in nodes}
    return {
        node: sickness.reason
        for resource in stack_resources(cluster.stacks[2], client("cloudformation"))
        if resource["LogicalResourceId"].startswith(_METRICS_LOGS)
        for node, sickness in read_sick_nodes(client("logs"), resource["PhysicalResourceId"], now).items()
        if node in known
    }


def _alarms(cluster: Cluster, client: Clients) -> dict[str, Any]:
    names = [
        resource["PhysicalResourceId"]
        for resource in stack_resources(cluster.stacks[2], client("cloudformation"))
        if resource["ResourceType"] in _ALARMS
    ]
    firing = [
        {"alarm": alarm["AlarmName"], "reason": alarm.get("StateReason")}
        for alarm in firing_alarms(names, client("cloudwatch"))
    ]
    return {"alarms": len(names), "firing": firing}


def _cost(
    cluster: Cluster, created: datetime, blocks: Sequence[dict[str, Any]], now: datetime
) -> dict[str, Any]:
    """Return the cost so far at list prices: nodes from the start of their capacity, the rest from the first deployment.

    A Capacity Block is paid for until its end when it is bought.
    """
    start = next((block["start"] for block in blocks if block["start"]), None)
    end = next((block["end"] for block in blocks if block["end"]), now)
    in_advance = any(block["paid_in_advance"] for block in blocks)
    until = end if in_advance else min(now, end)
    paid = in_hours(max(until - start, timedelta(0))) if start else Decimal(0)
    money = estimated_cost(cluster, node_hours=paid, hours=in_hours(now - created))
    return {
        "paid_in_advance_until": end if in_advance else None,
        "usd_so_far": money.text(),
        "without": list(money.without),
        "node_hours": f"{paid:.1f}",
        "since": created,
    }


def print_status(state: dict[str, Any], *, where: str) -> None:
    """Print the state of a cluster as one screen."""
    rows = [{"": name, "value": value} for name, value in _lines(state) if value]
    title = f"{state['cluster']} in {state['region']}, {where}, {short_time(state['at'])}"
    print_table(rows, title=title)
    if state["jobs"]:
        # What a resume waits for, how the children of an array stand, or why AWS Batch places no nodes.
        reasons = ["reason"] if any(job.get("reason") for job in state["jobs"]) else []
        columns = ["job", "name", "state", "nodes", "since", *reasons]
        print_table(state["jobs"], columns=columns, title="Jobs", details=reasons)
    for problem in state["unread"]:
        echo(f"warning: not read: {problem}")
    if not state["stacks"]:
        echo("Nothing is deployed. To deploy it: ultracluster deploy")


def _lines(state: dict[str, Any]) -> Iterator[tuple[str, str]]:
    stages = [f"{stack['name'].rpartition('-')[2]} {stack['status']}" for stack in state["stacks"]]
    yield "stacks", ", ".join(stages) or "none"
    for block in state["capacity"]:
        yield "capacity", _block_text(block)
    nodes = state["nodes"] or []
    counts = Counter(f"{node['type']} {node['state']}" for node in nodes)
    texts = ", ".join(f"{count} x {what}" for what, count in counts.items())
    yield "nodes", texts or ("none" if state["nodes"] is not None else "")
    for node, reason in state["sick"].items():
        yield "sick", f"{node}: {reason}; ultracluster nodes replace {node}"
    for queue in state["queues"]:
        numbers = f"{queue['running']} running, {queue['waiting']} waiting"
        numbers += f", {queue['to_resume']} to resume" if queue["to_resume"] else ""
        yield "queue", f"{queue['queue']} {queue['state']} {queue['status']}: {numbers}"
    if alarms := state["alarms"]:
        yield "alarms", f"{len(alarms['firing'])} of {alarms['alarms']} in ALARM"
        for alarm in alarms["firing"]:
            yield "", f"{alarm['alarm']}: {alarm['reason']}"
    if cost := state["cost"]:
        without = f", without {', '.join(cost['without'])}" if cost["without"] else ""
        block = ", with the whole block, paid for in advance" if cost["paid_in_advance_until"] else ""
        yield "cost", f"{cost['usd_so_far']} USD so far at list prices{block}{without}"
    for sentence in state["rehearsal"]:
        yield "rehearsal", sentence


def _block_text(block: dict[str, Any]) -> str:
    text = f"{block['id']} {block['state']}: {block['free']} of {block['instances']} instances free"
    if block["start"]:
        text += f", from {short_time(block['start'])}"
    if block["end"]:
        hours = block["hours_left"]
        left = f"{hours / 24:.0f} days" if hours >= 72 else f"{hours:.1f} hours"  # noqa: PLR2004 - three days
        text += f" to {short_time(block['end'])} (in {left})"
    if block["drain"]:
        text += f"; jobs end from {short_time(block['drain'])}"
    return text
