"""`ultracluster ami`: pin rollouts to AMIs."""

import os
import shlex
import sys
import time
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import typer

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.neuron.neuron_images import DLAMI_ROOT_VOLUME_GB, IMAGE_KINDS
from ultracluster_cli import options
from ultracluster_cli._cdk.toolchain import open_project, require_deployed
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.output import echo, print_findings, print_json, print_table, short_time
from ultracluster_cli.progress import doing, if_interrupted
from ultracluster_runtime.aws.aws_session import clients_of
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.images import MachineImage, image_of_parameter, newest_baked_image
from ultracluster_spec.findings import Finding, FindingsError, Severity, reject, require
from ultracluster_spec.images import check_image_kind
from ultracluster_spec.record import RuleRecord
from ultracluster_stacks.config.editing import ClusterImage, cluster_images, image_values, update_rollout
from ultracluster_stacks.config.reading.problem import Loc

app = options.command_group("Bake and find AMIs, and pin rollouts to their IDs.")

_ENDED = {"AVAILABLE", "CANCELLED", "DELETED", "DEPRECATED", "DISABLED", "FAILED"}
_POLL_SECONDS = 20.0
_LINES = [name for name, kind in IMAGE_KINDS.items() if kind.parameter]


@app.command()
def resolve(
    rollout: options.RolloutArgument,
    *,
    image: Annotated[str, typer.Option(help=f"AMI family: {', '.join(_LINES)}.")] = "ecs-neuron",
    parameter: Annotated[
        str | None, typer.Option(help="SSM parameter with an AMI ID, instead of --image.")
    ] = None,
    baked: Annotated[
        str | None, typer.Option(help="NeuronAmi whose newest AMI to use, instead of --image.")
    ] = None,
    cluster: options.ClustersOption = None,
    write: options.WriteOption = False,
    profile: options.RolloutProfileOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Show the newest AMI for each cluster of a rollout, or pin the rollout to it."""
    _check_choice(image, parameter, baked)
    all_images = cluster_images(rollout)
    selected, warnings = _choose(all_images, cluster or [], neuron_only=not (parameter or baked))
    by_profile: dict[str | None, list[ClusterImage]] = {}
    for place in selected:
        by_profile.setdefault(profile or place.cluster.profile, []).append(place)
    images: dict[Loc, MachineImage] = {}
    for name, places in by_profile.items():
        regions = sorted({place.cluster.region for place in places})
        newest = find_images(clients_of(name), regions=regions, image=image, parameter=parameter, baked=baked)
        images |= {place.loc: newest[place.cluster.region] for place in places}
    if not (parameter or baked):
        warnings += [*_missing_parts(image), *_small_volumes(image, selected)]
    now = datetime.now(UTC)
    rows: list[dict[str, Any]] = [
        {
            "cluster": place.cluster.name,
            "region": place.cluster.region,
            "image_id_now": place.image_id or None,
            "image_id": images[place.loc].image_id,
            "name": images[place.loc].name,
            "created": images[place.loc].created.date(),
            "age_days": images[place.loc].age_days(now),
        }
        for place in selected
    ]
    if write:
        ids = {loc: machine_image.image_id for loc, machine_image in images.items()}
        values = image_values(selected, ids, others=len(selected) < len(all_images))
        warnings += update_rollout(rollout, values)
    print_findings(warnings)
    if as_json:
        print_json(clusters=rows, written=write, warnings=warnings)
        return
    print_table(rows)
    echo(f"Updated {rollout}." if write else "Nothing written; use --write to pin the rollout to these AMIs.")


@app.command()
def bake(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the NeuronAmi.")],
    rollout: options.RolloutArgument,
    *,
    region: Annotated[
        str | None, typer.Option(help="AWS Region. Default: Region of the environment or the profile.")
    ] = None,
    cluster: options.ClustersOption = None,
    write: options.WriteOption = False,
    yes: options.YesOption = False,
    profile: options.RolloutProfileOption = None,
) -> None:
    """Bake an AMI with a NeuronAmi, follow the build, and show or pin it.

    Creates the pipeline if there is none, with the newest ECS Neuron AMI as parent. A build runs two small instances for about an hour.
    """
    builder = clients_of(profile)("imagebuilder", region)
    place = builder.meta.region_name
    pipeline = _pipeline(builder, name)
    if not yes:
        first = "" if pipeline else "create its pipeline and "
        cost = "That runs one m6i.large after the other for about an hour, at the on-demand price."
        typer.confirm(f"In {place}, {first}bake {name}? {cost}", abort=True, err=True)
    if pipeline is None:
        _create(name, place, profile)
        pipeline = _pipeline(builder, name)
    build = builder.start_image_pipeline_execution(imagePipelineArn=pipeline, clientToken=uuid.uuid4().hex)[
        "imageBuildVersionArn"
    ]
    echo(f"Started {build}")
    later = f"ultracluster ami resolve {rollout} --baked {name} --write"
    with if_interrupted(f"The build goes on. When it has ended, pin its AMI with: {later}"):
        state = _follow(builder, build)
    if state["status"] != "AVAILABLE":
        echo(f"The build is {state['status']}: {state.get('reason') or 'no reason given'}")
        raise typer.Exit(ExitCode.FAILED)
    resolve(rollout, baked=name, cluster=cluster, write=write, profile=profile)


def _pipeline(builder: Any, name: str) -> str | None:
    answer = builder.list_image_pipelines(filters=[{"name": "name", "values": [name]}])
    pipelines = answer.get("imagePipelineList", ())
    return next((pipeline["arn"] for pipeline in pipelines if pipeline["name"] == name), None)


def _create(name: str, region: str, profile: str | None) -> None:
    """Deploy a stack with the pipeline, or raise CommandError."""
    images = find_images(
        clients_of(profile), regions=[region], image="ecs-neuron", parameter=None, baked=None
    )
    context = {"name": name, "region": region, "parent": images[region].image_id}
    with open_project() as project:
        log = project.state / "logs" / "cdk-deploy-image.log"
        arguments = ["deploy", "--require-approval", "never", "--output", str(project.temporary / "image")]
        arguments += ["--app", shlex.join([sys.executable, "-m", "ultracluster_stacks.stacks.image_app"])]
        arguments += [word for key, value in context.items() for word in ("--context", f"{key}={value}")]
        arguments += ["--profile", profile] if profile else []
        echo(f"Creating the pipeline {name}, with {images[region].name} as parent")
        with doing(f"Creating the stack {name}-image"):
            code = project.run_cdk(*arguments, environment=os.environ, log=log, on_line=lambda _: None)
    require_deployed(code, log=log)


def _follow(builder: Any, build: str) -> dict[str, Any]:
    """Print each state of a build, and return the last one."""
    status = ""
    while True:
        state: dict[str, Any] = builder.get_image(imageBuildVersionArn=build)["image"]["state"]
        if state["status"] != status:
            status = state["status"]
            echo(f"{short_time(datetime.now(UTC))}: {status}")
        if status in _ENDED:
            return state
        with doing(f"The build is {status}"):
            time.sleep(_POLL_SECONDS)


def _check_choice(image: str, parameter: str | None, baked: str | None) -> None:
    findings = check_image_kind(image, _LINES, path="--image")
    if parameter and baked:
        problem = "got --parameter and --baked"
        findings.append(Finding.message(problem=problem, allowed="one of them", path="--baked"))
    reject(findings)


def _choose(
    places: Sequence[ClusterImage], names: Sequence[str], *, neuron_only: bool
) -> tuple[list[ClusterImage], list[Finding]]:
    """Return the selected clusters that can use a Neuron AMI, and warnings about the others."""
    known = {place.cluster.name for place in places}
    allowed = ", ".join(sorted(known)) or "the rollout has no clusters"
    reject(options.wrong_option("--cluster", name, allowed=allowed) for name in names if name not in known)
    selected, findings = [], []
    for place in places:
        name = place.cluster.name
        instance_type = INSTANCE_TYPES.get(place.cluster.instance_type)  # None for a custom instance type
        if names and name not in names:
            continue
        if neuron_only and instance_type is not None and not instance_type.is_neuron:
            problem = (
                f"{name} is not updated: {instance_type.name} has {instance_type.accelerator}, not Neuron"
            )
            remedy = "Use --parameter and --cluster, or set image_id in the rollout"
            findings.append(Finding(code="UC4059", problem=problem, remedy=remedy))
        else:
            selected.append(place)
    return selected, findings


def _missing_parts(image: str) -> list[Finding]:
    kind = IMAGE_KINDS[image]
    problem = f"{image} is not known to include {', '.join(kind.missing)} ({kind.source}, {kind.dated})"
    remedy = (
        "Bake an AMI with NeuronAmi (`ultracluster docs images`) and resolve it with --baked; incomplete nodes do not "
        "join the cluster"
    )
    return require(not kind.missing, "UC4058", problem, remedy=remedy)


def _small_volumes(image: str, places: Sequence[ClusterImage]) -> list[Finding]:
    """Warn about clusters whose nodes would have a smaller root volume than the Neuron documentation asks for (UC2254)."""
    if not image.startswith("dlami/"):
        return []
    return [
        Finding(
            "UC2254",
            f"the root volume of {place.cluster.name} has {size} GiB",
            allowed=f"at least {DLAMI_ROOT_VOLUME_GB} GB with {image}, says the Neuron documentation",
            remedy=f"Set root_volume: {{size_gib: {DLAMI_ROOT_VOLUME_GB}}}; the nodes are replaced",
        )
        for place in places
        if (size := place.cluster.root_volume.size_gib) * 1024**3 < DLAMI_ROOT_VOLUME_GB * 10**9
    ]


def find_images(
    clients: Clients, *, regions: Sequence[str], image: str, parameter: str | None, baked: str | None
) -> dict[str, MachineImage]:
    """Find the AMI of each Region, or raise the findings of all Regions together.

    ``image`` is an AMI family with a public parameter; it counts without ``parameter`` and ``baked``.
    """
    images: dict[str, MachineImage] = {}
    findings: list[Finding] = []
    for region in regions:
        client = clients.in_region(region)
        try:
            if baked:
                images[region] = newest_baked_image(client, region=region, name=baked)
            else:
                name = parameter or IMAGE_KINDS[image].parameter or ""
                images[region] = image_of_parameter(client, region=region, parameter=name)
        except FindingsError as error:
            findings += error.findings
    reject(findings)
    return images


RECORDS: Final = (
    RuleRecord(
        "UC2254",
        "Nodes with a Neuron DLAMI have the root volume that its documentation asks for.",
        severity=Severity.WARNING,
        remedy="Set `root_volume: {size_gib: 512}` in the cluster; `ultracluster cost` shows what it adds. A disk that fills up ends the job in paid hours.",
        source="Neuron documentation 2.33.0, Update PyTorch on a Deep Learning AMI, 2026-10-16: a minimum of 512 GB for Trn1, Trn2 and Trn3 (https://awsdocs-neuron.readthedocs-hosted.com/en/v2.33.0/setup/pytorch/update-dlami.html).",
    ),
    RuleRecord(
        "UC4058",
        "An AMI for nodes contains everything that they need.",
        severity=Severity.WARNING,
        remedy="Bake the missing components with NeuronAmi (`ultracluster docs images`), then resolve with --baked. Nodes without all components refuse to join.",
        source="Build scripts of amazon-ecs-ami, 2026-08-21; Neuron DLAMI documentation 2.32, 2026-08.",
    ),
    RuleRecord(
        "UC4059",
        "An AMI for Neuron is for nodes with Neuron.",
        severity=Severity.WARNING,
        remedy="Specify the AMI of the GPU nodes with --parameter and --cluster, or set it in the rollout file.",
        source="Neuron documentation, 2026-08: its AMIs carry drivers for Trainium and Inferentia.",
    ),
)
