"""Draw the clusters of a plan: network, nodes, storage and queue, coloured by their changes."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_cli.plot_extra import plot_extra
from ultracluster_stacks.plan import Action, Plan, StackState, StackTemplate

_COLOURS = {
    None: "#5a6570",
    Action.ADD: "#1a7f37",
    Action.UPDATE: "#9a6700",
    Action.REPLACE: "#cf222e",
    Action.MAY_REPLACE: "#cf222e",
    Action.RETAIN: "#8250df",
    Action.REMOVE: "#cf222e",
}
_WIDTH, _HEIGHT = 13.0, 4.4
_LINES_SHOWN = 7


@dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """A box at a place (left, bottom, width, height), with the most severe change of its resources, if any."""

    title: str
    lines: tuple[str, ...]
    place: tuple[float, float, float, float]
    action: Action | None


def draw_plan(plan: Plan, stacks: Sequence[StackTemplate], path: Path) -> None:
    """Draw one panel for each cluster into an SVG file. The output is deterministic."""
    with plot_extra():
        from matplotlib import figure, patches, rc_context  # noqa: PLC0415 - optional dependency; takes a second
    clusters = list(dict.fromkeys(stack.cluster for stack in stacks))
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "ultracluster", "font.size": 9}):
        drawing = figure.Figure(figsize=(_WIDTH, _HEIGHT * len(clusters)), layout="constrained")
        panels = drawing.subplots(len(clusters), squeeze=False)
        for panel, cluster in zip(panels[:, 0], clusters, strict=True):
            boxes = boxes_of(plan, [stack for stack in stacks if stack.cluster == cluster])
            _draw(panel, cluster, boxes, shape=patches.FancyBboxPatch)
        drawing.savefig(path, format="svg", metadata={"Date": None})


def _draw(panel: Any, cluster: str, boxes: Iterable[Box], *, shape: Callable[..., Any]) -> None:
    panel.set_xlim(0, _WIDTH)
    panel.set_ylim(0, _HEIGHT)
    panel.axis("off")
    panel.set_title(cluster, loc="left", fontweight="bold", parse_math=False)
    drawn = {}
    for box in boxes:
        left, bottom, width, height = box.place
        colour = _COLOURS[box.action]
        panel.add_patch(
            shape(
                (left, bottom),
                width,
                height,
                boxstyle="round,pad=0,rounding_size=0.08",
                facecolor="none",
                edgecolor=colour,
                linewidth=1.2 if box.action is None else 2.2,
            )
        )
        title = box.title if box.action is None else f"{box.title} ({box.action})"
        panel.text(
            left + 0.1,
            bottom + height - 0.1,
            title,
            va="top",
            color=colour,
            fontweight="bold",
            parse_math=False,
        )
        for number, line in enumerate(box.lines, 1):
            panel.text(
                left + 0.1,
                bottom + height - 0.1 - 0.27 * number,
                line,
                va="top",
                color="#24292f",
                parse_math=False,
            )
        drawn[box.title] = box.place
    for start, end in (("Queue", "Nodes"), ("Nodes", "FSx for Lustre"), ("FSx for Lustre", "Buckets")):
        if start in drawn and end in drawn:
            left, bottom, width, height = drawn[start]
            panel.annotate(
                "",
                xytext=(left + width, bottom + height / 2),
                xy=(drawn[end][0], bottom + height / 2),
                arrowprops={"arrowstyle": "->", "color": _COLOURS[None]},
            )


def boxes_of(plan: Plan, stacks: Sequence[StackTemplate]) -> list[Box]:
    """Return the boxes to draw for one cluster."""
    cluster = _Cluster(plan, stacks)
    networks = cluster.lines("AWS::EC2::VPC", lambda properties: [str(properties.get("CidrBlock", ""))])
    subnets = cluster.lines("AWS::EC2::Subnet", _subnet)
    return [
        cluster.box(
            "Queue",
            (0.1, 1.0, 2.7, 2.6),
            cluster.queues(),
            "AWS::Batch::JobQueue",
            "AWS::Batch::JobDefinition",
        ),
        cluster.box(
            f"VPC {networks[0]}" if networks else "Existing network",
            (3.2, 0.1, 6.5, 4.1),
            (),
            "AWS::EC2::VPC",
        ),
        cluster.box(
            subnets[0] if subnets else "Existing subnet", (3.4, 0.3, 6.1, 3.4), (), "AWS::EC2::Subnet"
        ),
        cluster.box(
            "Nodes",
            (3.6, 0.5, 2.8, 2.7),
            cluster.nodes(),
            "AWS::Batch::ComputeEnvironment",
            "AWS::EC2::LaunchTemplate",
        ),
        cluster.box(
            "FSx for Lustre",
            (6.9, 0.5, 2.4, 2.7),
            cluster.lines("AWS::FSx::FileSystem", _file_system),
            "AWS::FSx::FileSystem",
        ),
        cluster.box("Buckets", (10.2, 1.0, 2.6, 2.6), cluster.names("AWS::S3::Bucket"), "AWS::S3::Bucket"),
    ]


class _Cluster:
    """The resources of one cluster by type, and their changes."""

    def __init__(self, plan: Plan, stacks: Sequence[StackTemplate]) -> None:
        self.stacks = stacks
        by_name = {(change.region, change.name): change for change in plan.stacks}
        stack_changes = [by_name[stack.key] for stack in stacks if stack.key in by_name]
        self.new = {change.name for change in stack_changes if change.state is StackState.NEW}
        self.changes = [change for stack_change in stack_changes for change in stack_change.changes]

    def of_type(self, resource_type: str) -> Iterator[tuple[StackTemplate, str, Mapping[str, Any]]]:
        for stack in self.stacks:
            for logical_id, resource in stack.resources.items():
                if resource["Type"] == resource_type:
                    yield stack, logical_id, resource.get("Properties") or {}

    def names(self, resource_type: str) -> tuple[str, ...]:
        """Return the names of resources: the last part of their construct paths."""
        return tuple(
            stack.paths.get(logical_id, logical_id).replace("/Resource", "").rpartition("/")[2]
            for stack, logical_id, _ in self.of_type(resource_type)
        )

    def lines(self, resource_type: str, describe: Any) -> tuple[str, ...]:
        return tuple(
            line for _, _, properties in self.of_type(resource_type) for line in describe(properties)
        )

    def queues(self) -> tuple[str, ...]:
        jobs = self.names("AWS::Batch::JobDefinition")
        return (*self.names("AWS::Batch::JobQueue"), *(f"job {name}" for name in jobs))

    def nodes(self) -> tuple[str, ...]:
        return self.lines("AWS::Batch::ComputeEnvironment", _environment) + self.lines(
            "AWS::EC2::LaunchTemplate", _launch_template
        )

    def box(
        self, title: str, place: tuple[float, float, float, float], lines: Sequence[str], *resource_types: str
    ) -> Box:
        actions = [change.action for change in self.changes if change.resource_type in resource_types]
        if any(
            stack.name in self.new
            for resource_type in resource_types
            for stack, _, _ in self.of_type(resource_type)
        ):
            actions.append(Action.ADD)
        worst = max(actions, key=list(Action).index, default=None)
        more = (f"and {len(lines) - _LINES_SHOWN} more",) if len(lines) > _LINES_SHOWN else ()
        return Box(title=title, lines=(*lines[:_LINES_SHOWN], *more), place=place, action=worst)


def _subnet(properties: Mapping[str, Any]) -> list[str]:
    zone, cidr = properties.get("AvailabilityZoneId", ""), properties.get("CidrBlock", "")
    return [f"Subnet {cidr if isinstance(cidr, str) else ''} in {zone}"]


def _environment(properties: Mapping[str, Any]) -> list[str]:
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
        " ".join(str(part) for part in (market, target.get("CapacityReservationId")) if part),
    ]


def _file_system(properties: Mapping[str, Any]) -> list[str]:
    lustre = properties.get("LustreConfiguration") or {}
    size, speed = properties.get("StorageCapacity"), lustre.get("PerUnitStorageThroughput")
    return [
        str(lustre.get("DeploymentType", "")),
        f"{size:,} GiB" if isinstance(size, int) else "elastic storage",
        *([f"{speed} MB/s per TiB"] if speed else []),
    ]
