"""Draw clusters from their templates: who runs where, and who may reach what."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_cli.pictures.drawing import DARK, GROUND, MARGIN, ROW, TINT, WIDTH, Drawing
from ultracluster_stacks.plan import StackTemplate
from ultracluster_stacks.plan.expressions import references

_LINES_SHOWN: Final = 7
_HASH: Final = re.compile(r"(Resource)?[0-9A-F]{8}$")  # that the CDK appends to logical IDs
_TYPE: Final = re.compile(r"(/Function)?(/Resource)*$")
_NODES_SHOWN: Final = 64
_NODES_IN_A_ROW: Final = 16
_SQUARE: Final = 11
_HEADER: Final = 26
_KINDS: Final = {
    "queue": "blue",
    "functions": "purple",
    "nodes": "green",
    "files": "amber",
    "buckets": "amber",
}
MEANINGS: Final = (
    *(("blue", "scheduling"), ("green", "compute"), ("amber", "storage"), ("purple", "automation")),
    ("grey", "network"),
)
"""What a part of a cluster is for, by tone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """A part of a cluster; ``nodes`` are drawn as squares."""

    title: str
    lines: tuple[str, ...] = ()
    nodes: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Topology:
    """The parts of one cluster.

    Attributes:
        name: Cluster and Region.
        network: Title of the frame around that of the subnet.
        boxes: Queue, functions, nodes, files and buckets.
        reach: Sentences that say who may reach what.
    """

    name: str
    network: str
    subnet: str
    boxes: Mapping[str, Box]
    reach: tuple[str, ...] = ()


def draw_cluster(topology: Topology) -> Drawing:
    """Draw one cluster, coloured by what its parts are for."""
    drawing = Drawing(f"Topology of {topology.name}")
    bottom = draw_topology(drawing, topology, top=MARGIN)
    drawing.legend(MEANINGS, bottom + 8)
    return drawing


def draw_topology(drawing: Drawing, topology: Topology, *, top: float) -> float:
    """Draw one cluster below ``top``, and return its lower end."""
    top = drawing.heading(topology.name, top + 14) - 10
    boxes, side, gap = topology.boxes, 220.0, 24.0
    left, right = MARGIN + side + gap, WIDTH - MARGIN - side - gap
    share = (right - left - 32 - gap) / 2
    first, heights = top + 2 * _HEADER, {name: _height(box) for name, box in boxes.items()}
    column = heights["queue"] + 12 + heights["functions"]
    inside = max(column, heights["nodes"], heights["files"], heights["buckets"])
    bottom = first + inside + 20
    for title, inset, fill in ((topology.network, 0, TINT["grey"]), (topology.subnet, 8, GROUND)):
        frame_top, width = top + _HEADER * bool(inset), right - left - 2 * inset
        height = bottom - inset - frame_top
        drawing.rect(left + inset, frame_top, width, height, fill=fill, stroke=DARK["grey"], rounded=6)
        _title(drawing, title, place=(left + inset, frame_top), width=width, tone="grey")
    areas = {
        "queue": (MARGIN, first, side, heights["queue"]),
        "functions": (MARGIN, first + heights["queue"] + 12, side, heights["functions"]),
        "nodes": (left + 16, first, share, inside),
        "files": (right - 16 - share, first, share, inside),
        "buckets": (WIDTH - MARGIN - side, first, side, heights["buckets"]),
    }
    for name, (x, y, width, height) in areas.items():
        tone = _KINDS[name]
        drawing.rect(x, y, width, height, fill=TINT[tone], stroke=DARK[tone], rounded=6)
        _title(drawing, boxes[name].title, place=(x, y), width=width, tone=tone)
        for number, line in enumerate(boxes[name].lines, 1):
            drawing.text(line, x + 10, y + 18 + ROW * number, room=width - 20)
        under = y + _text_height(boxes[name]) + 6
        for number in range(min(boxes[name].nodes, _NODES_SHOWN)):
            row, place = divmod(number, _NODES_IN_A_ROW)
            drawing.rect(x + 10 + _SQUARE * place, under + _SQUARE * row, 8, 8, fill=DARK[tone])
    for start, end in (("queue", "nodes"), ("nodes", "files"), ("files", "buckets")):
        x, y, width, _ = areas[start]
        drawing.arrow(x + width, y + 13, areas[end][0] - 1, y + 13)
    base = bottom + 20
    for sentence in topology.reach:
        base = drawing.paragraph(sentence, MARGIN, base, room=WIDTH - 2 * MARGIN)
    return base - 8


