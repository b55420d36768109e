"""Jobs and the nodes of their queues: devices in place, an instance type that is started, and settings that the chips have."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_checks.jobs import JOB_DEFINITION, JobContainer, job_containers
from ultracluster_checks.joined.nodes import environments_of, nodes_of
from ultracluster_checks.joined.permissions import may, role_of
from ultracluster_checks.machines import COMPUTE_ENVIRONMENT
from ultracluster_checks.problem import Problem
from ultracluster_checks.shared_rules import (
    EVERY_EFA_DEVICE,
    MOUNTED_VOLUME,
    NODE_RANGES,
    ONE_KIND_OF_ENVIRONMENT,
    ROLES_OF_A_JOB,
    TYPE_OF_THE_JOB,
)
from ultracluster_checks.template import Property, Resource, Templates
from ultracluster_checks.values import Unknown
from ultracluster_rules.findings import quote
from ultracluster_rules.job_definitions import VARIABLE

_DEVICE: Final = re.compile(r"/dev/(?:neuron\d{1,3}|infiniband/uverbs\d{1,3})")
_RANGE: Final = re.compile(r"\d*:\d*|\d+")
_NEEDED: Final = {"READ", "WRITE"}
_OBJECTS: Final = ("s3:GetObject", "s3:PutObject")
_WRITTEN: Final = re.compile("(?i)cache|checkpoint|output|result|save")
_COMPILING: Final = {"NEURON_CC_FLAGS", "NEURON_PLATFORM_TARGET_OVERRIDE", "XLA_FLAGS"}
# Targets of the Neuron compiler: the family of chips, and the size of logical cores.
_COMPILED_FOR: Final = re.compile(r"--target[= ](inf[12]|trn[123]n?)")
_CORES: Final = re.compile(r"--l(?:nc|ogical-nc-config)[= ](\d+)")
_LOGICAL: Final = {"NEURON_LOGICAL_NC_CONFIG", "NEURON_RT_VIRTUAL_CORE_SIZE"}
_POSITIVE: Final = {"MALLOC_ARENA_MAX", "NEURON_RT_EXEC_TIMEOUT"}
_OTHER_HOST: Final = re.compile(r"(?:127\.|localhost|0\.0\.0\.0|::1)")
_MAIN: Final = "the address of the main node, set by the command of the job"
# Variables of multi-node jobs, values that separate their nodes, and the reason.
_BETWEEN_NODES: Final = (
    (
        {"FI_EFA_USE_DEVICE_RDMA"},
        re.compile("(?i)(?:0|false|off|no)$"),
        "which takes the direct path between chips and EFA away",
        "1",
    ),
    ({"MASTER_ADDR", "NEURON_RT_ROOT_COMM_ID"}, _OTHER_HOST, "which is another host on each node", _MAIN),
    (
        {"CCOM_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"},
        re.compile("(?:lo|docker0|ecs-eth0)$"),
        "an interface that does not reach other nodes",
        "eth0",
    ),
)


def devices_are_in_place(templates: Templates) -> Iterator[Problem]:
    """Find devices of nodes that a container maps read-only, or under another path."""
    for container in job_containers(templates):
        for device in container.at["LinuxParameters"]["Devices"].items:
            host, inside, rights = device["HostPath"], device["ContainerPath"], device["Permissions"]
            if not _DEVICE.fullmatch(host.text or ""):
                continue
            if inside.text not in {None, host.text}:
                yield Problem.of(
                    inside,
                    "UC6414",
                    f"got {inside.text} for {host.text}",
                    "the path that the device has on the node",
                )
            given = [each.text for each in rights.items]
            if rights.items and None not in given and not {str(each).upper() for each in given} >= _NEEDED:
                yield Problem.of(
                    rights,
                    "UC6414",
                    f"got {', '.join(map(str, given))} for {host.text}, which cannot be opened so",
                    "READ and WRITE",
                )


def efa_devices_are_at_the_nodes(templates: Templates) -> Iterator[Problem]:
    """Find EFA devices of containers that the launch templates of their nodes do not attach."""
    nodes = [each for each in nodes_of(templates) if each.in_batch]
    if not nodes or any(
        each.template is None or isinstance(each.data["NetworkInterfaces"].value, Unknown) for each in nodes
    ):
        return
    attached = {machine.name: 0 for each in nodes for machine in each.types}
    for each in nodes:
        for machine in each.types:
            attached[machine.name] = max(
                attached[machine.name], len(each.efa_interfaces) + len(each.unknown_interfaces)
            )
    for container in job_containers(templates):
        most = max((attached.get(machine.name, 0) for machine in container.machines), default=None)
        devices = container.at["LinuxParameters"]["Devices"].items
        asked = [
            each["HostPath"]
            for each in devices
            if (each["HostPath"].text or "").startswith("/dev/infiniband/uverbs")
        ]
        if (
            most is not None
            and attached.keys() & {machine.name for machine in container.machines}
            and len(asked) > most
        ):
            yield Problem.of(
                asked[most],
                EVERY_EFA_DEVICE,
                f"{len(asked)} EFA devices, and the nodes have {most} EFA interfaces: the container does not start",
                f"{most} devices, or as many EFA interfaces",
            )


def types_of_jobs_are_started(templates: Templates) -> Iterator[Problem]:
    """Find jobs of an instance type that no compute environment starts."""
    started: set[str] = set()
    environments = list(templates.of_type(COMPUTE_ENVIRONMENT))
    for environment in environments:
        names = environment["ComputeResources"]["InstanceTypes"]
        if not names.items or any(each.text is None or "." not in each.text for each in names.items):
            return  # families, or types known only at deployment
        started |= {str(each.text) for each in names.items}
    for job in templates.of_type(JOB_DEFINITION):
        for part in job["NodeProperties"]["NodeRangeProperties"].items:
            for at in (part["Container"]["InstanceType"], *part["InstanceTypes"].items):
                if at.text is not None and "." in at.text and started and at.text not in started:
                    yield Problem.of(
                        at,
                        TYPE_OF_THE_JOB,
                        f"got {quote(at.text)}, and the environments start {', '.join(sorted(started))}: the job never starts",
                        " or ".join(sorted(started)),
                    )


def node_ranges_can_be_read(templates: Templates) -> Iterator[Problem]:
    """Find node ranges and numbers of nodes that AWS Batch cannot read."""
    for job in templates.of_type(JOB_DEFINITION):
        whole = job["NodeProperties"]
        count = whole["NumNodes"]
        if count.number is not None and count.number < 1:
            yield Problem.of(count, NODE_RANGES, f"got {count.number} nodes", "1 or more")
        for part in whole["NodeRangeProperties"].items:
            text = part["TargetNodes"].text
            if text is None:
                continue
            first, _, last = text.partition(":")
            reversed_ = first.isdigit() and last.isdigit() and int(first[:9]) > int(last[:9])
            if not _RANGE.fullmatch(text) or reversed_:
                yield Problem.of(
                    part["TargetNodes"],
                    NODE_RANGES,
                    f"got {quote(text)}, which is no range of nodes",
                    "first:last",
                )


def container_variables_have_names(templates: Templates) -> Iterator[Problem]:
    """Find environment variables that AWS Batch sets itself, and names that are given twice with different values."""
    for container in job_containers(templates):
        seen: dict[str, Property] = {}
        for pair in container.at["Environment"].items:
            name = pair["Name"].text
            if name is None:
                continue
            if name.startswith("AWS_BATCH"):
                yield from (Problem(pair["Name"], finding) for finding in VARIABLE.check(name))
            first = seen.setdefault(name, pair["Value"])
            if first.text is not None and pair["Value"].text is not None and first.text != pair["Value"].text:
                yield Problem.of(
                    pair["Value"],
                    "UC6416",
                    f"{name} is given twice, as {quote(first.text)} and {quote(pair['Value'].text)}",
                    "one value",
                )


def environment_fits_the_chips(templates: Templates) -> Iterator[Problem]:
    """Find settings of EFA and the Neuron runtime that switch them off or that the chips do not have."""
    for container in job_containers(templates):
        for name, at in container.environment.items():
            text = at.text
            problem = _unfit(name, text, container) if text is not None else None
            if problem is not None:
                yield Problem.of(at, "UC6416", f"{name}: got {quote(text)}, {problem[0]}", problem[1])


def _unfit(name: str, text: str, container: JobContainer) -> tuple[str, str] | None:
    """Return the problem of a variable's value, and the allowed values."""
    if container.nodes is None or container.nodes > 1:
        for names, wrong, problem, allowed in _BETWEEN_NODES:
            if name in names and wrong.match(text):
                return problem, allowed
    if name in _POSITIVE and (not text.isdigit() or int(text[:9]) == 0):
        return "which is no positive number", "a number above 0"
    chips = [machine for machine in container.machines if machine.is_neuron]
    return _not_of(chips, name, text) if chips and len(chips) == len(container.machines) else None


