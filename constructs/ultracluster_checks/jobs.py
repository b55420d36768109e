"""Job definitions: node ranges, room on the nodes that queues start, images and bounds."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.names.identifiers import ECR_DOMAIN
from ultracluster_catalog.neuron.neuron import XLA_CACHE_VARIABLE, XLA_COMPILER_FLAGS_VARIABLE
from ultracluster_checks.model.nodes import (
    COMPUTE_ENVIRONMENT,
    QUEUE,
    batch_nodes,
    environment_types,
    environments_of,
    has_all_environments,
    nodes_of,
)
from ultracluster_checks.model.template import Property, Templates
from ultracluster_checks.model.values import GAP
from ultracluster_checks.problem import Wrong, placed, rule
from ultracluster_spec.container import Container
from ultracluster_spec.findings import Severity, quote
from ultracluster_spec.job_definitions import (
    NO_SPOT_NODES,
    check_cache_address,
    check_image_region,
    check_image_tag,
    check_nodes_fit,
    check_spot,
)
from ultracluster_spec.record import RuleRecord

JOB_DEFINITION: Final = "AWS::Batch::JobDefinition"

# The account ID may be a reference.
_ECR: Final = re.compile(rf"(?:[0-9]{{12}}|\$\{{[^{{}}]*\}})\.{ECR_DOMAIN}/")
# Stated as a resource requirement, and before 2020 as a property.
_REQUESTS: Final = {"VCPU": "Vcpus", "MEMORY": "Memory"}


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


@rule()
def jobs_have_enough_nodes(templates: Templates) -> Iterator[Wrong]:
    """Find multi-node jobs with more nodes than any environment can hold."""
    held: dict[str, int] = {}
    for nodes in nodes_of(templates):
        if nodes.in_batch:
            types = environment_types(nodes.owner)
            if types is None or nodes.most is None:
                return  # an unknown size may be large enough
            vcpus = nodes.settings["MaxvCpus"].number or 0
            held |= {each.name: max(held.get(each.name, 0), vcpus // each.vcpus) for each in types}
    for job in (each["NodeProperties"] for each in templates.of_type(JOB_DEFINITION)):
        count, ranges = job["NumNodes"], job["NodeRangeProperties"].items
        kind = ranges[0]["Container"]["InstanceType"].text if ranges else None
        room = held.get(kind) if kind else max(held.values(), default=None)
        if count.number is not None and room is not None and has_all_environments(templates):
            yield from placed(count, check_nodes_fit(count.number, room))


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


@rule("UC6407", job_containers)
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
    """Find more GPUs than a node has."""
    gpus = [instance_type.gpus for instance_type in container.instance_types]
    if gpus and number > max(gpus):
        name = container.instance_types[0].name
        chips = all(instance_type.is_neuron for instance_type in container.instance_types)
        none = f"got {number} GPUs on {name}, which has none"
        some = f"got {number}, and {name} has {max(gpus)} GPUs"
        yield at, none if chips else some, "the devices from /dev/neuron0" if chips else f"up to {max(gpus)}"


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
    bare = GAP.sub("", name)
    if not image or "@" in image or (image.endswith("}") and ":" not in bare):
        return  # the image has a digest, or a tag known only at deployment
    registry, region = _ECR.match(image), container.at.resource.region
    tag = name.rpartition(":")[2] if ":" in bare else ""
    yield from placed(container.at["Image"], check_image_tag(image, tag))
    if registry and region:
        yield from placed(container.at["Image"], check_image_region(image, registry["region"], region))


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
        "UC6407",
        "A container requests no more than its node has.",
        remedy="Request what is left for containers; the kernel and the ECS agent need some of the memory.",
        source="pytorch/torchx 795: a trn1.32xlarge registers 507,821 of 524,288 MiB. For types without a measurement, 96 %.",
    ),
    RuleRecord(
        "UC6412",
        "A job definition for queues with a fair-share policy has a scheduling priority.",
        severity=Severity.WARNING,
        remedy="Set SchedulingPriority, or submit every job with schedulingPriorityOverride.",
        source="https://github.com/nextflow-io/nextflow/pull/3505, 2022-12-16; field case batch/jd-no-priority-fairshare-queue.",
    ),
    RuleRecord(
        "UC6415",
        "An environment starts the instance type that a job asks for.",
        remedy="Use the type of an environment of the queue.",
        source="AWS Batch user guide, multi-node parallel jobs, 2026-11: all instances of a job are of its instance type.",
    ),
)
