"""`capacity` of a cluster: how its instances are bought, and the reservation that they run in."""

import re
import zlib
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, WithJsonSchema

from ultracluster_rules.capacity import (
    MAX_NODES,
    MAX_PRICE_PERCENT,
    RESERVATION,
    RESOURCE_GROUP,
    UTC_TIME,
    AllocationStrategy,
)
from ultracluster_rules.findings import Finding
from ultracluster_stacks.config.models.constraints import Constraint, form, refusal
from ultracluster_stacks.config.models.model import ConfigModel
from ultracluster_stacks.config.models.names import Name, placement_group_name
from ultracluster_stacks.config.reading.problem import shown

NodeCount = Annotated[int, Constraint(MAX_NODES)]
"""Maximum number of nodes at a time."""

_UTC_TIME: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?Z"


def _read_utc(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC)
    if not isinstance(value, (str, datetime)):
        return value  # pydantic refuses it
    text = str(value)
    if re.fullmatch(_UTC_TIME, text):
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            remedy = "This date or time does not exist"
    elif re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        remedy = "Add the time and Z"
    elif re.fullmatch(r"[0-9-]{10}[T ][0-9:.]+", text):
        remedy = "Write T between date and time, and Z at the end if it is UTC"
    else:
        remedy = "Convert it to UTC"
    allowed = 'ISO 8601 in UTC, such as "2026-12-01T11:30:00Z"'
    raise refusal(Finding(UTC_TIME, f"got {shown(text)}", allowed=allowed, remedy=remedy))


_Utc = Annotated[
    datetime,
    BeforeValidator(_read_utc),
    WithJsonSchema({"type": "string", "pattern": f"^{_UTC_TIME}$", "examples": ["2026-12-01T11:30:00Z"]}),
]


def placeholder_reservation(name: str) -> str:
    """Return the reservation ID of an order that is not bought: nine zeros, then a checksum of its name."""
    return f"cr-{zlib.crc32(name.encode()):017x}"


class CapacityConfig(ConfigModel):
    """How the instances of a cluster are bought. A deployment never buys anything."""

    market_type: Literal["capacity-block", "on-demand", "spot"] = "capacity-block"
    """`capacity-block`: the instances run in a Capacity Block that was bought beforehand. `on-demand`: On-Demand Instances,
    in On-Demand Capacity Reservations with `reservation_id` or `resource_group_arn`. `spot`: Spot Instances, interrupted
    with two minutes' notice; single-node jobs only."""

    reservation_id: Annotated[str, Constraint(RESERVATION)] | None = None
    """ID of the Capacity Reservation, also of a Capacity Block: cr- and 17 hexadecimal digits. Required for
    `capacity-block`."""

    order: (
        Annotated[
            str,
            form(
                code="UC2223",
                pattern=r"[a-z][a-z0-9-]{1,47}",
                allowed="the name of an order in the ledger: 2 to 48 of a-z, 0-9 and -, starting with a letter",
            ),
        ]
        | None
    ) = None
    """Name of the order that buys the capacity, instead of `reservation_id`. After the purchase, `ultracluster capacity
    resolve --write` adds reservation, zone, start and end. Default: none."""

    start: _Utc | None = None
    """Start of the capacity: ISO 8601 in UTC, in quotes. Default: unknown."""

    end: _Utc | None = None
    """End of the capacity: ISO 8601 in UTC, in quotes; 11:30 for a Capacity Block. Default: unknown."""

    resource_group_arn: Annotated[str, Constraint(RESOURCE_GROUP)] | None = None
    """ARN of a resource group of On-Demand Capacity Reservations, instead of `reservation_id`. Instances launch only into
    reservations of the group. Default: none."""

    placement_group: (
        Annotated[str, placement_group_name("the name of an existing cluster placement group")] | None
    ) = None
    """Name of the cluster placement group of the On-Demand Capacity Reservation. Default: the reservation has none."""

    max_nodes: NodeCount | None = None
    """Maximum number of nodes in this capacity, 1 to 1,000. Default: `nodes` of the cluster."""

    allocation_strategy: AllocationStrategy | None = None
    """Allocation strategy of AWS Batch. `best-fit-progressive`: the compute environment is updated in place, and can start
    one instance more than `max_nodes`. `best-fit`: it is replaced for each new AMI or launch template, and can only get
    another strategy under another `name`. For `spot`: `price-capacity-optimized` or `capacity-optimized`. Default:
    best-fit for `capacity-block`, best-fit-progressive for `on-demand`, price-capacity-optimized for `spot`."""

    launched_by: Literal["batch", "auto-scaling"] = "batch"
    """What starts the nodes. `auto-scaling`: an Auto Scaling group, whose nodes stay while no job runs; multi-node jobs run as
    arrays of one child for each node. Default: batch."""

    max_price_percent: Annotated[int, Constraint(MAX_PRICE_PERCENT)] | None = None
    """For `spot`: maximum price, in percent of the On-Demand price. Default: 100."""


class AdditionalCapacityConfig(CapacityConfig):
    """Capacity used when the capacity before it in the list is full."""

    name: Name
    """Name of this capacity, unique in the cluster. Its position in the list can change; another name replaces its compute
    environment."""

    market_type: Literal["capacity-block", "on-demand", "spot"]
    """`capacity-block`, `on-demand` or `spot`, as in `capacity`."""