def _not_of(chips: list[InstanceType], name: str, text: str) -> tuple[str, str] | None:
    """Return the requirement of a variable that the chips do not meet, and what they offer."""
    most = max(each.neuron_cores for each in chips)
    counted = {"NEURON_RT_NUM_CORES": range(1, most + 1), "NEURON_RT_VISIBLE_CORES": range(most)}.get(name)
    if counted and any(int(each[:9]) not in counted for each in re.findall(r"\d+", text)):
        return f"and a node has {most} cores", f"{counted[0]} to {counted[-1]}"
    target = _COMPILED_FOR.search(f"--target={text}" if name == "NEURON_PLATFORM_TARGET_OVERRIDE" else text)
    if target and name in _COMPILING and not any(each.name.startswith(target[1][:4]) for each in chips):
        return f"and the chips are those of {chips[0].name}", chips[0].name.partition(".")[0]
    cores = _CORES.search(text) if name in _COMPILING else None
    size = cores[1] if cores else text if name in _LOGICAL else None
    grouped = all(each.neuron_cores != each.logical_neuron_cores for each in chips)
    if size is not None and size not in ({"1", "2"} if grouped else {"1"}):
        return "a size of logical cores that the chips do not have", "1 or 2" if grouped else "1"
    return None


def mounts_are_of_a_volume(templates: Templates) -> Iterator[Problem]:
    """Find mount points without their volume, which RegisterJobDefinition refuses."""
    for container in job_containers(templates):
        volumes = container.at["Volumes"]
        names = {each["Name"].text for each in volumes.items}
        if isinstance(volumes.value, Unknown) or None in names:
            continue
        for point in container.at["MountPoints"].items:
            if point["SourceVolume"].text is not None and point["SourceVolume"].text not in names:
                yield Problem.of(
                    point["SourceVolume"],
                    MOUNTED_VOLUME,
                    f"got {quote(point['SourceVolume'].text)}, which is no volume of the container",
                    ", ".join(sorted(map(str, names))) or "a volume",
                )


