"""Queues of several environments, reservations of a template, and jobs that none of their nodes can hold."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_checks.jobs import JOB_DEFINITION, job_containers
from ultracluster_checks.joined.nodes import QUEUE, environments_of, nodes_of
from ultracluster_checks.joined.permissions import ROLE, fixed_arn, statements_of
from ultracluster_checks.machines import COMPUTE_ENVIRONMENT
from ultracluster_checks.problem import Problem
from ultracluster_checks.shared_rules import (
    CONTAINER_FITS_NODE,
    DRAIN_IS_ALLOWED,
    IMAGE_WITH_DRIVER,
    LUSTRE_IS_LET_IN,
    MOUNTED_VOLUME,
    ONE_KIND_OF_ENVIRONMENT,
    RESERVATION_FITS_NODES,
    ROLES_OF_A_JOB,
    TYPE_OF_THE_JOB,
    TYPE_OF_THE_TEMPLATE,
)
from ultracluster_checks.template import Templates
from ultracluster_checks.values import Unknown
from ultracluster_rules.findings import quote
from ultracluster_rules.job_definitions import NO_SPOT_NODES, NODES
from ultracluster_rules.lustre import FILE_SYSTEM_KEY

_RESERVATION: Final = "AWS::EC2::CapacityReservation"
_ARM: Final = re.compile(r"(?:[a-z]+\d+g[a-z]*|a1|t4g)\.")
_SIZE: Final = re.compile(r"(\d*)xlarge$")
_NO_HYPERTHREADS: Final = {
    "hpc6a": 96,
    "hpc6id": 64,
    "hpc7a": 192,
}  # EC2 instance types guide, hpc family, 2026-11: sizes of one node
_MEMORY_PER_VCPU: Final = {
    "c": 2048,
    "m": 4096,
    "r": 8192,
}  # MiB; general, compute and memory optimized families
_FS_ID: Final = re.compile(r"fs-[0-9a-f]{8,17}")


def _vcpus(name: str) -> int | None:
    """Return the vCPUs of a type of a general family by its size; None if its size does not tell."""
    family, _, size = name.partition(".")
    if family in _NO_HYPERTHREADS:
        return _NO_HYPERTHREADS[family]
    found = _SIZE.fullmatch(size)
    if found is None or family[:1] not in _MEMORY_PER_VCPU:
        return 2 if size == "large" and family[:1] in _MEMORY_PER_VCPU else None
    return 4 * int(found[1] or 1)


def types_hold_their_jobs(templates: Templates) -> Iterator[Problem]:
    """Find jobs that ask for more than any type of the environments has, for types that the catalogue lacks."""
    sizes = _environment_types(templates)
    if not sizes:
        return
    most = max(each or 0 for each in sizes.values())
    memory = max((each or 0) * _MEMORY_PER_VCPU.get(str(name)[:1], 10**6) for name, each in sizes.items())
    for container in job_containers(templates):
        for at in container.at["ResourceRequirements"].items:
            room = {"VCPU": most, "MEMORY": memory}.get(at["Type"].text or "")
            if room and (at["Value"].number or 0) > room:
                yield Problem.of(
                    at["Value"],
                    CONTAINER_FITS_NODE,
                    f"got {at['Value'].number}, and no type of the environments has more than {room}",
                    f"up to {room}",
                )


def _environment_types(templates: Templates) -> dict[str, int | None]:
    """Return the vCPUs of the types of all environments on EC2; empty if any type is not known."""
    names = []
    for environment in templates.of_type(COMPUTE_ENVIRONMENT):
        resources = environment["ComputeResources"]
        if (resources["Type"].text or "").startswith("FARGATE"):
            continue
        if not resources["InstanceTypes"].items:
            return {}
        names += resources["InstanceTypes"].items
    sizes = {str(each.text): _vcpus(each.text or "") for each in names}
    return {} if None in sizes.values() else sizes


def nodes_of_jobs_fit(templates: Templates) -> Iterator[Problem]:
    """Find multi-node jobs with more nodes than environments of one type, which the catalogue lacks, can hold."""
    sizes = _environment_types(templates)
    if len(sizes) != 1:
        return
    (vcpus,) = sizes.values()
    limits = [each["ComputeResources"]["MaxvCpus"].number for each in templates.of_type(COMPUTE_ENVIRONMENT)]
    if None in limits:
        return
    room = max(each or 0 for each in limits) // (vcpus or 1)
    for job in templates.of_type(JOB_DEFINITION):
        count = job["NodeProperties"]["NumNodes"]
        if (count.number or 0) > room:
            yield Problem.of(
                count,
                NODES.code,
                f"got {count.number}, and the environments hold {room} nodes",
                f"up to {room}",
            )


def gpus_are_there(templates: Templates) -> Iterator[Problem]:
    """Find jobs with more GPUs than their node, and GPU nodes with an image that has no driver for them."""
    for container in job_containers(templates):
        most = max((machine.gpus for machine in container.machines), default=0)
        for at in container.at["ResourceRequirements"].items:
            if at["Type"].text == "GPU" and most and (at["Value"].number or 0) > most:
                yield Problem.of(
                    at["Value"],
                    CONTAINER_FITS_NODE,
                    f"got {at['Value'].number}, and {container.machines[0].name} has {most} GPUs",
                    f"up to {most}",
                )
    for nodes in nodes_of(templates):
        for each in (
            nodes.settings["Ec2Configuration"].items
            if nodes.types and all(machine.gpus for machine in nodes.types)
            else ()
        ):
            kind, images = (
                each["ImageType"],
                (each["ImageIdOverride"], nodes.data["ImageId"], nodes.settings["ImageId"]),
            )
            if (
                kind.text is not None
                and not kind.text.endswith("_NVIDIA")
                and all(image.missing for image in images)
            ):
                yield Problem.of(
                    kind,
                    IMAGE_WITH_DRIVER,
                    f"got {kind.text}, whose image has no driver for the GPUs of {nodes.types[0].name}",
                    "ECS_AL2023_NVIDIA",
                )


def image_types_can_be_made(templates: Templates) -> Iterator[Problem]:
    """Find image types that AWS Batch does not have, or takes for no new environment."""
    known = {
        f"{kind}_{system}{gpu}"
        for kind in ("ECS", "EKS")
        for system in ("AL2", "AL2023")
        for gpu in ("", "_NVIDIA")
    }
    for environment in templates.of_type(COMPUTE_ENVIRONMENT):
        for each in environment["ComputeResources"]["Ec2Configuration"].items:
            kind = each["ImageType"]
            if kind.text is not None and (
                kind.text not in known
                or (kind.text.startswith("ECS_AL2") and not kind.text.startswith("ECS_AL2023"))
            ):
                yield Problem.of(
                    kind,
                    IMAGE_WITH_DRIVER,
                    f"got {quote(kind.text)}, for which AWS Batch makes no new environment",
                    "ECS_AL2023 or ECS_AL2023_NVIDIA",
                )


def environments_have_one_architecture(templates: Templates) -> Iterator[Problem]:
    """Find environments with Arm and x86 instance types."""
    for environment in templates.of_type(COMPUTE_ENVIRONMENT):
        types = environment["ComputeResources"]["InstanceTypes"]
        kinds = {bool(_ARM.match(each.text)) for each in types.items if each.text and "." in each.text}
        if len(kinds) > 1:
            yield Problem.of(
                types,
                TYPE_OF_THE_TEMPLATE,
                "Arm and x86 instance types, of which AWS Batch takes one kind",
                "types of one architecture",
            )


def neuron_jobs_are_on_neuron_nodes(templates: Templates) -> Iterator[Problem]:
    """Find environments that start nodes without Neuron devices for jobs that need them."""
    needing = [
        each
        for each in job_containers(templates)
        if any(
            "/dev/neuron" in (at["HostPath"].text or "") for at in each.at["LinuxParameters"]["Devices"].items
        )
    ]
    for environment in templates.of_type(COMPUTE_ENVIRONMENT):
        types = environment["ComputeResources"]["InstanceTypes"].items
        neuron = [each for each in types if re.match(r"(?:trn|inf)\d", each.text or "")]
        for each in types if neuron and needing else ():
            if each.text and "." in each.text and each not in neuron:
                yield Problem.of(
                    each,
                    TYPE_OF_THE_JOB,
                    f"got {each.text}, which has no Neuron device for the jobs of its queue",
                    "types with Neuron devices",
                )


def tiers_run_multi_node_jobs(templates: Templates) -> Iterator[Problem]:
    """Find queues of multi-node jobs with environments that do not run them, or two that take one reservation."""
    several = any(not job["NodeProperties"].missing for job in templates.of_type(JOB_DEFINITION))
    by_owner = {nodes.owner: nodes for nodes in nodes_of(templates)}
    for queue in templates.of_type(QUEUE):
        behind = environments_of(queue) or []
        kinds = [each["ComputeResources"]["Type"].text for each in behind]
        if (
            queue["JobQueueType"].text
            and "FARGATE" in str(queue["JobQueueType"].text)
            and kinds
            and "FARGATE" not in str(kinds)
        ):
            yield Problem.of(
                queue["JobQueueType"],
                ONE_KIND_OF_ENVIRONMENT,
                f"got {queue['JobQueueType'].text} for environments on EC2",
                "ECS",
            )
        for each in behind if several else ():
            if each["Type"].text == "UNMANAGED":
                yield Problem.of(
                    each["Type"],
                    NO_SPOT_NODES,
                    "an unmanaged environment, which takes no multi-node jobs",
                    "MANAGED",
                )
        launched = [by_owner[each].template for each in behind if each in by_owner]
        for each in behind:
            nodes = by_owner.get(each)
            template = nodes.template if nodes else None
            targeted = nodes is not None and not nodes.target["CapacityReservationId"].missing
            if nodes is not None and template is not None and targeted and launched.count(template) > 1:
                yield Problem.of(
                    nodes.settings["LaunchTemplate"],
                    RESERVATION_FITS_NODES,
                    f"two environments of {queue.logical_id} start nodes into one reservation",
                    "a launch template of its own",
                )


def reservations_are_used(templates: Templates) -> Iterator[Problem]:
    """Find reservations of a template that its nodes do not start in, and placement that differs from theirs."""
    nodes = [each for each in nodes_of(templates) if each.template is not None or each.in_batch]
    for reservation in templates.of_type(_RESERVATION):
        platform = reservation["InstancePlatform"]
        users = [each for each in nodes if each.target["CapacityReservationId"].target is reservation]
        unknown = any(
            isinstance(each.data["CapacityReservationSpecification"].value, Unknown)
            or isinstance(each.target.value, Unknown)
            for each in nodes
        )
        if platform.text and "Windows" in platform.text and nodes:
            yield Problem.of(
                platform,
                RESERVATION_FITS_NODES,
                f"got {platform.text}, and the nodes run Linux",
                "Linux/UNIX",
            )
        if nodes and not users and not unknown and reservation["InstanceMatchCriteria"].text == "targeted":
            yield Problem.of(
                reservation["InstanceMatchCriteria"],
                RESERVATION_FITS_NODES,
                "the reservation takes targeted launches only, and no launch template targets it",
                "CapacityReservationId in the launch template",
            )
        group = reservation["PlacementGroupArn"]
        for each in users:
            own = each.settings["PlacementGroup"]
            place = own if not own.missing else each.data["Placement"]["GroupName"]
            if not group.missing and (
                place.missing or (place.target is None and place.text is not None and group.targets)
            ):
                yield Problem.of(
                    place,
                    RESERVATION_FITS_NODES,
                    "the reservation was made in a placement group that the nodes do not start in",
                    group.pattern,
                )


def reservation_parameters_are_targeted(templates: Templates) -> Iterator[Problem]:
    """Find parameters that name a reservation which nothing in the template uses."""
    for template in templates.all:
        used = str(template.source.body.get("Resources")) + str(template.source.body.get("Conditions"))
        for name, parameter in template.parameters.items():
            named = re.fullmatch(r"cr-[0-9a-f]{8,17}", str(parameter.get("Default")))
            if named and f"'{name}'" not in used and f"${{{name}}}" not in used:
                for nodes in nodes_of(templates):
                    if nodes.owner.template is template:
                        yield Problem.of(
                            nodes.settings["LaunchTemplate"],
                            RESERVATION_FITS_NODES,
                            f"no launch template targets {name}, which is paid and stays empty",
                            f"!Ref {name}",
                        )
                        break


def overrides_keep_the_block(templates: Templates) -> Iterator[Problem]:
    """Find overrides of a launch template that take nodes out of their Capacity Block."""
    for nodes in nodes_of(templates):
        for each in nodes.settings["LaunchTemplate"]["Overrides"].items if nodes.in_block else ():
            other = each["LaunchTemplateId"].target
            market = other["LaunchTemplateData"]["InstanceMarketOptions"] if other is not None else None
            if market is not None and market.missing:
                yield Problem.of(
                    each["LaunchTemplateId"],
                    RESERVATION_FITS_NODES,
                    f"{market.resource.logical_id} starts nodes outside of the Capacity Block",
                    "a launch template with the block",
                )


def mounts_are_of_their_file_system(templates: Templates) -> Iterator[Problem]:
    """Find user data that mounts another file system, and jobs whose volumes are not where it is mounted."""
    own = [
        each for each in templates.of_type("AWS::FSx::FileSystem") if each["FileSystemType"].text == "LUSTRE"
    ]
    for nodes in nodes_of(templates) if own else ():
        data = nodes.data["UserData"]
        if _FS_ID.search(data.pattern):
            yield Problem.of(
                data,
                LUSTRE_IS_LET_IN,
                "the user data mounts a file system by a fixed ID, and not that of the template",
                "its DNSName",
            )
        mounted = re.search(r"mount -t lustre .*?(/[\w/-]+)\s*$", data.pattern, re.MULTILINE)
        for container in job_containers(templates) if mounted else ():
            paths = [each["Host"]["SourcePath"] for each in container.at["Volumes"].items]
            if (
                paths
                and all(each.text is not None for each in paths)
                and mounted
                and not any(str(each.text).startswith(mounted[1]) for each in paths)
            ):
                yield Problem.of(
                    paths[0],
                    MOUNTED_VOLUME,
                    f"got {paths[0].text}, and the nodes mount the file system at {mounted[1]}",
                    mounted[1],
                )


def logs_are_in_their_region(templates: Templates) -> Iterator[Problem]:
    """Find jobs that write to a log group of these templates in another Region."""
    for container in job_containers(templates):
        options = container.at["LogConfiguration"]["Options"]
        group, region = options["awslogs-group"].target, options["awslogs-region"].text
        own = container.at.resource.template.region
        if group is not None and region and own and region != own:
            yield Problem.of(
                options["awslogs-region"],
                ROLES_OF_A_JOB,
                f"got {region}, and {group.logical_id} is in {own}",
                own,
            )
        role = container.at["ExecutionRoleArn"]
        if container.at["Secrets"].items and role.missing:
            yield Problem.of(
                role,
                ROLES_OF_A_JOB,
                "secrets without an execution role, which AWS Batch refuses",
                "a role that may read them",
            )


def file_systems_have_keys_and_logs(templates: Templates) -> Iterator[Problem]:
    """Find keys of another Region, and log groups outside of the names that FSx writes to."""
    for resource in templates.of_type("AWS::FSx::FileSystem"):
        key, region = resource["KmsKeyId"], resource.template.region
        parts = key.pattern.split(":")
        if region and len(parts) > 5 and parts[3] not in {region, ""} and "$" not in parts[3]:  # noqa: PLR2004 - arn:aws:kms:Region:...
            yield Problem.of(
                key,
                FILE_SYSTEM_KEY,
                f"a key of {parts[3]} for a file system in {region}",
                f"a key of {region}",
            )
        for group in resource["LustreConfiguration"]["LogConfiguration"]["Destination"].targets:
            name = group["LogGroupName"]
            if group.type == "AWS::Logs::LogGroup" and (
                name.missing or (name.text is not None and not name.text.startswith("/aws/fsx/"))
            ):
                yield Problem.of(
                    name,
                    FILE_SYSTEM_KEY,
                    f"got {quote(name.text)}, where FSx does not write",
                    "a name that begins with /aws/fsx/",
                )


def machines_start_their_jobs(templates: Templates) -> Iterator[Problem]:
    """Find roles that may submit jobs, and not to the queues of these templates."""
    queues = list(templates.of_type(QUEUE))
    for role in templates.of_type(ROLE) if queues else ():
        for statement in statements_of(role):
            if not any(each.text == "batch:SubmitJob" for each in statement["Action"].one_or_more):
                continue
            places = statement["Resource"].one_or_more
            named = [
                each
                for each in places
                if ":job-queue/" in each.pattern or any(target.type == QUEUE for target in each.targets)
            ]
            wrong = [
                each
                for each in named
                if not each.targets and "*" not in (fixed_arn(each) or "*").rpartition(":")[2]
            ]
            if named and len(wrong) == len(named) and not any(queue["JobQueueName"].text for queue in queues):
                yield Problem.of(
                    wrong[0],
                    DRAIN_IS_ALLOWED,
                    f"got {wrong[0].pattern}, and the queue is {queues[0].logical_id}",
                    "the ARN of the queue",
                )
