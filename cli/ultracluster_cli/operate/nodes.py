"""`ultracluster nodes`: list and describe nodes, replace one, or open a shell on it."""

import time
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from ultracluster_cli._aws.selection import locate
from ultracluster_cli.jobs.session import (
    aws_errors_as_findings,
    open_region,
    open_shell,
    read_duration,
    report_notified,
)
from ultracluster_cli.operate.status import nodes_of
from ultracluster_cli.options import (
    DefaultClusterArgument,
    JsonOption,
    ProfileOption,
    YesOption,
    command_group,
)
from ultracluster_cli.output import echo, echo_command, print_json, print_table
from ultracluster_cli.progress import doing, if_interrupted
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.jobs.describe import describe_job, list_jobs
from ultracluster_runtime.jobs.queues import find_queues
from ultracluster_runtime.jobs.stop import instances_of, request_checkpoint
from ultracluster_spec.findings import FindingsError, quote

app = command_group("List, describe and replace nodes, or open a shell.")

_Node = Annotated[str, typer.Argument(metavar="NODE", help="Instance ID of the node, or its start.")]
_Region = Annotated[
    str | None,
    typer.Option(help="AWS Region. Default: Region of the project, the environment or the profile."),
]


@app.command("list")
def list_nodes(
    cluster: DefaultClusterArgument = None,
    *,
    region: _Region = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the nodes of a cluster, and the job on each."""
    cluster, region = locate(cluster, region)
    region, client = open_region(region=region, profile=profile)
    with doing("Reading the nodes"), aws_errors_as_findings():
        nodes = list(nodes_of(cluster, client("ec2")))
        jobs = _jobs_by_node(cluster, region, client) if nodes else {}
    rows = [{**node, "job": jobs.get(node["node"])} for node in nodes]
    if as_json:
        print_json(nodes=rows)
    elif rows:
        columns = ["node", "state", "zone", "launched", "job", "reservation"]
        title = f"{cluster} in {region}: {len(rows)} x {rows[0]['type']}"
        print_table(rows, columns=columns, title=title)
    else:
        echo(f"{cluster} has no nodes in {region} now: they start when a job waits for them.")


@app.command()
def describe(
    node: _Node, *, region: _Region = None, profile: ProfileOption = None, as_json: JsonOption = False
) -> None:
    """Describe a node: its state, its health, its job, and what to do next."""
    region, client = open_region(region=region, profile=profile)
    with doing("Reading the node"), aws_errors_as_findings():
        instance = _find(node, region, client)
        answer = client("ec2").describe_instance_status(
            InstanceIds=[instance["node"]], IncludeAllInstances=True
        )
        health = answer["InstanceStatuses"][0] if answer["InstanceStatuses"] else {}
        jobs = _jobs_by_node(instance["cluster"], region, client)
    document = {
        **instance,
        "job": jobs.get(instance["node"]),
        "system_status": health.get("SystemStatus", {}).get("Status"),
        "instance_status": health.get("InstanceStatus", {}).get("Status"),
        "events": [f"{event['Code']}: {event['Description']}" for event in health.get("Events", ())],
    }
    if as_json:
        print_json(**document)
        return
    rows = [
        {"": name.replace("_", " "), "value": "; ".join(value) if isinstance(value, list) else value}
        for name, value in document.items()
        if value
    ]
    print_table(rows)
    place = ["--region", region]
    echo("To look inside, and to replace it:")
    echo_command(["ultracluster", "nodes", "shell", instance["node"], *place])
    echo_command(["ultracluster", "nodes", "replace", instance["node"], *place])
    echo("The console of a node that does not join the cluster says why:")
    console = ("aws", "ec2", "get-console-output", "--latest", "--output", "text", "--instance-id")
    echo_command([*console, instance["node"], *place])


@app.command()
def shell(node: _Node, *, region: _Region = None, profile: ProfileOption = None) -> None:
    """Open a shell on a node with Session Manager, without SSH or open ports."""
    region, client = open_region(region=region, profile=profile)
    with aws_errors_as_findings():
        instance = _find(node, region, client)
    open_shell(instance["node"], region=region, profile=profile)


@app.command()
def replace(
    node: _Node,
    *,
    wait: Annotated[str, typer.Option(help="Time to wait for the checkpoint, such as 10m.")] = "5m",
    now: Annotated[bool, typer.Option("--now", help="Do not wait for a checkpoint.")] = False,
    yes: YesOption = False,
    region: _Region = None,
    profile: ProfileOption = None,
) -> None:
    """Terminate a node, after a checkpoint of its job; AWS Batch or the node's Auto Scaling group starts another.

    A multi-node job loses its current attempt, and starts again if it has attempts left.
    """
    region, client = open_region(region=region, profile=profile)
    patience = timedelta(0) if now else read_duration("--wait", wait)
    with aws_errors_as_findings():
        instance = _find(node, region, client)
        job = _jobs_by_node(instance["cluster"], region, client).get(instance["node"])
    on_it = f", on which job {job} runs" if job else ""
    if not yes:
        typer.confirm(f"Terminate {instance['node']} of {instance['cluster']}{on_it}?", abort=True, err=True)
    with aws_errors_as_findings():
        if job and patience:
            with if_interrupted(
                f"A checkpoint was requested from job {job}; {instance['node']} was not terminated."
            ):
                _wait_for_checkpoint(job, patience, client)
        client("ec2").terminate_instances(InstanceIds=[instance["node"]])
    group = instance["auto_scaling_group"]
    starts = (
        f"Auto Scaling group {group} starts another"
        if group
        else "AWS Batch starts another when a job needs it"
    )
    echo(f"{instance['node']} is terminating. {starts}.")
    if instance["reservation"]:
        echo(f"{instance['reservation']} has room for it again some minutes after this one has ended.")


def _wait_for_checkpoint(job: str, patience: timedelta, client: Clients) -> None:
    described = describe_job(job, client=client)
    until = datetime.now(UTC) + patience
    notified, problem = request_checkpoint(described, until, client)
    report_notified(job, notified, problem)
    with doing(f"Waiting for the checkpoint of {job}"):
        while (
            notified and datetime.now(UTC) < until and describe_job(job, client=client)["status"] == "RUNNING"
        ):
            time.sleep(min(5.0, patience.total_seconds()))


def _find(text: str, region: str, client: Clients) -> dict[str, Any]:
    """Return the only node whose ID starts with `text`."""
    nodes = list(nodes_of(None, client("ec2"), node=f"{text}*"))
    if len(nodes) == 1:
        return nodes[0]
    problem = f"{len(nodes) or 'no'} nodes in {region} match {quote(text)}"
    allowed = ", ".join(node["node"] for node in nodes[:10])
    remedy = "`ultracluster nodes list` lists them"
    raise FindingsError.message(problem, allowed=allowed, remedy=remedy)


def _jobs_by_node(cluster: str, region: str, client: Clients) -> dict[str, str]:
    jobs: dict[str, str] = {}
    for queue in find_queues(cluster, region=region, client=client):
        for job in list_jobs(queue.arn, states=["RUNNING"], client=client):
            jobs |= dict.fromkeys(instances_of(job, client).values(), str(job["jobId"]))
    return jobs
