"""`ultracluster jobs`: submit jobs to a cluster, list, explain, follow and stop them."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from ultracluster_cli._aws.selection import locate, shift_to_project
from ultracluster_cli._aws.target import local_clock, time_of
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.jobs.session import (
    aws_errors_as_findings,
    echo_resumes,
    follow_log,
    list_rows,
    open_region,
    open_shell,
    read_duration,
    report_notified,
)
from ultracluster_cli.jobs.submit import SubmissionOptions, submit_all
from ultracluster_cli.options import (
    DefaultClusterArgument,
    JsonOption,
    ProfileOption,
    command_group,
    with_option_groups,
)
from ultracluster_cli.output import (
    counted,
    echo,
    print_json,
    print_note,
    print_table,
    print_text,
    print_warning,
)
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.jobs.describe import STATES, child_job_ids, describe_job, find_job, is_array
from ultracluster_runtime.jobs.explanation import explain_job
from ultracluster_runtime.jobs.logs import Line, find_stream, read_new, read_tail
from ultracluster_runtime.jobs.queues import find_definition, find_queue, find_queues
from ultracluster_runtime.jobs.stop import instances_of, request_checkpoint, stop_job
from ultracluster_runtime.jobs.submission import refuse_option
from ultracluster_spec.findings import FindingsError, printable, quote

app = command_group("Submit, list, explain, follow and stop jobs.")

_CHECKPOINT_VALID = timedelta(minutes=5)  # the launcher ignores a request that reaches it later

_Cluster = Annotated[
    str, typer.Argument(metavar="CLUSTER", help="Cluster name, stack name, or ARN of the job queue.")
]
_Job = Annotated[str, typer.Argument(metavar="JOB", help="ID of the job or its start, its ARN, or its name.")]
_Queue = Annotated[
    str | None,
    typer.Option("--queue", help="Name of one of `additional_queues`. Default: the cluster's main queue."),
]
_Region = Annotated[
    str | None,
    typer.Option(help="AWS Region. Default: Region of the ARN, the project, the environment or the profile."),
]


@app.command()
@with_option_groups
def submit(
    cluster: Annotated[
        str,
        typer.Argument(
            metavar="[CLUSTER]",
            help="Cluster name, stack name, or ARN of the job queue. Default: the only cluster of the project.",
        ),
    ],
    job: Annotated[
        str | None,
        typer.Argument(metavar="JOB", help="Job name, or ARN or NAME:REVISION of a job definition."),
    ] = None,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- COMMAND...]", help="Command to run instead of the job's own, after --."),
    ] = None,
    *,
    options: SubmissionOptions,
    name: Annotated[str | None, typer.Option(help="Name of this job. Default: JOB.")] = None,
    priority: Annotated[int | None, typer.Option(help="Priority within the share, 0 to 9,999.")] = None,
    depends_on: Annotated[
        list[str] | None, typer.Option(help="ID of a job that must succeed first; repeatable.")
    ] = None,
    array_size: Annotated[
        int | None,
        typer.Option(help="Size of the array job, 2 to 10,000. Default: array size of the job definition."),
    ] = None,
    alone: Annotated[
        bool, typer.Option("--alone", help="Submit only this job, without its dependencies.")
    ] = False,
    queue_name: _Queue = None,
    region: _Region = None,
    as_json: JsonOption = False,
) -> None:
    """Submit a job of a cluster, after the jobs that it depends on."""
    settings = options.settings()
    words = shift_to_project([cluster, *([job] if job else []), *(command or [])])
    if len(words) == 1:
        raise typer.BadParameter(f"got only {words[0]}; name the cluster and the job: CLUSTER JOB")
    cluster, job, *command = words
    cluster, region = locate(cluster, region)
    region, client = open_region(cluster, job, region=region, profile=options.profile)
    with aws_errors_as_findings():
        queue = find_queue(cluster, region=region, client=client, name=queue_name)
        definition = find_definition(job, queue=queue, client=client)
    submitted = submit_all(
        definition,
        queue=queue,
        client=client,
        name=name or (job if ":" not in job else str(definition["jobDefinitionName"])),
        named_queue=queue_name is not None,
        alone=alone,
        depends_on=depends_on or [],
        share=options.share,
        settings=settings | {"priority": priority, "command": command, "array_size": array_size},
    )
    submitted_job = submitted[-1]
    if as_json:
        earlier = [{"job": earlier_job.job_id, "name": earlier_job.name} for earlier_job in submitted[:-1]]
        print_json(
            job=submitted_job.job_id,
            arn=submitted_job.arn,
            name=submitted_job.name,
            resume=submitted_job.resumes,
            depends_on=earlier,
        )
        return
    for earlier_job in submitted[:-1]:
        echo(f"Submitted dependency {earlier_job.name}: {earlier_job.job_id}")
    echo(f"Submitted {submitted_job.name}:")
    typer.echo(submitted_job.job_id)
    echo_resumes(submitted_job.resumes)


@app.command("list")
def list_jobs(
    cluster: DefaultClusterArgument = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Include jobs that have ended.")] = False,
    region: _Region = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the jobs of a cluster by queue, oldest first, and those that wait for their resume."""
    cluster, region = locate(cluster, region)
    region, client = open_region(cluster, region=region, profile=profile)
    states = [state for state in STATES if everything or state not in {"SUCCEEDED", "FAILED"}]
    with aws_errors_as_findings():
        queues = find_queues(cluster, region=region, client=client)
        rows, unread = list_rows(queues, states=states, client=client)
    for problem in unread:
        print_warning(problem)
    if as_json:
        print_json(jobs=rows)
    elif rows:
        print_table(rows)
    else:
        echo("No jobs." if everything else "No job waits or runs; to see those that have ended: --all")


