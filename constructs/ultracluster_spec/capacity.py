"""Capacity: how the instances of a cluster are bought, and the reservation that they run in. Nothing here buys anything.

A rollout file describes it as one record, `CapacityRecord`, in which `market_type` decides which settings apply. Constructs take one
type for each kind, which has the settings of that kind only; `CapacityRecord.source` makes it of the record.
"""

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Annotated, ClassVar, Final, Literal, Protocol

from ultracluster_catalog.capacity.capacity_blocks import (
    BATCH_LAUNCHES_SHOWN,
    BLOCK_END_UTC,
    LONGEST_BLOCK,
    MAX_INSTANCES_PER_BLOCK,
    block_durations,
    is_block_duration,
)
from ultracluster_catalog.limits.queues import MOST_NODES
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.names.identifiers import RESERVATION_ID, RESOURCE_GROUP_ARN, SOURCE_NAME, ZONE_ID
from ultracluster_spec.bounds import Between, Form
from ultracluster_spec.findings import Finding, Severity, quote, require
from ultracluster_spec.names import NAME, placement_group_name
from ultracluster_spec.network import check_zone_id
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.rules import At, Place, rule
from ultracluster_spec.times import UTC_TIME, UtcTime
from ultracluster_spec.values import Value, fields_of


def _explain_reservation(value: str) -> str:
    if value.startswith("cb-"):
        return "cb- is an offering or a block; use its Capacity Reservation, cr-"
    if value.startswith("cbr-"):
        return "cbr- is a Capacity Block ID; use the ID of its Capacity Reservation, cr-"
    if value.startswith("arn:"):
        return "Use only the part of the ARN after the slash"
    if re.fullmatch(r"cr-[0-9a-f]{8}", value):
        return "This ID has 8 hexadecimal digits"
    return "Run `aws ec2 describe-capacity-reservations` to find the ID"


SETTING_OF_ANOTHER_KIND: Final = "UC4126"
"""Code of a setting that this kind of capacity does not have."""

MAX_NODES: Final = Between(code="UC4101", least=1, most=MOST_NODES)
"""Maximum number of nodes at one time."""

MAX_PRICE_PERCENT: Final = Between(code="UC4125", least=1, most=100)
"""Maximum price of a Spot node in percent of the on-demand price."""

CHECKPOINT_LEAD_MINUTES: Final = Between(
    code="UC4117", least=0, most=720, remedy="Specify minutes before the drain"
)
"""Minutes between the checkpoint request and the drain of a Capacity Block."""

MAX_REFUSALS: Final = Between(code="UC4129", least=1, most=100)
"""Number of nodes that refuse to join a Capacity Block one after another before it is closed."""

UNSEEN_FAULTS: Final = "UC4186"
"""Code of sick nodes that are to be replaced and are not seen."""

SickNodes = Literal["tell", "replace"]
"""What is done about nodes with hardware faults."""


def check_sick_nodes(choice: SickNodes, *, has_block: bool, has_metrics: bool) -> list[Finding]:
    """Check that sick nodes that are replaced are of a Capacity Block (UC4126), and seen (UC4186)."""
    if choice == "tell":
        return []
    problem = "sick nodes are to be replaced, and nodes publish no metrics that tell which are"
    remedy = "Enable the alarms of the cluster, which bring the metrics, or leave out sick_nodes"
    return [
        *require(
            has_block,
            SETTING_OF_ANOTHER_KIND,
            "sick_nodes is for `capacity-block`",
            remedy="Remove it",
            path="sick_nodes",
        ),
        *require(not has_block or has_metrics, UNSEEN_FAULTS, problem, remedy=remedy, path="sick_nodes"),
    ]


RESERVATION: Final = Form(
    code="UC4109",
    pattern=RESERVATION_ID,
    allowed="cr- and 17 hexadecimal digits in lower case, such as cr-0123456789abcdef0",
    explain=_explain_reservation,
)
"""A reservation is named by its ID."""

RESOURCE_GROUP: Final = Form(
    code="UC4124",
    pattern=RESOURCE_GROUP_ARN,
    allowed="an ARN such as arn:aws:resource-groups:us-east-2:123456789012:group/training",
)
"""A group of reservations is named by its ARN."""


AllocationStrategy = Literal[
    "best-fit", "best-fit-progressive", "capacity-optimized", "price-capacity-optimized"
]
"""How AWS Batch chooses the nodes to start."""

ALLOCATION_STRATEGIES: Final[Mapping[str, tuple[AllocationStrategy, ...]]] = {
    "capacity-block": ("best-fit", "best-fit-progressive"),
    "on-demand": ("best-fit-progressive", "best-fit"),
    "spot": ("price-capacity-optimized", "capacity-optimized"),
}
"""Allocation strategies of AWS Batch by market type, the default first.

Capacity Blocks: every published environment has BEST_FIT, explicitly or by AWS Batch's default (awslabs/awsome-distributed-ai
for p5 and p6, 2025-11; aws-samples/sample-aws-batch-capacity-block-reservations), and the launch template of such an
environment cannot be updated in place (AWS Batch User Guide, infrastructure updates, read 2026-11). On-demand nodes keep
in-place updates. BEST_FIT for Spot would need a Spot Fleet role.
"""