def queues_have_environments_of_one_kind(templates: Templates) -> Iterator[Problem]:
    """Find queues over EC2 and Fargate at once, and multi-node jobs for Fargate."""
    for queue in templates.of_type("AWS::Batch::JobQueue"):
        kinds = {each["ComputeResources"]["Type"].text for each in environments_of(queue) or ()}
        if None not in kinds and len({str(kind).partition("_")[0] == "FARGATE" for kind in kinds}) > 1:
            yield Problem.of(
                queue["ComputeEnvironmentOrder"],
                ONE_KIND_OF_ENVIRONMENT,
                "environments on EC2 and on Fargate, which one queue cannot have",
                "one kind",
            )
    for job in templates.of_type(JOB_DEFINITION):
        platforms = [each.text for each in job["PlatformCapabilities"].items]
        if not job["NodeProperties"].missing and "FARGATE" in platforms:
            yield Problem.of(
                job["PlatformCapabilities"],
                ONE_KIND_OF_ENVIRONMENT,
                "a multi-node job on Fargate, which does not run them",
                "EC2",
            )


def roles_of_jobs_may_do_what_they_need(templates: Templates) -> Iterator[Problem]:
    """Find jobs whose role may not use the buckets of their environment, and execution roles that may not start them."""
    for container in job_containers(templates):
        at, role = container.at["JobRoleArn"], role_of(container.at["JobRoleArn"])
        for name, value in container.environment.items():
            actions = _OBJECTS[1:] if _WRITTEN.search(name) else _OBJECTS
            for on in _buckets(value):
                if (at.missing and not isinstance(on, str)) or (
                    role is not None and not any(may(role, each, on) for each in actions)
                ):
                    yield Problem.of(
                        value if role is not None else at,
                        ROLES_OF_A_JOB,
                        f"{name} names {on if isinstance(on, str) else on.logical_id}, and {role.logical_id if role else 'a job without a role'} "
                        f"does not allow {' or '.join(actions)} on its objects",
                        " and ".join(_OBJECTS) + " on its objects",
                    )
        execution = role_of(container.at["ExecutionRoleArn"])
        lacking = (
            []
            if execution is None
            else [each for each, on in _needed(container) if not may(execution, each, on)]
        )
        if execution is not None and lacking:
            yield Problem.of(
                container.at["ExecutionRoleArn"],
                ROLES_OF_A_JOB,
                f"{execution.logical_id} does not allow {', '.join(lacking)}, and the container does not start",
                ", ".join(lacking),
            )


def _buckets(value: Property) -> list[Resource | str]:
    if not value.pattern.startswith("s3://"):
        return []
    named = value.pattern[5:].partition("/")[0]
    known = [each for each in value.targets if each.type == "AWS::S3::Bucket"]
    return [*known] if known else [f"{named}/*"] if named and "$" not in named else []


def _needed(container: JobContainer) -> list[tuple[str, Resource | str | None]]:
    """Return what the execution role of a container does before it runs, and on what."""
    # https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task_execution_IAM_role.html (2026-11)
    needed: list[tuple[str, Resource | str | None]] = []
    image, log = container.at["Image"], container.at["LogConfiguration"]
    if ".dkr.ecr." in image.pattern:
        name = image.pattern.partition("/")[2].partition("@")[0].partition(":")[0]
        own = next((each for each in image.targets if each.type == "AWS::ECR::Repository"), None)
        on = own or (f"repository/{name}" if name and "$" not in name else None)
        needed += [
            ("ecr:GetAuthorizationToken", None),
            ("ecr:BatchGetImage", on),
            ("ecr:GetDownloadUrlForLayer", on),
        ]
    if log["LogDriver"].text == "awslogs":
        group = log["Options"]["awslogs-group"]
        of = group.target if group.target is not None and group.target.type == "AWS::Logs::LogGroup" else None
        needed += [
            (each, of or (f"log-group:{group.text}" if group.text else None))
            for each in ("logs:CreateLogStream", "logs:PutLogEvents")
        ]
    for secret in container.at["Secrets"].items:
        source = secret["ValueFrom"]
        if (
            "AWS::SecretsManager::Secret" in {each.type for each in source.targets}
            or ":secretsmanager:" in source.pattern
        ):
            needed.append(("secretsmanager:GetSecretValue", None))
    return needed