@app.command()
def why(
    job: _Job, *, region: _Region = None, profile: ProfileOption = None, as_json: JsonOption = False
) -> None:
    """Explain why a job waits or failed, and what to do about it."""
    _, client = open_region(job, region=region, profile=profile)
    clock = local_clock()
    with aws_errors_as_findings():
        explained = explain_job(
            find_job(job, client=client),
            now=time_of(clock),
            client=client,
            simulated=clock is not None and not clock.get("jobs", True),
        )
    if as_json:
        print_json(
            job=explained.job_id,
            state=explained.state,
            reasons=[asdict(reason) for reason in explained.reasons],
            log=explained.last_lines,
            unseen=explained.unseen,
        )
    else:
        for reason in explained.reasons:
            see = f" See {reason.source}" if reason.source.startswith("http") else ""
            print_text(f"{reason.reason}: {reason.evidence}.")
            print_note(f"{reason.remedy}.{see}")
        if not explained.reasons:
            typer.echo("No reason found. AWS Batch may take several minutes to start nodes.")
        if explained.last_lines:
            typer.echo("\nThe last lines of its log:")
            for line in explained.last_lines:
                print_note(line)
        elif explained.wrote_nothing:
            typer.echo("\nIts log has no line.")
    for problem in explained.unseen:
        print_warning(problem)
    if explained.unseen and not explained.reasons:
        raise typer.Exit(ExitCode.UNKNOWN)


@app.command()
def logs(
    job: _Job,
    *,
    node: Annotated[
        int | None,
        typer.Option(min=0, help="Index of the node, or of the child of an array. Default: the main node."),
    ] = None,
    tail: Annotated[int, typer.Option(min=1, max=10_000, help="Number of recent lines to show first.")] = 100,
    follow: Annotated[bool, typer.Option("--follow", help="Follow the log until the job ends.")] = False,
    every_node: Annotated[bool, typer.Option("--all", help="Print the whole log of each node.")] = False,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="With --all: write a file for each node to this folder instead."),
    ] = None,
    region: _Region = None,
    profile: ProfileOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each line as a JSON document.")] = False,
) -> None:
    """Print the log of a job: of its main node, of another node, or of all."""
    if every_node and (follow or node is not None):
        raise FindingsError([refuse_option("--all", f"it with {'--follow' if follow else '--node'}")])
    if save is not None and not every_node:
        raise FindingsError([refuse_option("--save", quote(str(save)), remedy="Add --all")])

    def show(lines: Sequence[Line]) -> None:
        for line in lines:
            if as_json or not line.has_metrics:
                typer.echo(_log_line(line, as_json=as_json))

    _, client = open_region(job, region=region, profile=profile)
    with aws_errors_as_findings():
        job_id = find_job(job, client=client)
        if every_node:
            _whole_logs(job_id, client=client, save=save, as_json=as_json)
            return
        if follow:
            ended = follow_log(job_id, client=client, show=show, node=node, tail=tail)
            if ended["status"] == "FAILED":
                echo(f"To see why, and whether it resumes: ultracluster jobs why {job_id}")
            return
        show(_last_lines(job_id, node=node, count=tail, client=client))


def _last_lines(job_id: str, *, node: int | None, count: int, client: Clients) -> list[Line]:
    """Return the last lines of the log of a node, and say which child of an array it is, or that it has no line."""
    stream = find_stream(job_id, node=node, client=client)
    if stream.of:
        echo(f"The log of {stream.of}; of another: --node N")
    lines, _ = read_tail(stream, count=count, client=client)
    if not lines:
        echo("The log has no line.")
    return lines