def check_allocation_strategy(market_type: str, strategy: str, *, path: str) -> list[Finding]:
    """Check whether AWS Batch can choose nodes of a market type with an allocation strategy (UC4131)."""
    allowed = ALLOCATION_STRATEGIES[market_type]
    return require(
        strategy in allowed,
        "UC4131",
        f"got {quote(strategy)} for {market_type}",
        allowed=" or ".join(allowed),
        path=path,
    )


def check_group_settings(
    launched_by: str, market_type: str, strategy: str | None, max_price_percent: int | None
) -> list[Finding]:
    """Check that a source has no settings of AWS Batch if an Auto Scaling group starts its nodes (UC4126)."""
    if launched_by == "batch":
        return []
    unused = {
        "allocation_strategy": strategy not in {None, ALLOCATION_STRATEGIES[market_type][0]},
        "max_price_percent": max_price_percent is not None,
    }
    return [
        Finding(
            SETTING_OF_ANOTHER_KIND,
            f"{name} is of AWS Batch, and an Auto Scaling group starts these nodes",
            remedy="Leave it out",
            path=name,
        )
        for name, is_set in unused.items()
        if is_set
    ]


def check_max_nodes(count: int | None, *, path: str) -> list[Finding]:
    """Check the maximum number of nodes of a queue, None if nothing limits them (UC4101)."""
    if count is not None:
        return MAX_NODES.check(count, path=path)
    return [
        replace(finding, problem="the maximum number of nodes is not set")
        for finding in MAX_NODES.check(0, path=path)
    ]


def check_purchase_option(node_type: InstanceType, option: str) -> list[Finding]:
    """Check whether an instance type has a purchase option (UC4104)."""
    return require(
        option in node_type.purchase_options,
        "UC4104",
        f"{node_type.name} is not sold as {option}",
        allowed=f"for this type: {', '.join(sorted(node_type.purchase_options))}",
        remedy="Choose another market_type or another instance_type",
    )


def check_block_placement(*, block: bool, placed: bool) -> list[Finding]:
    """Check that nodes of a Capacity Block are launched outside placement groups (UC4020)."""
    return require(
        not (block and placed),
        "UC4020",
        "got a placement group and a Capacity Block; EC2 does not support them together",
        remedy="Remove placement; nodes of a block are already close together",
    )


def check_group_of_reservation(group: str | None, name: str | None) -> list[Finding]:
    """Check that nodes of a reservation inside a placement group are launched into that group (UC4023)."""
    return require(
        group in {None, name},
        "UC4023",
        f"the reservation was made inside the placement group {quote(group)}, got {quote(name)}",
        remedy="Use that group as placement, as auto and ClusterPlacement.for_capacity do",
    )


def check_window(start: datetime | None, end: datetime | None) -> list[Finding]:
    """Check that capacity starts before it ends (UC4112), in times with a UTC offset (UC4111); None if not known."""
    if any(time is not None and time.tzinfo is None for time in (start, end)):
        problem = "start or end has no UTC offset"
        return [Finding(UTC_TIME, problem, remedy="Use datetime(..., tzinfo=UTC)")]
    if start is None or end is None:
        return []
    return require(
        start < end,
        "UC4112",
        f"the end, {end.isoformat()}, is not after the start, {start.isoformat()}",
        remedy="Take both from `ultracluster capacity status`",
    )


def check_source_names(names: Sequence[str | None]) -> Iterator[tuple[int, Finding]]:
    """Find sources of a cluster by index that have the name of an earlier one (UC4121); None for no name."""
    for index, name in enumerate(names):
        if name in names[:index]:
            problem = f"two sources are called {quote(name)}" if name else "two sources have no name"
            remedy = "Use a different name for each source; the first one needs none"
            yield index, Finding("UC4121", problem, remedy=remedy)


def check_targets(targets: Sequence[str | None]) -> Iterator[tuple[int, Finding]]:
    """Find sources of a cluster by index that launch into the reservation of an earlier one (UC4127)."""
    for index, target in enumerate(targets):
        if target is not None and target in targets[:index]:
            problem = f"duplicate capacity {target}"
            remedy = "List it once: each source launches its maximum number of nodes into it"
            yield index, Finding("UC4127", problem, remedy=remedy)


