"""`ultracluster run`: run a program of a folder on a cluster, without building an image."""

import io
import re
import shlex
import tarfile
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer
from botocore.exceptions import ClientError

from ultracluster_catalog.names.launcher import LAUNCHER_PATH
from ultracluster_catalog.names.submission_tags import CODE_TAG, COMMAND_TAG, COMMIT_TAG
from ultracluster_cli._aws.deployed_template import stack_resources
from ultracluster_cli._aws.selection import locate
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.jobs.session import (
    aws_errors_as_findings,
    echo_resumes,
    follow_log,
    open_region,
)
from ultracluster_cli.jobs.submit import SubmissionOptions, submit_all
from ultracluster_cli.options import JsonOption, with_option_groups
from ultracluster_cli.output import echo, print_json
from ultracluster_cli.run.code import Code, pack
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.jobs.dependencies import job_name
from ultracluster_runtime.jobs.describe import short_reasons
from ultracluster_runtime.jobs.logs import Line
from ultracluster_runtime.jobs.queues import Queue, find_definition, find_queue, list_definitions
from ultracluster_runtime.jobs.submission import refuse_option
from ultracluster_spec.findings import FindingsError, printable, quote
from ultracluster_spec.job_definitions import LAUNCHERS

_PREFIX = "code/"
_LONGEST_TAG = 256
_TORCH = re.compile(
    rb"^\s*(?:import|from)\s+(?:torch|accelerate|deepspeed|lightning|neuronx_distributed|optimum|pytorch_lightning|transformers|trl)",
    re.MULTILINE,
)
"""Imports of PyTorch and of libraries that need it."""