def _log_line(line: Line, *, as_json: bool, **members: int) -> str:
    at = datetime.fromtimestamp(line.timestamp / 1000, UTC).isoformat(timespec="milliseconds")
    if as_json:
        return json.dumps({**members, "at": at, "message": line.message})
    return printable(f"{at} {line.text}")


def _whole_logs(job_id: str, *, client: Clients, save: Path | None, as_json: bool) -> None:
    """Print the whole log of each node, or write each to a file; a node whose log cannot be read is named."""
    unread = 0
    job = describe_job(job_id, client=client)
    kind = "child" if is_array(job) else "node"
    for node in range(len(child_job_ids(job)) or 1):
        try:
            pages = read_new(find_stream(job_id, node=node, client=client), token=None, client=client)
            lines = [_log_line(line, as_json=as_json, node=node) for found, _ in pages for line in found]
        except FindingsError as error:
            echo(f"{kind} {node}: {error}")
            unread += 1
            continue
        if save is None:
            typer.echo("\n".join(lines if as_json else [f"{kind} {node}:", *lines]))
        else:
            save.mkdir(parents=True, exist_ok=True)
            file = save / f"{kind}-{node}.log"
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            echo(f"{file}: {counted(len(lines), 'line')}")
    if unread:
        raise typer.Exit(ExitCode.UNKNOWN)


@app.command()
def stop(
    job: _Job,
    *,
    now: Annotated[bool, typer.Option("--now", help="Do not wait for a checkpoint.")] = False,
    wait: Annotated[str, typer.Option(help="Time to wait for the checkpoint, such as 10m.")] = "5m",
    reason: Annotated[
        str, typer.Option(help="Reason to show in AWS Batch.")
    ] = "Stopped with ultracluster jobs stop",
    region: _Region = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop or cancel a job after giving it time to write a checkpoint."""
    checkpoint_time = timedelta(0) if now else read_duration("--wait", wait)
    _, client = open_region(job, region=region, profile=profile)
    with aws_errors_as_findings():
        job_id = find_job(job, client=client)
        if checkpoint_time and describe_job(job_id, client=client)["status"] == "RUNNING":
            echo(f"Waiting up to {wait} for a checkpoint; use --now to stop immediately.")
        stopped = stop_job(
            job_id,
            reason=reason,
            wait=checkpoint_time,
            client=client,
            clock=lambda: datetime.now(UTC),
            sleep=time.sleep,
        )
    report_notified(stopped.job_id, stopped.notified_nodes, stopped.problem)
    if as_json:
        print_json(
            job=stopped.job_id,
            state_before=stopped.status_before,
            told_nodes=stopped.notified_nodes,
            terminated=stopped.terminated,
        )
    else:
        notified = f"{len(stopped.notified_nodes)} nodes were notified; " if stopped.notified_nodes else ""
        outcome = "it was terminated" if stopped.terminated else "it had already ended"
        echo(f"{stopped.job_id} was {stopped.status_before}; {notified}{outcome}.")


@app.command()
def checkpoint(
    job: _Job, *, region: _Region = None, profile: ProfileOption = None, as_json: JsonOption = False
) -> None:
    """Request a checkpoint from a running job, which continues.

    The program receives the same signal as before the end of a Capacity Block.
    """
    _, client = open_region(job, region=region, profile=profile)
    with aws_errors_as_findings():
        described = _running_job(job, client)
        notified, problem = request_checkpoint(described, datetime.now(UTC) + _CHECKPOINT_VALID, client)
    report_notified(described["jobId"], notified, problem)
    if as_json:
        print_json(job=described["jobId"], told_nodes=notified)
    elif notified:
        echo(f"{len(notified)} nodes of {described['jobName']} were asked for a checkpoint; the job goes on.")
    if not notified:
        raise typer.Exit(ExitCode.FINDINGS)


@app.command()
def shell(
    job: _Job,
    *,
    node: Annotated[int, typer.Option(min=0, help="Index of the node.")] = 0,
    region: _Region = None,
    profile: ProfileOption = None,
) -> None:
    """Open a shell in the container of a running job with Session Manager."""
    region, client = open_region(job, region=region, profile=profile)
    with aws_errors_as_findings():
        described = _running_job(job, client)
        places = list(instances_of(described, client).items())
    if node >= len(places):
        raise _not_running(f"{described['jobName']} runs on {len(places)} nodes; got node {node}")
    task, instance = places[node]
    open_shell(instance, region=region, profile=profile, container_of=task)


def _running_job(text: str, client: Clients) -> Mapping[str, Any]:
    described = describe_job(find_job(text, client=client), client=client)
    if described["status"] != "RUNNING":
        raise _not_running(f"{described['jobName']} is {described['status']}")
    return described


def _not_running(problem: str) -> FindingsError:
    return FindingsError.message(problem, remedy="`ultracluster queue` lists running jobs")
