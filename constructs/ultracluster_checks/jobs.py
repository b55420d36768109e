"""Job definitions: node ranges, resource requirements, images and environment variables."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ultracluster_catalog.limits.queues import MOST_NODES
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.names.identifiers import ECR_DOMAIN
from ultracluster_catalog.neuron.neuron import XLA_CACHE_VARIABLE, XLA_COMPILER_FLAGS_VARIABLE
from ultracluster_checks.environments import QUEUE
from ultracluster_checks.machines import compute_environments, environment_types
from ultracluster_checks.problem import Problem
from ultracluster_checks.shared_rules import CONTAINER_FITS_NODE, NODE_RANGES
from ultracluster_checks.template import Property, Templates
from ultracluster_checks.values import Unknown
from ultracluster_rules.findings import quote
from ultracluster_rules.job_definitions import (
    ATTEMPTS,
    check_cache_address,
    check_image_region,
    check_image_tag,
    check_nodes_fit,
    check_spot,
    check_timeout_seconds,
)

JOB_DEFINITION: Final = "AWS::Batch::JobDefinition"

_RANGE: Final = re.compile(r"(\d*):(\d*)|(\d+)")
_ECR: Final = re.compile(
    rf"(?:[0-9]{{12}}|\$\{{[^{{}}]*\}})\.{ECR_DOMAIN}/"
)  # the account ID may be a reference
_REQUESTS: Final = {
    "VCPU": "Vcpus",
    "MEMORY": "Memory",
}  # stated as a resource requirement, and before 2020 as a property
_MOST_RANGES: Final = 5  # https://github.com/meta-pytorch/torchx/issues/700 (2023-03)
_GAP: Final = re.compile(r"\$\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class JobContainer:
    """One container of a job definition.

    Attributes:
        at: Its properties.
        nodes: Nodes of the job; 1 for a job without nodes. None if not known.
        machines: Types of the nodes that it may run on; empty if not known.
    """

    at: Property
    nodes: int | None
    machines: tuple[InstanceType, ...]

    @property
    def environment(self) -> dict[str, Property]:
        """Environment variables."""
        pairs = self.at["Environment"].items
        return {str(pair["Name"].text): pair["Value"] for pair in pairs if pair["Name"].text}


def job_containers(templates: Templates) -> Iterator[JobContainer]:
    """Return the containers of all job definitions on EC2."""
    behind = [environment_types(environment) for environment, _ in compute_environments(templates)]
    known = [machine for machines in behind for machine in machines or ()]
    everywhere = tuple(dict.fromkeys(known)) if None not in behind else ()
    for job in templates.of_type(JOB_DEFINITION):
        if any(each.text == "FARGATE" for each in job["PlatformCapabilities"].items):
            continue
        whole = job["NodeProperties"]
        if not job["ContainerProperties"].missing:
            yield JobContainer(job["ContainerProperties"], 1, everywhere)
        for part in whole["NodeRangeProperties"].items:
            at = part["Container"]
            if at.missing:
                continue
            name = at["InstanceType"].text
            own = part["InstanceTypes"].items
            if name is None and len(own) == 1:
                name = own[0].text
            machines = everywhere if name is None else tuple(filter(None, [INSTANCE_TYPES.get(name)]))
            yield JobContainer(at, whole["NumNodes"].number, machines)


def node_ranges_cover_every_node(templates: Templates) -> Iterator[Problem]:
    """Find multi-node jobs with too many ranges, a node outside all ranges, or a main node out of range."""
    for job in templates.of_type(JOB_DEFINITION):
        whole = job["NodeProperties"]
        count, main = whole["NumNodes"].number, whole["MainNode"].number
        if count is None or not 1 <= count <= MOST_NODES:
            continue
        if main is not None and not 0 <= main < count:
            yield Problem.of(
                whole["MainNode"], NODE_RANGES, f"got {main} of {count} nodes", f"0 to {count - 1}"
            )
        covered: set[int] = set()
        ranges = whole["NodeRangeProperties"].items
        if len(ranges) > _MOST_RANGES:
            yield Problem.of(
                whole["NodeRangeProperties"],
                NODE_RANGES,
                f"got {len(ranges)} ranges, which AWS Batch refuses",
                f"up to {_MOST_RANGES} ranges",
            )
        parsed = [_nodes_of(part["TargetNodes"].text, count) for part in ranges]
        if not ranges or None in parsed:
            continue
        for part, nodes in zip(ranges, parsed, strict=True):
            covered |= set(nodes or ())
            if nodes and nodes[-1] >= count:
                yield Problem.of(
                    part["TargetNodes"],
                    NODE_RANGES,
                    f"got {quote(part['TargetNodes'].text)}, and the job has {count} nodes",
                    f"0 to {count - 1}",
                )
        if missing := sorted(set(range(count)) - covered):
            yield Problem.of(
                whole["NodeRangeProperties"],
                NODE_RANGES,
                f"no range has node {', '.join(map(str, missing[:5]))}{' and others' if len(missing) > 5 else ''} of {count}",  # noqa: PLR2004
                f"0:{count - 1}",
            )


def _nodes_of(text: str | None, count: int) -> range | None:
    found = _RANGE.fullmatch(text or "")
    if found is None:
        return None
    if found[3]:
        return range(int(found[3][:9]), int(found[3][:9]) + 1)
    return range(int(found[1][:9] or 0), int(found[2][:9] or count - 1) + 1)


def jobs_have_enough_nodes(templates: Templates) -> Iterator[Problem]:
    """Find multi-node jobs with more nodes than any environment can hold."""
    held: dict[str, int] = {}
    for environment, resources in compute_environments(templates):
        machines, most = environment_types(environment), resources["MaxvCpus"].number
        if not machines or most is None:
            return  # an unknown size may be large enough
        for machine in machines:
            held[machine.name] = max(held.get(machine.name, 0), most // machine.vcpus)
    for job in templates.of_type(JOB_DEFINITION):
        count = job["NodeProperties"]["NumNodes"]
        parts = job["NodeProperties"]["NodeRangeProperties"].items
        name = parts[0]["Container"]["InstanceType"].text if parts else None
        room = max(held.values(), default=None) if name is None else held.get(name)
        if count.number is not None and room is not None and count.number > room:
            for finding in check_nodes_fit(count.number, room):
                yield Problem(count, finding)


def multi_node_jobs_are_not_on_spot(templates: Templates) -> Iterator[Problem]:
    """Find multi-node jobs when all environments use Spot, which does not run them."""
    kinds = [resources["Type"].text for _, resources in compute_environments(templates)]
    if set(kinds) != {"SPOT"}:
        return
    for job in templates.of_type(JOB_DEFINITION):
        if not job["NodeProperties"].missing:
            for finding in check_spot(spot=True):
                yield Problem(job["NodeProperties"], finding)


def containers_fit_their_node(templates: Templates) -> Iterator[Problem]:
    """Find containers that require more than their node has, or GPUs on Neuron nodes."""
    for container in job_containers(templates):
        if not container.machines:
            continue
        for at in container.at["ResourceRequirements"].items:
            kind, value = at["Type"].text, at["Value"]
            yield from _fits(container, str(kind), value)
        for kind, older in _REQUESTS.items():
            yield from _fits(container, kind, container.at[older])


def containers_request_vcpus_and_memory(templates: Templates) -> Iterator[Problem]:
    """Find containers without vCPUs or without memory, which RegisterJobDefinition refuses."""
    for container in job_containers(templates):
        requested = container.at["ResourceRequirements"]
        kinds = [each["Type"].text for each in requested.items]
        if isinstance(requested.value, Unknown) or None in kinds:
            continue
        missing = [
            kind for kind, older in _REQUESTS.items() if kind not in kinds and container.at[older].missing
        ]
        if missing:
            yield Problem.of(
                requested,
                "UC6413",
                f"no {' and no '.join(missing)}, which AWS Batch needs to place the job",
                " and ".join(_REQUESTS),
            )


def _fits(container: JobContainer, kind: str, at: Property) -> Iterator[Problem]:
    machines, asked = container.machines, at.number
    if asked is None:
        return
    if kind == "GPU":
        if all(machine.is_neuron for machine in machines):
            yield Problem.of(
                at,
                CONTAINER_FITS_NODE,
                f"got {asked} GPUs on {machines[0].name}, which has none",
                "the devices from /dev/neuron0",
            )
        return
    room = {"VCPU": [m.vcpus for m in machines], "MEMORY": [m.container_memory_mib for m in machines]}.get(
        kind
    )
    if room and asked > max(room):
        unit = "vCPUs" if kind == "VCPU" else "MiB"
        best = machines[room.index(max(room))]
        yield Problem.of(
            at,
            CONTAINER_FITS_NODE,
            f"got {asked}, and {best.name} has {max(room)} {unit} for containers, so that the job never starts",
            f"up to {max(room)} {unit}",
        )


def images_stay_the_same(templates: Templates) -> Iterator[Problem]:
    """Find images with a mutable tag, and images from another Region."""
    for container in job_containers(templates):
        at = container.at["Image"]
        image = at.pattern
        name = image.rsplit("/", 1)[-1]
        bare = _GAP.sub("", name)
        if not image or "@" in image or (image.endswith("}") and ":" not in bare):
            continue  # the image has a digest, or a tag known only at deployment
        tag = name.rpartition(":")[2] if ":" in bare else ""
        found, region = _ECR.match(image), at.resource.template.region
        findings = check_image_tag(image, tag)
        if found and region:
            findings += check_image_region(image, found["region"], region)
        yield from (Problem(at, finding) for finding in findings)


def one_address_of_the_compile_cache(templates: Templates) -> Iterator[Problem]:
    """Find compile caches set both by flag and by variable; the flag wins silently."""
    for container in job_containers(templates):
        environment = container.environment
        flags = environment.get(XLA_COMPILER_FLAGS_VARIABLE)
        if flags is None or XLA_CACHE_VARIABLE not in environment:
            continue
        for finding in check_cache_address(flags.pattern):
            yield Problem(flags, finding)


def attempts_and_timeouts_are_in_bounds(templates: Templates) -> Iterator[Problem]:
    """Find retry attempts and timeouts that AWS Batch rejects."""
    for job in templates.of_type(JOB_DEFINITION):
        attempts, seconds = job["RetryStrategy"]["Attempts"], job["Timeout"]["AttemptDurationSeconds"]
        if attempts.number is not None:
            yield from (Problem(attempts, finding) for finding in ATTEMPTS.check(attempts.number))
        if seconds.number is not None:
            yield from (Problem(seconds, finding) for finding in check_timeout_seconds(seconds.number))


def fair_shares_have_priorities(templates: Templates) -> Iterator[Problem]:
    """Find job definitions without a priority where every queue has a fair-share policy."""
    policies = [queue["SchedulingPolicyArn"] for queue in templates.of_type(QUEUE)]
    if not policies or any(each.missing or isinstance(each.value, Unknown) for each in policies):
        return
    for definition in templates.of_type(JOB_DEFINITION):
        if definition["SchedulingPriority"].missing:
            yield Problem.of(
                definition["SchedulingPriority"],
                "UC6412",
                "AWS Batch refuses each submission to a queue with a fair-share policy that does not override the priority",
                "0 to 9,999",
            )
