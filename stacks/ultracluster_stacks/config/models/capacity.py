"""`capacity` of a cluster: how its instances are bought and which reservation they run in."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from ultracluster_rules.capacity import MAX_NODES, MAX_PRICE_PERCENT, RESERVATION, RESOURCE_GROUP
from ultracluster_stacks.config.models.constraints import Form, constraint, refusal
from ultracluster_stacks.config.models.model import ConfigModel
from ultracluster_stacks.config.models.names import Name, placement_group_name
from ultracluster_stacks.config.reading.problem import shown

__all__ = ["CapacityConfig", "FurtherCapacityConfig", "NodeCount"]

NodeCount = Annotated[int, constraint(MAX_NODES)]
"""Most nodes at one time."""

_UTC_TIME: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?Z"


def _read_utc(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC)
    if not isinstance(value, (str, datetime)):
        return value  # for pydantic to refuse
    text = str(value)
    if re.fullmatch(_UTC_TIME, text):
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            remedy = "There is no such day or time"
    elif re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        remedy = "Add the time and Z"
    elif re.fullmatch(r"[0-9-]{10}[T ][0-9:.]+", text):
        remedy = "Write T between day and time, and Z at the end when it is UTC"
    else:
        remedy = "Convert it to UTC; Capacity Blocks start and end by UTC"
    raise refusal(
        code="UC4111",
        problem=f"got {shown(text)}",
        allowed='ISO 8601 in UTC, such as "2026-12-01T11:30:00Z"',
        remedy=remedy,
    )


_Utc = Annotated[
    datetime,
    BeforeValidator(_read_utc),
    WithJsonSchema({"type": "string", "pattern": f"^{_UTC_TIME}$", "examples": ["2026-12-01T11:30:00Z"]}),
]


class CapacityConfig(ConfigModel):
    """How the instances of a cluster are bought. Nothing is bought by a deployment."""

    market_type: Literal["capacity-block", "on-demand", "spot"] = Field(
        default="capacity-block",
        description="`capacity-block`: the instances run in a Capacity Block that was bought before. "
        "`on-demand`: they run on demand, in On-Demand Capacity Reservations if `reservation_id` or "
        "`resource_group_arn` names them. `spot`: EC2 takes them back with two minutes' notice; for jobs of one node.",
    )
    reservation_id: (
        Annotated[
            str,
            constraint(RESERVATION),
        ]
        | None
    ) = Field(
        default=None,
        description="Id of the Capacity Reservation, also that of a Capacity Block: cr- and 17 hexadecimal "
        "digits. Required for `capacity-block`.",
    )
    order: (
        Annotated[
            str,
            Form(
                code="UC2223",
                pattern=r"[a-z][a-z0-9-]{1,47}",
                allowed="the name of an order in the ledger: 2 to 48 of a-z, 0-9 and -, a letter first",
            ),
        ]
        | None
    ) = Field(
        default=None,
        description="Name of the order that buys it, in place of `reservation_id`: once it is bought, `ultracluster capacity "
        "resolve --write` writes reservation, zone, start and end beside it. Default: none.",
    )
    start: _Utc | None = Field(
        default=None, description="When the capacity starts: ISO 8601 in UTC, in quotes. Default: not known."
    )
    end: _Utc | None = Field(
        default=None,
        description="When the capacity ends: ISO 8601 in UTC, in quotes; 11:30 for a Capacity Block. "
        "Default: not known.",
    )
    resource_group_arn: (
        Annotated[
            str,
            constraint(RESOURCE_GROUP),
        ]
        | None
    ) = Field(
        default=None,
        description="ARN of a resource group of On-Demand Capacity Reservations, in place of `reservation_id`: the "
        "instances run in whichever of them has room, and nowhere else. Default: none.",
    )
    placement_group: (
        Annotated[str, placement_group_name("the name of an existing cluster placement group")] | None
    ) = Field(
        default=None,
        description="Name of the cluster placement group that the On-Demand Capacity Reservation was made inside. "
        "Default: it was made outside any group.",
    )
    max_nodes: NodeCount | None = Field(
        default=None,
        description="Most nodes from this capacity at one time, 1 to 1,000. Default: the `nodes` of the cluster.",
    )
    max_price_percent: Annotated[int, constraint(MAX_PRICE_PERCENT)] | None = Field(
        default=None,
        description="For `spot`: the most that an instance may cost, in percent of the on-demand price. Default: 100.",
    )


class FurtherCapacityConfig(CapacityConfig):
    """More capacity of a cluster, for when what stands before it has no room."""

    name: Name = Field(
        description="Name of this capacity, once in a cluster. It can be moved in the list, but a new name replaces its "
        "compute environment."
    )
    market_type: Literal["capacity-block", "on-demand", "spot"] = Field(
        description="`capacity-block`, `on-demand` or `spot`, as in `capacity`."
    )