def check_block_duration(hours: int) -> list[Finding]:
    """Check whether AWS sells Capacity Blocks of a duration (UC7101, with the nearest ones)."""
    if is_block_duration(hours):
        return []
    sold = block_durations(min_hours=0, max_hours=LONGEST_BLOCK // timedelta(hours=1))
    shorter = [duration for duration in sold if duration < hours][-1:]
    longer = [duration for duration in sold if duration > hours][:1]
    nearest = " and ".join(f"{duration} hours" for duration in shorter + longer)
    return [
        Finding(
            "UC7101",
            f"got {quote(hours)} hours",
            allowed="1 to 14 days in whole days (24 to 336 hours), or 21 to 182 days in whole weeks",
            remedy=f"Nearest valid durations: {nearest}.",
        )
    ]


Market = Literal["capacity-block", "on-demand", "spot"]
"""How instances are bought."""

LaunchedBy = Literal["batch", "auto-scaling"]
"""What starts the nodes."""

UNRESOLVED_ORDER: Final = "UC2220"
"""Code of capacity whose order has no reservation yet; `capacity resolve` fixes it."""

_ReservationId = Annotated[str, RESERVATION]
_ResourceGroup = Annotated[str, RESOURCE_GROUP]
_NodeCount = Annotated[int, MAX_NODES]

# The fields, each once, in groups that the kinds of capacity share. Python has no other way to share declarations that a
# type checker understands; a base class with slots could not be combined with another. Nothing is made of a group, so it
# needs no methods, whose generation takes most of the time of the import.


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class _Reserved(Value):
    """A reservation."""

    __slots__ = ()

    reservation_id: _ReservationId | None = None
    """ID of the Capacity Reservation, also of a Capacity Block: cr- and 17 hexadecimal digits. Required for
    `capacity-block`."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class _Window(Value):
    """Start and end."""

    __slots__ = ()

    start: Annotated[datetime, UtcTime()] | None = None
    """Start of the capacity: ISO 8601 in UTC, in quotes. Default: unknown."""

    end: Annotated[datetime, UtcTime()] | None = None
    """End of the capacity: ISO 8601 in UTC, in quotes; 11:30 for a Capacity Block. Default: unknown."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class _Grouped(Value):
    """A group of reservations."""

    __slots__ = ()

    resource_group_arn: _ResourceGroup | None = None
    """ARN of a resource group of On-Demand Capacity Reservations, instead of `reservation_id`. Instances launch only into
    reservations of the group. Default: none."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class _Placed(Value):
    """A placement group."""

    __slots__ = ()

    placement_group: (
        Annotated[str, placement_group_name("the name of an existing cluster placement group")] | None
    ) = None
    """Name of the cluster placement group of the On-Demand Capacity Reservation. Default: the reservation has none."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class _Launched(Value):
    """How nodes are started."""

    __slots__ = ()

    max_nodes: _NodeCount | None = None
    """Maximum number of nodes in this capacity, 1 to 1,000. Default: `nodes` of the cluster."""

    allocation_strategy: AllocationStrategy | None = None
    """Allocation strategy of AWS Batch. `best-fit-progressive`: the compute environment is updated in place, and can start
    one instance more than `max_nodes`. `best-fit`: it is replaced for each new AMI or launch template, and can only get
    another strategy under another `name`. For `spot`: `price-capacity-optimized` or `capacity-optimized`. Default:
    best-fit for `capacity-block`, best-fit-progressive for `on-demand`, price-capacity-optimized for `spot`."""

    launched_by: LaunchedBy = "batch"
    """What starts the nodes. `auto-scaling`: an Auto Scaling group, whose nodes stay while no job runs; multi-node jobs run as
    arrays of one child for each node. Default: batch."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class _Priced(Value):
    """A maximum price."""

    __slots__ = ()

    max_price_percent: Annotated[int, MAX_PRICE_PERCENT] | None = None
    """For `spot`: maximum price, in percent of the On-Demand price. Default: 100."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class _Named(Value):
    """Name and zone."""

    __slots__ = ()

    name: (
        Annotated[
            str,
            Form(
                code="UC4123",
                pattern=SOURCE_NAME,
                allowed="2 to 32 characters: lower case letters, digits and hyphens, a letter first",
            ),
        ]
        | None
    ) = None
    """Name among the capacity of a cluster, part of the construct IDs for it, so that capacity can be added, removed and reordered
    without changes to the other. Default: none, allowed for one."""

    zone_id: str | None = None
    """Zone ID of the nodes, such as use2-az3; names of zones differ between accounts. Default: that of the network."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class _Source(_Launched, _Named):
    """What the kinds of capacity have in common."""

    __slots__ = ()

    market_type: ClassVar[Market]
    prepaid: ClassVar[bool] = False  # billed for the whole reservation, used or not

    @property
    def strategy(self) -> AllocationStrategy:
        """Allocation strategy, with the default of the market."""
        return self.allocation_strategy or ALLOCATION_STRATEGIES[self.market_type][0]


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityBlock(_Window, _Reserved, _Source):
    """A Capacity Block for ML, bought beforehand; EC2 ends its instances 30 minutes earlier, of UltraServers 60."""

    market_type: ClassVar[Market] = "capacity-block"
    prepaid: ClassVar[bool] = True

    reservation_id: _ReservationId = field()
    zone_id: str = field()


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityReservation(_Placed, _Reserved, _Source):
    """An On-Demand Capacity Reservation."""

    market_type: ClassVar[Market] = "on-demand"
    prepaid: ClassVar[bool] = True

    reservation_id: _ReservationId = field()
    zone_id: str = field()


@dataclass(frozen=True, kw_only=True, slots=True)
class ReservationGroup(_Placed, _Grouped, _Source):
    """On-Demand Capacity Reservations of one instance type and zone, in a resource group.

    EC2 uses any of them with room, so reservations can join and leave the group without a deployment.
    """

    market_type: ClassVar[Market] = "on-demand"
    prepaid: ClassVar[bool] = True

    resource_group_arn: _ResourceGroup = field()
    zone_id: str = field()


@dataclass(frozen=True, kw_only=True, slots=True)
class OnDemand(_Source):
    """On-Demand Instances without a reservation, billed while they run."""

    market_type: ClassVar[Market] = "on-demand"


@dataclass(frozen=True, kw_only=True, slots=True)
class Spot(_Priced, _Source):
    """Spot Instances, interrupted with two minutes' notice, for single-node jobs: AWS Batch runs no others on them."""

    market_type: ClassVar[Market] = "spot"


Capacity = CapacityBlock | CapacityReservation | ReservationGroup | OnDemand | Spot
"""Capacity of any kind."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class _Market(Value):
    """The kind of capacity."""

    __slots__ = ()

    market_type: Market = "capacity-block"
    """`capacity-block`: the instances run in a Capacity Block that was bought beforehand. `on-demand`: On-Demand Instances,
    in On-Demand Capacity Reservations with `reservation_id` or `resource_group_arn`. `spot`: Spot Instances, interrupted
    with two minutes' notice; single-node jobs only. Default:
    capacity-block."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class _Ordered(Value):
    """An order."""

    __slots__ = ()

    order: (
        Annotated[
            str,
            Form(
                code="UC2223",
                pattern=r"[a-z][a-z0-9-]{1,47}",
                allowed="the name of an order in the ledger: 2 to 48 of a-z, 0-9 and -, starting with a letter",
            ),
        ]
        | None
    ) = None
    """Name of the order that buys the capacity, instead of `reservation_id`. After the purchase, `ultracluster capacity
    resolve --write` adds reservation, zone, start and end. Default: none."""


# The bases in the reverse order of the keys of the file.
@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityRecord(_Priced, _Launched, _Placed, _Grouped, _Window, _Ordered, _Reserved, _Market):
    """How the instances of a cluster are bought. A deployment never buys anything."""

    def source(self, *, zone_id: str) -> Capacity:
        """Return the capacity of its own kind, after the rules about it have held."""
        values = {**self.known(), "zone_id": zone_id}
        return self._kind(**{name: values[name] for name in fields_of(self._kind) if name in values})

    @property
    def _kind(self) -> type[Capacity]:
        match self.market_type, self.resource_group_arn, self.reservation_id:
            case "spot", _, _:
                return Spot
            case _, str(), _:
                return ReservationGroup
            case "on-demand", None, str():
                return CapacityReservation
            case "capacity-block", None, str():
                return CapacityBlock
        return OnDemand


@dataclass(frozen=True, kw_only=True, slots=True)
class AdditionalCapacity(CapacityRecord):
    """Capacity used when the capacity before it in the list is full."""

    name: Annotated[str, NAME]
    """Name of this capacity, unique in the cluster. Its position in the list can change; another name replaces its compute
    environment."""

    market_type: Market = field()
    """`capacity-block`, `on-demand` or `spot`, as in `capacity`."""


def placeholder_reservation(order: str) -> str:
    """Return the reservation ID of an order that is not bought: nine zeros, then a checksum of its name."""
    return f"cr-{zlib.crc32(order.encode()):017x}"


Bought = CapacityRecord | Capacity
"""Capacity as the rules below see it."""


class Buyer(Protocol):
    """Who buys capacity: what the rules below read of a cluster."""

    @property
    def node_type(self) -> InstanceType:
        """Instance type of the nodes."""

    def sources(self) -> Iterator[tuple[Place, Bought]]:
        """Iterate over all capacity with the place of each."""

    def nodes_from(self, capacity: Bought) -> int:
        """Return the maximum number of nodes of one capacity."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Purchase:
    """The capacity of a cluster of constructs."""

    node_type: InstanceType
    nodes: int
    capacity: Sequence[Capacity | None]

    def sources(self) -> Iterator[tuple[Place, Bought]]:
        """Iterate over all capacity with the place of each."""
        for index, capacity in enumerate(self.capacity):
            if capacity is not None:
                yield ("capacity", index), capacity

    def nodes_from(self, capacity: Bought) -> int:
        """Return the maximum number of nodes of one capacity."""
        return capacity.max_nodes or self.nodes


@rule()
def strategy_is_offered(capacity: Bought) -> Iterator[At]:
    """AWS Batch can choose nodes of the market with the allocation strategy."""
    if strategy := capacity.allocation_strategy:
        yield from At.all(
            check_allocation_strategy(capacity.market_type, strategy, path="allocation_strategy")
        )


@rule()
def settings_fit_what_starts_nodes(capacity: Bought) -> Iterator[At]:
    """Nodes that an Auto Scaling group starts have no settings of AWS Batch."""
    market = capacity.market_type
    price = getattr(capacity, "max_price_percent", None) if market == "spot" else None
    strategy = capacity.allocation_strategy
    yield from At.all(check_group_settings(capacity.launched_by, market, strategy, price))


@rule()
def starts_before_it_ends(capacity: CapacityRecord | CapacityBlock) -> Iterator[At]:
    """Capacity starts before it ends, in times with an offset."""
    yield from (At.of("end", finding) for finding in check_window(capacity.start, capacity.end))


@rule("UC4113")
def block_ends_at_its_time(capacity: CapacityRecord | CapacityBlock) -> Iterator[At]:
    """A Capacity Block ends at the fixed time of day."""
    end = capacity.end
    if capacity.market_type == "capacity-block" and end is not None and end.time() != BLOCK_END_UTC:
        problem = f"got an end at {end:%H:%M:%S} UTC, but Capacity Blocks end at 11:30 UTC"
        yield At("end", problem, remedy="Use the EndDate of the reservation")


@rule("UC4114")
def block_is_not_too_long(capacity: CapacityRecord | CapacityBlock) -> Iterator[At]:
    """A Capacity Block is not longer than those that AWS sells."""
    start, end = capacity.start, capacity.end
    if (
        capacity.market_type != "capacity-block"
        or start is None
        or end is None
        or end - start <= LONGEST_BLOCK
    ):
        return
    days = (end - start) / timedelta(days=1)
    problem = f"got {days:.1f} days, but a Capacity Block lasts at most {LONGEST_BLOCK.days}"
    yield At("end", problem, remedy="Use the StartDate and EndDate of the reservation")


@rule(SETTING_OF_ANOTHER_KIND)
def settings_are_of_the_kind(capacity: CapacityRecord) -> Iterator[At]:
    """No setting of another kind of capacity is used; it would be ignored."""
    kind, given = capacity.market_type, capacity.known()
    for name, fits, whose in (
        ("reservation_id", kind != "spot", "`capacity-block` and `on-demand`"),
        ("order", kind != "spot", "`capacity-block` and `on-demand`"),
        ("resource_group_arn", kind == "on-demand", "`on-demand`"),
        ("max_price_percent", kind == "spot", "`spot`"),
    ):
        if given.get(name) is not None and not fits:
            yield At(name, f"{name} is for {whose}", remedy="Remove it")


@rule(SETTING_OF_ANOTHER_KIND)
def placement_group_is_of_a_reservation(capacity: CapacityRecord) -> Iterator[At]:
    """Only an On-Demand Capacity Reservation names the placement group that it was created in."""
    is_reserved = capacity.reservation_id is not None or capacity.resource_group_arn is not None
    fits = capacity.market_type == "on-demand" and is_reserved
    if capacity.placement_group is not None and not fits:
        problem = "placement_group is for an On-Demand Capacity Reservation"
        yield At("placement_group", problem, remedy="Remove it")


@rule("UC4128")
def reservation_or_group_is_set(capacity: CapacityRecord) -> Iterator[At]:
    """On-Demand capacity is in a reservation or in a group of them, not in both."""
    if capacity.market_type == "on-demand" and capacity.reservation_id and capacity.resource_group_arn:
        remedy = "Set either the reservation or its group"
        yield At("resource_group_arn", "reservation_id is set too", remedy=remedy)


@rule(UNRESOLVED_ORDER)
def order_is_resolved(capacity: CapacityRecord) -> Iterator[At]:
    """The order of the capacity has a reservation."""
    if capacity.order is not None and capacity.market_type != "spot" and capacity.reservation_id is None:
        remedy = "Buy it with `ultracluster capacity buy`, then run `ultracluster capacity resolve ROLLOUT --write`"
        yield At("order", f"the order {capacity.order} is not resolved", remedy=remedy)


@rule("UC4108")
def block_names_its_reservation(capacity: CapacityRecord) -> Iterator[At]:
    """A Capacity Block names its reservation, which instances must target to run in it."""
    is_missing = capacity.order is None and capacity.reservation_id is None
    if capacity.market_type == "capacity-block" and is_missing:
        problem = "reservation_id is required for a Capacity Block"
        remedy = "Set the reservation of the block that was bought; a deployment never buys anything"
        yield At("reservation_id", problem, "cr- and 17 hexadecimal digits", remedy)


@rule()
def zone_is_written_as_an_id(capacity: Capacity) -> Iterator[At]:
    """The zone is named by its ID."""
    zone_id = capacity.zone_id
    if zone_id is not None and not re.fullmatch(ZONE_ID, zone_id):
        yield from (At.of("zone_id", finding) for finding in check_zone_id(zone_id))


SOURCE_RULES: Final = (zone_is_written_as_an_id, strategy_is_offered, settings_fit_what_starts_nodes)
"""Rules about capacity of any kind."""

BLOCK_RULES: Final = (starts_before_it_ends, block_ends_at_its_time, block_is_not_too_long)
"""Rules about a Capacity Block."""

RECORD_RULES: Final = (
    order_is_resolved,
    block_names_its_reservation,
    settings_are_of_the_kind,
    placement_group_is_of_a_reservation,
    strategy_is_offered,
    settings_fit_what_starts_nodes,
    reservation_or_group_is_set,
    *BLOCK_RULES,
)
"""Rules about one capacity of a rollout file."""


@rule()
def type_is_sold_so(cluster: Buyer) -> Iterator[At]:
    """The instance type is sold in the way in which it is bought."""
    for place, capacity in cluster.sources():
        for finding in check_purchase_option(cluster.node_type, capacity.market_type):
            yield At.of((*place, "market_type"), finding)


@rule("UC4105")
def ultraserver_is_one_block(cluster: Buyer) -> Iterator[At]:
    """The nodes of an UltraServer block are those of one UltraServer."""
    node_type = cluster.node_type
    most = node_type.instances_per_ultraserver
    for place, nodes in _nodes_of_blocks(cluster):
        if node_type.in_ultraserver and nodes > most:
            yield At(
                place,
                f"got {nodes} nodes of {node_type.name} for one reservation; it is sold as the "
                f"UltraServer {node_type.ultraserver_type or f'of {most} servers'}, and each UltraServer is a separate block",
                f"1 to {most}",
                "Define one cluster for each UltraServer",
            )


@rule("UC4102")
def block_holds_the_nodes(cluster: Buyer) -> Iterator[At]:
    """One Capacity Block has room for the nodes."""
    for place, nodes in _nodes_of_blocks(cluster):
        if not cluster.node_type.in_ultraserver and nodes > MAX_INSTANCES_PER_BLOCK:
            remedy = "Define one cluster for each block"
            yield At(
                place, f"got {nodes} nodes in one Capacity Block", f"1 to {MAX_INSTANCES_PER_BLOCK}", remedy
            )


@rule("UC4103")
def block_has_a_usual_size(cluster: Buyer) -> Iterator[At]:
    """A Capacity Block has as many instances as those that are usually offered."""
    for place, nodes in _nodes_of_blocks(cluster):
        is_usual = nodes > MAX_INSTANCES_PER_BLOCK or nodes.bit_count() == 1
        if not cluster.node_type.in_ultraserver and not is_usual:
            problem = f"got {nodes} nodes; blocks are usually offered in powers of two"
            yield At(place, problem, remedy="Check that the block has as many instances")


def _nodes_of_blocks(cluster: Buyer) -> Iterator[tuple[Place, int]]:
    """Yield the number of nodes of each Capacity Block with the place that says it."""
    for place, capacity in cluster.sources():
        if capacity.market_type == "capacity-block":
            yield (*place, "max_nodes") if capacity.max_nodes else ("nodes",), cluster.nodes_from(capacity)


@rule()
def reservation_is_one_source(cluster: Buyer) -> Iterator[At]:
    """No reservation is named twice: two compute environments would compete for its instances."""
    given = [
        ((*place, name), target)
        for place, capacity in cluster.sources()
        for name in ("reservation_id", "resource_group_arn")
        if (target := getattr(capacity, name)) is not None
    ]
    for index, finding in check_targets([target for _, target in given]):
        yield At.of(given[index][0], finding)


SIZE_RULES: Final = (type_is_sold_so, block_holds_the_nodes)
"""Rules about the instance type and the number of nodes of all capacity, which constructs run too."""

CLUSTER_RULES: Final = (
    *SIZE_RULES,
    ultraserver_is_one_block,
    block_has_a_usual_size,
    reservation_is_one_source,
)
"""Rules about all capacity of a cluster."""


@rule("UC4152")
def launch_was_shown(cluster: Buyer) -> Iterator[At]:
    """AWS Batch was shown to launch the instance type into a Capacity Block."""
    name = cluster.node_type.name
    for place, capacity in cluster.sources():
        by_batch = capacity.market_type == "capacity-block" and capacity.launched_by == "batch"
        if by_batch and name not in BATCH_LAUNCHES_SHOWN:
            yield At(
                (*place, "launched_by"),
                f"no published run shows AWS Batch launching {name} into a Capacity Block, and its guide says that it ignores "
                "the market options that this needs",
                "auto-scaling, which AWS documents, or batch at your own risk",
                "Ask AWS Batch for its types before the block with `ultracluster deploy ROLLOUT --without-capacity`; "
                "`ultracluster docs two-roads` compares both",
            )


LAUNCH_RULES: Final = (launch_was_shown,)
"""Rules about evidence from AWS, which `validate` and `plan` run: other commands would only repeat them."""


def refuse_shared_block(reservation_id: str, other: str, *, path: str = "") -> Finding:
    """Return the finding (UC4182) about a Capacity Block that another cluster uses already."""
    return Finding(
        "UC4182",
        f"{reservation_id} is the Capacity Block of {other} already, and both would start nodes in it and drain it",
        allowed="a block for each cluster",
        remedy="Use one cluster with two queues, or buy a block for each",
        path=path,
    )


RECORDS: Final = (
    RuleRecord(
        "UC4152",
        "AWS Batch was shown to launch the instance type into a Capacity Block.",
        severity=Severity.WARNING,
        remedy="Set `launched_by: auto-scaling` if you do not know it, or suppress the warning with the run of yours that showed it.",
        source="AWS Batch user guide, launch templates, 2026-10: market options are ignored; AWS HPC blog, 2025-04-29, says otherwise for P5.",
        example="capacity: {market_type: capacity-block, reservation_id: cr-0123456789abcdef0, launched_by: auto-scaling}",
        suppressible=True,
    ),
    RuleRecord(
        "UC4182",
        "A Capacity Block is used by one cluster.",
        remedy="Use one cluster with two queues, or a block for each cluster.",
        source="Our decision: each cluster counts, drains and closes its block as if all instances were its own.",
    ),
    RuleRecord(
        "UC2220",
        "Capacity that names an order also has its reservation before it is deployed.",
        remedy="Buy it with `ultracluster capacity buy`, then run `ultracluster capacity resolve ROLLOUT --write`, which writes the reservation beside the order.",
        source="Our decision: nothing in a deployment buys or looks up, so the id must stand in the file.",
        example="capacity: {order: december, reservation_id: cr-0123456789abcdef0}",
    ),
    RuleRecord(
        "UC2223",
        "The name of an order in a rollout is valid in the ledger.",
        remedy="Use the name of the order in the ledger: 2 to 48 lower case letters, digits and hyphens, a letter first.",
        source="Our decision: the form of the names of orders in the ledger.",
        example="capacity: {order: december-1, reservation_id: cr-0123456789abcdef0}",
    ),
    RuleRecord(
        "UC4020",
        "Nodes of a Capacity Block have no placement group.",
        remedy="Leave `placement` out: auto gives a group to on-demand nodes and none to those of a block, which are close together already.",
        source="EC2 user guide, Capacity Blocks for ML, considerations, 2026-10: placement groups are not supported. Batch's page on EFA says otherwise; we follow EC2.",
        example="network: {placement: auto}",
        in_templates=True,
        never_left_out=True,
    ),
    RuleRecord(
        "UC4023",
        "Nodes of a reservation inside a placement group are launched into that group.",
        remedy="Omit `placement`, or use the placement group of the reservation, as `ClusterPlacement.for_capacity` does.",
        source="EC2 user guide, Capacity Reservations in cluster placement groups, 2026-10: only launches into that group use the reservation.",
    ),
    RuleRecord(
        "UC4101",
        "The number of nodes is 1 to 1,000.",
        remedy="Specify 1 to 1,000 nodes. It is the maximum size of the compute environment; none runs before a job needs it.",
        source="AWS Batch user guide, multi-node parallel jobs, 2026-10: a job has up to 1,000 nodes.",
        example="nodes: 4",
    ),
    RuleRecord(
        "UC4102",
        "A Capacity Block has at most 64 instances.",
        remedy="Define a cluster for each block, or add the second block as `additional_capacity`.",
        source="EC2 user guide, Capacity Blocks for ML, 2026-10: at most 64 instances in a block.",
        example="nodes: 64",
    ),
    RuleRecord(
        "UC4103",
        "The number of nodes is a size in which Capacity Blocks are usually offered.",
        severity=Severity.WARNING,
        remedy="Check with `ultracluster capacity status` or the console that the reservation has as many instances; nodes above them never start.",
        source="SageMaker guide, training plans, 2026-10: powers of two from 1 to 64; what EC2 offers looks alike.",
        example="nodes: 4",
        suppressible=True,
    ),
    RuleRecord(
        "UC4104",
        "An instance type is sold with the market type that the cluster uses.",
        remedy="Choose a market_type that the finding lists for this type, or another type.",
        source="DescribeInstanceTypes, SupportedUsageClasses, as moto 5.2.5 ships it, about 2026-08.",
        in_templates=True,
    ),
    RuleRecord(
        "UC4105",
        "The nodes of one UltraServer block are those of one UltraServer.",
        remedy="Define a cluster for each UltraServer: each is a separate Capacity Block with its own reservation.",
        source="EC2 user guide, Capacity Blocks for UltraServers, 2026-10.",
    ),
    RuleRecord(
        "UC4108",
        "A cluster in a Capacity Block names its reservation.",
        remedy="Specify the reservation of the purchased block; `ultracluster capacity status` prints it. Deployments buy nothing.",
        source="EC2 user guide, launch into Capacity Blocks, 2026-10: a launch must target the reservation.",
        example="capacity: {market_type: capacity-block, reservation_id: cr-0123456789abcdef0}",
    ),
    RuleRecord(
        "UC4109",
        "A Capacity Reservation is specified by its ID.",
        remedy="Specify the ID that begins with cr-. cb- is an offering, cbr- a block; `ultracluster capacity status` prints the reservation of a purchase.",
        source="botocore 1.44.5, EC2 CapacityReservation, 2026.",
        example="capacity: {reservation_id: cr-0123456789abcdef0}",
        in_templates=True,
    ),
    RuleRecord(
        "UC4112",
        "Capacity starts before it ends.",
        remedy="Use the StartDate and EndDate of the reservation.",
        source="Our decision: the queue is opened at the start and drained before the end.",
        example='capacity: {reservation_id: cr-0123456789abcdef0, start: "2026-12-01T11:30:00Z", end: "2026-12-04T11:30:00Z"}',
    ),
    RuleRecord(
        "UC4113",
        "A Capacity Block ends at 11:30 UTC.",
        severity=Severity.WARNING,
        remedy="Use the EndDate of the reservation: a later end drains the queue after the nodes are gone.",
        source="EC2 user guide, Capacity Blocks for ML, 2026-10: a block ends at 11:30 UTC, and instances are ended from 11:00.",
        example='capacity: {reservation_id: cr-0123456789abcdef0, end: "2026-12-04T11:30:00Z"}',
    ),
    RuleRecord(
        "UC4114",
        "A Capacity Block lasts at most 182 days.",
        severity=Severity.WARNING,
        remedy="Use the StartDate and EndDate of the reservation; check the year.",
        source="botocore 1.44.5, EC2 DescribeCapacityBlockOfferings, 2026: 1 to 182 days.",
        example='capacity: {reservation_id: cr-0123456789abcdef0, start: "2026-12-01T11:30:00Z", end: "2027-05-01T11:30:00Z"}',
        suppressible=True,
    ),
    RuleRecord(
        "UC4117",
        "Jobs are notified to write a checkpoint at most 12 hours before the drain.",
        remedy="Specify 0 to 12 hours. Jobs continue after they are notified, so the lead must only be longer than a checkpoint takes.",
        source="Our decision: a block lasts a day or more, and jobs that start after the word would not get it.",
        example='BlockLifecycle(stack, "Life", queue=queue, block=block, checkpoint_lead=cdk.Duration.hours(12))',
    ),
    RuleRecord(
        "UC4121",
        "The sources of a cluster have different names, and at most one of them has none.",
        remedy="Use a different name for each source; the first one is called capacity.",
        source="Our decision: the name is part of ids, and queues name their sources.",
    ),
    RuleRecord(
        "UC4123",
        "The name of a source is short, lower case and starts with a letter.",
        remedy="Use 2 to 32 lower case letters, digits and hyphens, a letter first.",
        source="Our decision: the name is part of the ids of constructs, which are contract.",
    ),
    RuleRecord(
        "UC4124",
        "A resource group of reservations is specified by its ARN.",
        remedy="Specify the ARN of the group; `aws resource-groups list-groups` shows it.",
        source="botocore 1.44.5, EC2 CapacityReservationTarget, 2026.",
    ),
    RuleRecord(
        "UC4125",
        "The price limit of Spot nodes is 1 to 100 percent of the on-demand price.",
        remedy="Specify 1 to 100 percent of the on-demand price; omit it for 100.",
        source="botocore 1.44.5, Batch ComputeResource bidPercentage, 2026.",
    ),
    RuleRecord(
        "UC4126",
        "A setting is used only with a kind of capacity that supports it.",
        remedy="Leave the setting out, or choose the market_type that the finding names for it.",
        source="Our decision: a setting without effect would look as if it protected something.",
    ),
    RuleRecord(
        "UC4127",
        "A reservation is used by only one source of a cluster.",
        remedy="List the reservation once: each source launches its maximum number of nodes into it.",
        source="Our decision: twice the nodes would be asked of one reservation, and half of them never start.",
    ),
    RuleRecord(
        "UC4128",
        "A reservation is specified by its ID or by a resource group, not by both.",
        remedy="Specify either the reservation or its resource group.",
        source="botocore 1.44.5, EC2 CapacityReservationTarget, 2026: one of the two.",
    ),
    RuleRecord(
        "UC4129",
        "A Capacity Block is closed after 1 to 100 consecutive nodes have refused to join.",
        remedy="Set max_refusals from 1 to 100; each refusal costs the minutes of one boot.",
        source="Our decision: a bad image would otherwise launch nodes until the block ends (Batch scales up again after each).",
        example='BlockLifecycle(stack, "Life", queue=queue, block=block, max_refusals=5)',
    ),
    RuleRecord(
        "UC4186",
        "Nodes whose sick ones are replaced publish metrics.",
        remedy="Enable the alarms of the cluster, which bring the metrics of nodes, or leave out sick_nodes.",
        source="Our decision: a node is terminated only for a fault that it has reported.",
        example="sick_nodes: replace",
    ),
    RuleRecord(
        "UC4131",
        "An allocation strategy fits the kind of capacity.",
        remedy="Leave it out: the default is the strategy of published environments.",
        source="AWS Batch user guide, allocation strategies.",
    ),
    RuleRecord(
        "UC7101",
        "AWS sells Capacity Blocks of the duration.",
        remedy="Use the nearest valid duration in the finding: whole days up to 14, then whole weeks up to 182 days.",
        source="botocore 1.44.5, EC2 DescribeCapacityBlockOfferings, 2026.",
        example="check_block_duration(48)",
    ),
)
