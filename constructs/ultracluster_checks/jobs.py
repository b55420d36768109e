"""Job definitions: node ranges, room on the nodes that queues start, images and bounds."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ultracluster_catalog.limits.queues import MOST_NODES
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.names.identifiers import ECR_DOMAIN
from ultracluster_catalog.neuron.neuron import XLA_CACHE_VARIABLE, XLA_COMPILER_FLAGS_VARIABLE
from ultracluster_checks.codes import ROOM
from ultracluster_checks.model.nodes import (
    COMPUTE_ENVIRONMENT,
    QUEUE,
    batch_nodes,
    environment_types,
    environments_of,
    has_all_environments,
)
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.problem import Wrong, placed, rule
from ultracluster_spec.container import Container
from ultracluster_spec.findings import Severity, quote
from ultracluster_spec.job_definitions import (
    ATTEMPTS,
    NO_SPOT_NODES,
    check_cache_address,
    check_image_region,
    check_image_tag,
    check_nodes_fit,
    check_spot,
    check_timeout_seconds,
)
from ultracluster_spec.record import RuleRecord

JOB_DEFINITION: Final = "AWS::Batch::JobDefinition"

_RANGE: Final = re.compile(r"(\d*):(\d*)|(\d+)")
# The account ID may be a reference.
_ECR: Final = re.compile(rf"(?:[0-9]{{12}}|\$\{{[^{{}}]*\}})\.{ECR_DOMAIN}/")
# Stated as a resource requirement, and before 2020 as a property.
_REQUESTS: Final = {"VCPU": "Vcpus", "MEMORY": "Memory"}
_MOST_RANGES: Final = 5  # https://github.com/meta-pytorch/torchx/issues/700 (2023-03)
_GAP: Final = re.compile(r"\$\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class JobContainer:
    """One container of a job definition, with its number of nodes (1 without nodes) and machines, if known."""

    at: Property
    nodes: int | None
    instance_types: tuple[InstanceType, ...]

    @property
    def devices(self) -> list[Property]:
        """Paths of the devices of the node that it maps."""
        return [device["HostPath"] for device in self.at["LinuxParameters"]["Devices"].items]

    @property
    def environment(self) -> dict[str, Property]:
        """Environment variables."""
        pairs = self.at["Environment"].items
        return {str(pair["Name"].text): pair["Value"] for pair in pairs if pair["Name"].text}

    @property
    def value(self) -> Container:
        """What the rules about containers judge."""
        devices, mounts = self.at["LinuxParameters"]["Devices"], self.at["MountPoints"]
        folders = {each["ContainerPath"].text: each["ReadOnly"].flag is True for each in mounts.items}
        known = mounts.missing or isinstance(mounts.value, list)
        return Container(
            environment={name: at.text for name, at in self.environment.items()},
            node_count=self.nodes,
            instance_types=self.instance_types,
            devices=tuple(each.text for each in self.devices)
            if devices.missing or isinstance(devices.value, list)
            else None,
            privileged=not self.at["Privileged"].off,
            command=tuple(self.at["Command"].texts),
            ulimits={str(each["Name"].text): each["SoftLimit"].number for each in self.at["Ulimits"].items},
            folders={path: is_read_only for path, is_read_only in folders.items() if path is not None}
            if known and None not in folders
            else None,
        )


@lru_cache(maxsize=1)
def job_containers(templates: Templates) -> tuple[JobContainer, ...]:
    """Return the containers of all job definitions on EC2."""
    behind = [environment_types(nodes.owner) for nodes in batch_nodes(templates)]
    known = [instance_type for instance_types in behind for instance_type in instance_types or ()]
    # Nodes of any type join an unmanaged environment.
    joined = any(each["Type"].text == "UNMANAGED" for each in templates.of_type(COMPUTE_ENVIRONMENT))
    complete = None not in behind and has_all_environments(templates) and not joined
    everywhere = tuple(dict.fromkeys(known)) if complete else ()
    found = []
    for job in templates.of_type(JOB_DEFINITION):
        if "FARGATE" in job["PlatformCapabilities"].texts:
            continue
        whole = job["NodeProperties"]
        if not job["ContainerProperties"].missing:
            found.append(JobContainer(job["ContainerProperties"], 1, everywhere))
        for part in whole["NodeRangeProperties"].items:
            own = part["InstanceTypes"].texts
            name = part["Container"]["InstanceType"].text or (own[0] if len(own) == 1 else None)
            instance_types = everywhere if name is None else tuple(filter(None, [INSTANCE_TYPES.get(name)]))
            if not part["Container"].missing:
                found.append(JobContainer(part["Container"], whole["NumNodes"].number, instance_types))
    return tuple(found)


@rule("UC6418", JOB_DEFINITION)
def properties_are_of_their_kind(job: Resource) -> Iterator[Wrong]:
    """Find properties of another type of job, with which AWS Batch refuses a definition."""
    kind = job["Type"].text
    if kind == "container" and not job["NodeProperties"].missing:
        yield job["NodeProperties"], "node properties of a job of type container", "Type: multinode"
    if kind == "multinode" and not job["ContainerProperties"].missing:
        yield job["ContainerProperties"], "container properties of a job of type multinode", "NodeProperties"


@rule("UC6404", JOB_DEFINITION)
def node_ranges_can_be_read(job: Resource) -> Iterator[Wrong]:
    """Find numbers of nodes and node ranges that AWS Batch cannot read, and too many of them."""
    at, ranges = job["NodeProperties"]["NumNodes"], job["NodeProperties"]["NodeRangeProperties"]
    if at.number is not None and at.number < 1:
        yield at, f"got {at.number} nodes", "1 or more"
    for part in (each["TargetNodes"] for each in ranges.items):
        if part.text is not None and not _nodes_of(part.text, MOST_NODES):
            yield part, f"got {quote(part.text)}, which is no range of nodes", "first:last"
    if len(ranges.items) > _MOST_RANGES:
        got = f"got {len(ranges.items)} ranges, which AWS Batch refuses"
        yield ranges, got, f"up to {_MOST_RANGES} ranges"


@rule("UC6404", JOB_DEFINITION)
def node_ranges_cover_every_node(job: Resource) -> Iterator[Wrong]:
    """Find nodes of multi-node jobs outside of all ranges, and a main node or range beyond the nodes."""
    main, ranges = job["NodeProperties"]["MainNode"], job["NodeProperties"]["NodeRangeProperties"]
    count, parts = job["NodeProperties"]["NumNodes"].number, [each["TargetNodes"] for each in ranges.items]
    if count is None or not 1 <= count <= MOST_NODES:
        return
    if main.number is not None and not 0 <= main.number < count:
        yield main, f"got {main.number} of {count} nodes", f"0 to {count - 1}"
    parsed = [_nodes_of(part.text or "", count) for part in parts]
    if not parts or None in parsed:
        return
    for part, nodes in zip(parts, parsed, strict=True):
        if nodes and nodes[-1] >= count:
            yield part, f"got {quote(part.text)}, and the job has {count} nodes", f"0 to {count - 1}"
    if missing := sorted(set(range(count)) - {node for nodes in parsed for node in nodes or ()}):
        named = f"{', '.join(map(str, missing[:5]))}{' and others' if missing[5:] else ''}"
        yield ranges, f"no range has node {named} of {count}", f"0:{count - 1}"


def _nodes_of(text: str, count: int) -> range | None:
    found = _RANGE.fullmatch(text)
    if found is None:
        return None
    if found[3]:
        return range(int(found[3][:9]), int(found[3][:9]) + 1)
    return range(int(found[1][:9] or 0), int(found[2][:9] or count - 1) + 1)


@rule()
def jobs_have_enough_nodes(templates: Templates) -> Iterator[Wrong]:
    """Find multi-node jobs with more nodes than any environment can hold."""
    held: dict[str, int] = {}
    if not has_all_environments(templates):
        return
    for resources in (each["ComputeResources"] for each in templates.of_type(COMPUTE_ENVIRONMENT)):
        most, sizes = resources["MaxvCpus"].number, _sizes(resources)
        if (resources["Type"].text or "").startswith("FARGATE"):
            continue
        if not sizes or most is None or None in sizes.values():
            return  # an unknown size may be large enough
        for name, vcpus in sizes.items():
            held[name] = max(held.get(name, 0), most // (vcpus or 1))
    for job in (each["NodeProperties"] for each in templates.of_type(JOB_DEFINITION)):
        containers = [part["Container"] for part in job["NodeRangeProperties"].items]
        asked = [
            each["Value"].number or 0
            for container in containers
            for each in container["ResourceRequirements"].items
            if each["Type"].text == "GPU"
        ]
        gpus = {name: INSTANCE_TYPES[name].gpus for name in held if name in INSTANCE_TYPES}
        enough = max(asked, default=0)
        able = [most for name, most in held.items() if (gpus.get(name) or 0) >= enough or name not in gpus]
        kind, count = containers[0]["InstanceType"].text if containers else None, job["NumNodes"]
        room = held.get(kind) if kind else max(able or held.values(), default=None)
        if count.number is not None and room is not None and count.number > room:
            yield from placed(count, check_nodes_fit(count.number, room))


def _sizes(resources: Property) -> dict[str, int | None]:
    """Return the vCPUs of each type of an environment; None for those that are unknown."""
    return {str(name): _vcpus(name or "") for name in resources["InstanceTypes"].texts}


def _vcpus(name: str) -> int | None:
    """Return the vCPUs of a type; None if the catalogue does not have it."""
    return INSTANCE_TYPES[name].vcpus if name in INSTANCE_TYPES else None


@rule(NO_SPOT_NODES)
def multi_node_jobs_have_their_environments(templates: Templates) -> Iterator[Wrong]:
    """Find multi-node jobs on Spot only, and behind queues with unmanaged environments, which do not run them."""
    jobs = [each["NodeProperties"] for each in templates.of_type(JOB_DEFINITION)]
    jobs = [each for each in jobs if not each.missing]
    kinds = {nodes.settings["Type"].text for nodes in batch_nodes(templates)}
    if kinds == {"SPOT"} and has_all_environments(templates):
        for at in jobs:
            yield from placed(at, check_spot(spot=True))
    for queue in templates.of_type(QUEUE) if jobs else ():
        for kind in (each["Type"] for each in environments_of(queue) or ()):
            if kind.text == "UNMANAGED":
                yield kind, "an unmanaged environment, which takes no multi-node jobs", "MANAGED"


@rule(ROOM, job_containers)
def containers_fit_their_node(container: JobContainer) -> Iterator[Wrong]:
    """Find containers that require more than any of their nodes has."""
    instance_types = container.instance_types
    asked = [(str(each["Type"].text), each["Value"]) for each in container.at["ResourceRequirements"].items]
    asked += [(kind, container.at[older]) for kind, older in _REQUESTS.items()]
    for kind, at in asked:
        number = at.number or 0
        if kind == "GPU":
            yield from _asks_for_gpus(container, at, number)
        elif kind in _REQUESTS and instance_types:
            unit = "vCPUs" if kind == "VCPU" else "MiB"
            room = [
                instance_type.vcpus if kind == "VCPU" else instance_type.container_memory_mib
                for instance_type in instance_types
            ]
            if number > (most := max(room)):
                has = f"{instance_types[room.index(most)].name} has {most} {unit} for containers"
                yield at, f"got {number}, and {has}, so that the job never starts", f"up to {most} {unit}"


def _asks_for_gpus(container: JobContainer, at: Property, number: int) -> Iterator[Wrong]:
    """Find more GPUs than a node has, and fewer in a job that leaves nothing for others on its nodes."""
    gpus = [instance_type.gpus for instance_type in container.instance_types]
    if gpus and number > max(gpus):
        name, chips = (
            container.instance_types[0].name,
            all(instance_type.is_neuron for instance_type in container.instance_types),
        )
        none = f"got {number} GPUs on {name}, which has none"
        some = f"got {number}, and {name} has {max(gpus)} GPUs"
        yield at, none if chips else some, "the devices from /dev/neuron0" if chips else f"up to {max(gpus)}"
    elif gpus and 0 < number < min(gpus) and (container.nodes or 2) > 1:
        got = f"got {number} of {min(gpus)}: the others of each node stay idle, since it runs one container of the job"
        yield at, got, str(min(gpus))


@rule("UC6413", job_containers)
def containers_request_vcpus_and_memory(container: JobContainer) -> Iterator[Wrong]:
    """Find containers without vCPUs or without memory, which RegisterJobDefinition refuses."""
    requested = container.at["ResourceRequirements"]
    kinds = [each["Type"].text for each in requested.items]
    missing = [kind for kind, older in _REQUESTS.items() if kind not in kinds and container.at[older].missing]
    if missing and not requested.unknown and None not in kinds:
        got = f"no {' and no '.join(missing)}, which AWS Batch needs to place the job"
        yield requested, got, " and ".join(_REQUESTS)


@rule("UC6415")
def types_of_jobs_are_started(templates: Templates) -> Iterator[Wrong]:
    """Find jobs of an instance type that no environment starts, and environments that start others for Neuron jobs."""
    types = [each["ComputeResources"]["InstanceTypes"] for each in templates.of_type(COMPUTE_ENVIRONMENT)]
    devices = [str(at.text) for each in job_containers(templates) for at in each.devices]
    needing = any(path.startswith("/dev/neuron") for path in devices)
    for names in [each.items for each in types if needing]:
        neuron = [each for each in names if re.match(r"(?:trn|inf)\d", each.text or "")]
        for each in names if neuron else ():
            if each.text and "." in each.text and each not in neuron:
                got = f"got {each.text}, which has no Neuron device for the jobs of its queue"
                yield each, got, "types with Neuron devices"
    named = all(each.items and all("." in (name or "") for name in each.texts) for each in types)
    if not named or not has_all_environments(templates):
        return  # families, or types known only at deployment
    started = {str(name) for each in types for name in each.texts}
    for job in templates.of_type(JOB_DEFINITION):
        for part in job["NodeProperties"]["NodeRangeProperties"].items:
            for at in (part["Container"]["InstanceType"], *part["InstanceTypes"].items):
                if at.text is not None and "." in at.text and started and at.text not in started:
                    known = sorted(started)
                    got = f"got {quote(at.text)}, and the environments start {', '.join(known)}: the job never starts"
                    yield at, got, " or ".join(known)


@rule("", job_containers)
def images_stay_the_same(container: JobContainer) -> Iterator[Wrong]:
    """Find images with a mutable tag, images from another Region, and compile caches set by flag and by variable."""
    flags = container.environment.get(XLA_COMPILER_FLAGS_VARIABLE)
    if flags is not None and XLA_CACHE_VARIABLE in container.environment:
        yield from placed(flags, check_cache_address(flags.pattern))
    image = container.at["Image"].pattern
    name = image.rsplit("/", 1)[-1]
    bare = _GAP.sub("", name)
    if not image or "@" in image or (image.endswith("}") and ":" not in bare):
        return  # the image has a digest, or a tag known only at deployment
    registry, region = _ECR.match(image), container.at.resource.region
    tag = name.rpartition(":")[2] if ":" in bare else ""
    yield from placed(container.at["Image"], check_image_tag(image, tag))
    if registry and region:
        yield from placed(container.at["Image"], check_image_region(image, registry["region"], region))


@rule("", JOB_DEFINITION)
def attempts_and_timeouts_are_in_bounds(job: Resource) -> Iterator[Wrong]:
    """Find retry attempts and timeouts that AWS Batch rejects."""
    attempts, seconds = job["RetryStrategy"]["Attempts"], job["Timeout"]["AttemptDurationSeconds"]
    yield from placed(attempts, ATTEMPTS.check(attempts.number) if attempts.number is not None else ())
    yield from placed(seconds, check_timeout_seconds(seconds.number) if seconds.number is not None else ())


@rule("UC6412")
def fair_shares_have_priorities(templates: Templates) -> Iterator[Wrong]:
    """Find job definitions without a priority where every queue has a fair-share policy."""
    policies = [queue["SchedulingPolicyArn"] for queue in templates.of_type(QUEUE)]
    shared = policies and not any(each.missing or each.unknown for each in policies)
    for definition in templates.of_type(JOB_DEFINITION) if shared else ():
        if definition["SchedulingPriority"].missing:
            got = "AWS Batch refuses each submission to a queue with a fair-share policy that does not override the priority"
            yield definition["SchedulingPriority"], got, "0 to 9,999"


RECORDS: Final = (
    RuleRecord(
        "UC6404",
        "The node ranges of a job have each of its nodes, and the main node is one of them.",
        remedy="Write 0: for all nodes. Ranges may overlap; the narrower one wins.",
        source="AWS Batch API reference, NodeRangeProperty (botocore 1.44.5).",
    ),
    RuleRecord(
        "UC6412",
        "A job definition for queues with a fair-share policy has a scheduling priority.",
        severity=Severity.WARNING,
        remedy="Set SchedulingPriority, or submit every job with schedulingPriorityOverride.",
        source="https://github.com/nextflow-io/nextflow/pull/3505, 2022-12-16; field case batch/jd-no-priority-fairshare-queue.",
    ),
    RuleRecord(
        "UC6413",
        "A container of a job requests vCPUs and memory.",
        remedy="Add a VCPU and a MEMORY requirement.",
        source="https://github.com/ASFHyP3/hyp3/pull/586, 2021-09-22; field cases batch/jd-no-vcpu and batch/jd-no-memory.",
    ),
    RuleRecord(
        "UC6415",
        "An environment starts the instance type that a job asks for.",
        remedy="Use the type of an environment of the queue.",
        source="AWS Batch user guide, multi-node parallel jobs, 2026-11: all instances of a job are of its instance type.",
    ),
    RuleRecord(
        "UC6418",
        "A job definition has the properties of its type.",
        remedy="Use NodeProperties with the type multinode, and ContainerProperties with the type container.",
        source="AWS Batch API reference, RegisterJobDefinition, 2026-11.",
    ),
)