def _title(drawing: Drawing, words: str, *, place: tuple[float, float], width: float, tone: str) -> None:
    drawing.text(words, place[0] + 10, place[1] + 18, room=width - 20, bold=True, colour=DARK[tone])


def _height(box: Box) -> float:
    rows = -(-min(box.nodes, _NODES_SHOWN) // _NODES_IN_A_ROW)
    return _text_height(box) + 8 + (_SQUARE * rows + 6 if rows else 0)


def _text_height(box: Box) -> float:
    return _HEADER + ROW * len(box.lines)


def read_topology(stacks: Sequence[StackTemplate], *, name: str = "") -> Topology:
    """Read the parts of one cluster from its templates."""
    cluster = _Cluster(stacks)
    networks = cluster.lines("AWS::EC2::VPC", lambda properties: [str(properties.get("CidrBlock", ""))])
    subnets = cluster.lines("AWS::EC2::Subnet", _subnet)
    regions = ", ".join(dict.fromkeys(stack.region for stack in stacks))
    environments = (*cluster.lines("AWS::Batch::ComputeEnvironment", _environment), *cluster.groups())
    jobs = cluster.names("AWS::Batch::JobDefinition")
    nodes = (*environments, *dict.fromkeys(cluster.lines("AWS::EC2::LaunchTemplate", _launch_template)))
    return Topology(
        name=f"{name or stacks[0].cluster or stacks[0].name} in {regions}",
        network=f"VPC {networks[0]}" if networks else "Existing network",
        subnet=subnets[0] if subnets else "Existing subnet",
        boxes={
            "queue": _box("Queue", (*cluster.names("AWS::Batch::JobQueue"), *(f"job {job}" for job in jobs))),
            "functions": _box("Functions", cluster.names("AWS::Lambda::Function")),
            "nodes": _box(
                "Nodes",
                nodes,
                nodes=sum(int(count) for count in re.findall(r"up to (\d+) x", "\n".join(environments))),
            ),
            "files": _box("FSx for Lustre", cluster.lines("AWS::FSx::FileSystem", _file_system)),
            "buckets": _box("Buckets", cluster.names("AWS::S3::Bucket")),
        },
        reach=tuple(cluster.reach()),
    )


class _Cluster:
    """The resources of one cluster by type."""

    def __init__(self, stacks: Sequence[StackTemplate]) -> None:
        self.stacks = stacks

    def of_type(self, resource_type: str) -> Iterator[tuple[StackTemplate, str, Mapping[str, Any]]]:
        for stack in self.stacks:
            for logical_id, resource in stack.resources.items():
                if resource["Type"] == resource_type:
                    yield stack, logical_id, resource.get("Properties") or {}

    def names(self, resource_type: str) -> tuple[str, ...]:
        """Return the names of resources: the last part of their construct paths that does not only repeat the type."""
        return tuple(
            _TYPE.sub("", stack.paths.get(logical_id, _HASH.sub("", logical_id))).rpartition("/")[2]
            for stack, logical_id, _ in self.of_type(resource_type)
        )

    def lines(self, resource_type: str, describe: Any) -> tuple[str, ...]:
        return tuple(
            line for _, _, properties in self.of_type(resource_type) for line in describe(properties)
        )

    def groups(self) -> Iterator[str]:
        """Yield the nodes of the Auto Scaling groups that start those of unmanaged compute environments."""
        for stack, _, group in self.of_type("AWS::AutoScaling::AutoScalingGroup"):
            names = (reference.name for reference in references(group.get("LaunchTemplate")))
            template = next((stack.resources[name] for name in names if name in stack.resources), {})
            data = (template.get("Properties") or {}).get("LaunchTemplateData") or {}
            yield f"up to {group.get('MaxSize')} x {data.get('InstanceType', 'an unknown type')}"

    def reach(self) -> Iterator[str]:
        """Yield sentences that say who may reach what: the rules of security groups, and the ways out of the network."""
        ports: dict[str, dict[str, None]] = {}
        for _, _, rule in self.of_type("AWS::EC2::SecurityGroupIngress"):
            lowest, highest = rule.get("FromPort"), rule.get("ToPort")
            text = "all" if lowest is None else str(lowest) if lowest == highest else f"{lowest} to {highest}"
            ports.setdefault(str(rule.get("Description", "in")), {})[text] = None
        if ports:
            rules = (
                f"{who} (ports: {', '.join(sorted(numbers, key=len))})" for who, numbers in ports.items()
            )
            yield f"Who may reach what: {'; '.join(rules)}."
        services = self.lines("AWS::EC2::VPCEndpoint", lambda endpoint: [str(endpoint.get("ServiceName"))])
        if services:
            names = ", ".join(
                dict.fromkeys(re.sub(r"^com\.amazonaws\.[^.]+\.", "", name) for name in services)
            )
            yield f"Endpoints of AWS services in the network: {names}."
        if self.names("AWS::EC2::VPC"):
            out = "outbound through a NAT gateway" if self.names("AWS::EC2::NatGateway") else "no access"
            yield f"Internet: {out}."


def _box(title: str, lines: Sequence[str], *, nodes: int = 0) -> Box:
    more = (f"and {len(lines) - _LINES_SHOWN} more",) if len(lines) > _LINES_SHOWN else ()
    return Box(title=title, lines=(*lines[:_LINES_SHOWN], *more), nodes=nodes)


def _subnet(properties: Mapping[str, Any]) -> list[str]:
    zone, cidr = properties.get("AvailabilityZoneId", ""), properties.get("CidrBlock", "")
    return [f"Subnet {cidr if isinstance(cidr, str) else ''} in {zone}"]


def _environment(properties: Mapping[str, Any]) -> list[str]:
    if properties.get("Type") == "UNMANAGED":  # its nodes are those of an Auto Scaling group
        return []
    resources = properties.get("ComputeResources") or {}
    vcpus, types = resources.get("MaxvCpus"), resources.get("InstanceTypes") or []
    instance_type = INSTANCE_TYPES.get(types[0]) if len(types) == 1 else None
    if instance_type is None or not isinstance(vcpus, int):
        return [f"up to {vcpus} vCPUs of {', '.join(map(str, types))}"]
    return [f"up to {vcpus // instance_type.vcpus} x {instance_type.name}"]


def _launch_template(properties: Mapping[str, Any]) -> list[str]:
    data = properties.get("LaunchTemplateData") or {}
    interfaces = [interface.get("InterfaceType") for interface in data.get("NetworkInterfaces") or []]
    efa = sum(str(interface).startswith("efa") for interface in interfaces)
    market = (data.get("InstanceMarketOptions") or {}).get("MarketType", "on-demand")
    target = (data.get("CapacityReservationSpecification") or {}).get("CapacityReservationTarget") or {}
    return [
        str(data.get("ImageId", "")),
        f"{efa} EFA interfaces each",
        *(str(part) for part in (market, target.get("CapacityReservationId")) if part),
    ]


def _file_system(properties: Mapping[str, Any]) -> list[str]:
    lustre = properties.get("LustreConfiguration") or {}
    size, speed = properties.get("StorageCapacity"), lustre.get("PerUnitStorageThroughput")
    return [
        str(lustre.get("DeploymentType", "")),
        f"{size:,} GiB" if isinstance(size, int) else "elastic storage",
        *([f"{speed} MB/s per TiB"] if speed else []),
    ]