@with_option_groups
def run(
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help="Python program in the folder.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[-- ARGUMENTS...]", help="Its arguments, after --.")
    ] = None,
    *,
    options: SubmissionOptions,
    folder: Annotated[
        Path, typer.Option(help="Folder whose files are uploaded, except those that git ignores.")
    ] = Path(),
    allow_file: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="File that looks like a secret but is none, relative to the folder; repeatable.",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="Name of the cluster. Default: the only cluster of the rollout in cdk.json."),
    ] = None,
    job: Annotated[
        str | None,
        typer.Option(
            help="Job of the cluster whose image, devices and role are used. Default: its only training job."
        ),
    ] = None,
    launcher: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(LAUNCHERS), help="Launcher of the program. Default: launcher of the job."
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of this job. Default: name of the program.")] = None,
    bucket: Annotated[
        str | None,
        typer.Option(
            help="Bucket for the code, which jobs can read. Default: the cluster's checkpoint bucket."
        ),
    ] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Do not follow the log.")] = False,
    region: Annotated[
        str | None,
        typer.Option(help="AWS Region. Default: Region of the rollout, the environment or the profile."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a Python program from a folder on a cluster, and follow its log until it ends.

    Uploads the same content only once, and submits a job that unpacks it on each node. Ctrl-C leaves the job running.
    """
    if launcher not in (None, *LAUNCHERS):
        raise FindingsError([refuse_option("--launcher", quote(launcher), allowed=", ".join(LAUNCHERS))])
    code = pack(folder, program, allowed=frozenset(allow_file or ()))
    for left_out in code.left_out:
        echo(
            f"Not uploaded, because Git stores only its commit or has not checked it out: {printable(left_out)}"
        )
    settings = options.settings()
    cluster, region = locate(cluster, region)
    region, client = open_region(cluster, region=region, profile=options.profile)
    with aws_errors_as_findings():
        queue = find_queue(cluster, region=region, client=client)
        definition = _definition_to_run(job, queue=queue, client=client)
        place = bucket or _checkpoint_bucket(cluster, region=region, client=client)
        url = _upload(code, bucket=place, client=client)
    kind = launcher or _launcher_for(code, _launcher_of(definition))
    command = [program, *(arguments or [])]
    (submitted,) = submit_all(
        definition,
        queue=queue,
        client=client,
        name=name or re.sub(r"[^A-Za-z0-9_-]", "-", Path(program).stem).lstrip("-_") or "run",
        alone=True,
        share=options.share,
        settings=settings
        | {
            "command": _bootstrap(code, url, command, launcher=kind),
            "launcher": kind,
            "tags": {
                CODE_TAG: code.digest,
                # Other characters are not allowed in tags.
                COMMAND_TAG: re.sub(r"[^\w .:/=+@-]", "_", shlex.join(command))[:_LONGEST_TAG],
                **({COMMIT_TAG: code.commit} if code.commit else {}),
            },
        },
    )
    if as_json:
        print_json(
            job=submitted.job_id,
            name=submitted.name,
            resume=submitted.resumes,
            code=url,
            commit=code.commit,
        )
    else:
        files = "1 file" if code.files == 1 else f"{code.files} files"
        echo(f"Submitted {submitted.name} with {files} of {folder.absolute().name}:")
        typer.echo(submitted.job_id)
        echo_resumes(submitted.resumes)
    if not detach and not as_json:
        _follow(submitted.job_id, client=client)


def _follow(job_id: str, *, client: Clients) -> None:
    try:
        with aws_errors_as_findings():
            job = follow_log(job_id, client=client, show=_show)
    except KeyboardInterrupt:
        echo(f"The job goes on. To follow it again: ultracluster jobs logs {job_id} --follow")
        echo(f"To stop it: ultracluster jobs stop {job_id}")
        raise
    if job["status"] == "FAILED":
        with aws_errors_as_findings():
            reason = short_reasons([job], client=client)[job["jobId"]]
        echo(f"{job['jobName']} failed: {reason or 'no reason given'}")
        echo(f"To see why: ultracluster jobs why {job_id}")
        raise typer.Exit(ExitCode.FAILED)


def _show(lines: Sequence[Line]) -> None:
    for line in lines:
        if not line.has_metrics:
            typer.echo(printable(line.message))


def _definition_to_run(job: str | None, *, queue: Queue, client: Clients) -> Mapping[str, Any]:
    if job is not None:
        return find_definition(job, queue=queue, client=client)
    jobs = [definition for definition in list_definitions(queue, client=client) if _trains(definition)]
    if len(jobs) != 1:
        names = ", ".join(sorted(filter(None, map(job_name, jobs)))) or "none: the cluster has no job"
        remedy = "" if jobs else "Add a job to the cluster in the rollout file, and deploy it"
        finding = refuse_option("--job", f"{len(jobs)} training jobs", allowed=names, remedy=remedy)
        raise FindingsError([finding])
    return jobs[0]


def _containers(definition: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if "nodeProperties" in definition:
        ranges = definition["nodeProperties"]["nodeRangeProperties"]
        return [node_range.get("container", {}) for node_range in ranges]
    return [definition.get("containerProperties", {})]


def _trains(definition: Mapping[str, Any]) -> bool:
    """Whether a definition is of a training job: gates and precompile jobs have no name for metrics, or another program."""
    return all(
        LAUNCHER_PATH in container.get("command", [])
        and container["command"][0] == "python3"
        and "--no-python" not in container["command"]  # the smoke gate, which starts no program of the image
        and any(variable["name"] == "UC_JOB" for variable in container.get("environment", []))
        for container in _containers(definition)
    )


def _launcher_of(definition: Mapping[str, Any]) -> str:
    command = _containers(definition)[0].get("command", [])
    return str(command[command.index(LAUNCHER_PATH) + 1]) if LAUNCHER_PATH in command else "raw"


def _launcher_for(code: Code, launcher: str) -> str:
    """Return the launcher of the job, but the plain one for code without PyTorch, whose images may have no torchrun."""
    if launcher != "torchrun":
        echo(f"Launcher: {launcher}, as in the job.")
        return launcher
    with tarfile.open(fileobj=io.BytesIO(code.archive)) as archive:
        programs = [archive.extractfile(member) for member in archive if member.name.endswith(".py")]
        uses_torch = any(_TORCH.search(program.read()) for program in programs if program)
    if uses_torch:
        echo("Launcher: torchrun, as in the job; an image without it needs --launcher raw.")
        return launcher
    echo(
        "Launcher: raw, one process for each node, because no file imports torch; --launcher torchrun changes it."
    )
    return "raw"


def _checkpoint_bucket(cluster: str, *, region: str, client: Clients) -> str:
    # That of a rollout file, or any stack of an app, in which the cluster has a name of its own.
    for stack, pattern in ((f"{cluster}-{region}-Storage", "Checkpoints"), (cluster, r"\w*Checkpoints")):
        try:
            for resource in stack_resources(stack, client("cloudformation")):
                is_bucket = resource["ResourceType"] == "AWS::S3::Bucket"
                if is_bucket and re.match(pattern, resource["LogicalResourceId"]):
                    return str(resource["PhysicalResourceId"])
        except ClientError as error:
            if error.response["Error"]["Code"] != "ValidationError":
                raise
    remedy = "Specify a bucket of the cluster that its jobs can read"
    raise FindingsError(
        [refuse_option("--bucket", "none, and the cluster created no checkpoint bucket", remedy=remedy)]
    )


def _upload(code: Code, *, bucket: str, client: Clients) -> str:
    """Upload code unless it is there, and return its URL."""
    key = f"{_PREFIX}{code.digest}.tar.gz"
    s3 = client("s3")
    try:
        s3.head_object(Bucket=bucket, Key=key)
    except ClientError as error:
        if error.response["Error"]["Code"] not in {"404", "NoSuchKey", "NotFound"}:
            raise
        s3.put_object(Bucket=bucket, Key=key, Body=code.archive, ContentType="application/gzip")
    return f"s3://{bucket}/{key}"


def _bootstrap(code: Code, url: str, command: Sequence[str], *, launcher: str) -> list[str]:
    """Return the words for the launcher: a program that unpacks the code and becomes the user's."""
    source = resources.files("ultracluster_runtime").joinpath("jobs", "unpack_code.py").read_text("utf-8")
    words = ["python3", "-c", source, url, code.digest, *command]
    return ["--no-python", *words] if launcher == "torchrun" else words
