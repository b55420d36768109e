"""Base class of the capacity sources."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypedDict

from aws_cdk import Token
from aws_cdk import aws_ec2 as ec2

from ultracluster_catalog.names.identifiers import SOURCE_NAME, ZONE_ID
from ultracluster_rules.capacity import (
    MAX_NODES,
    SETTING_OF_ANOTHER_KIND,
    AllocationStrategy,
    check_allocation_strategy,
    check_group_settings,
)
from ultracluster_rules.findings import Finding, quote, require
from ultracluster_rules.network import check_zone_id
from ultracluster_rules.numbers import reject_unsafe_numbers

LaunchedBy = Literal["batch", "auto-scaling"]
"""What starts the nodes of a source."""


class SourceOptions(TypedDict, total=False):
    """Attributes of `CapacitySource`, as arguments of its subclasses."""

    name: str | None
    max_nodes: int | None
    allocation_strategy: AllocationStrategy
    launched_by: LaunchedBy


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacitySource:
    """Attributes of every capacity source.

    Attributes:
        name: Name among the capacity sources of a cluster, 2 to 32 lowercase letters, digits and hyphens. It is part of the
            construct IDs for the source, so that sources can be added, removed and reordered without changes to the
            others. Default: none, allowed for one source of a cluster.
        max_nodes: Maximum number of nodes from it at one time. Default: that of the queue.
        allocation_strategy: ``best-fit-progressive``, with which the compute environment is updated in place and can start
            one instance more than `max_nodes`, or ``best-fit``, with which AWS Batch replaces it for each new AMI or
            launch template. AWS Batch cannot change ``best-fit`` of an existing environment; name the source differently
            to get a new one. Default: ``best-fit-progressive``; ``best-fit`` for a Capacity Block.
        launched_by: ``batch``, or ``auto-scaling``: an Auto Scaling group starts the nodes, which stay while no job runs, and
            multi-node jobs run as arrays (decision 0024). Default: ``batch``.
    """

    market_type: ClassVar[str] = "on-demand"
    prepaid: ClassVar[bool] = False
    name: str | None = None
    max_nodes: int | None = None
    allocation_strategy: AllocationStrategy = "best-fit-progressive"
    launched_by: LaunchedBy = "batch"

    def __post_init__(self) -> None:
        reject_unsafe_numbers(self)

    def check(self) -> list[Finding]:
        """Check the attributes, as a construct that uses the source does, so that it can report them with its own."""
        return [*_common_problems(self), *self._problems()]

    def _problems(self) -> list[Finding]:
        return []

    @property
    def market_options(self) -> ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty | None:
        """Market type of the launch template; None for On-Demand, and for Spot, where AWS Batch sets it."""
        return None

    @property
    def reservation_specification(
        self,
    ) -> ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty | None:
        """Reservation target of the launch template."""
        return None

    @property
    def node_tags(self) -> Mapping[str, str]:
        """Tags of the nodes of this source."""
        return {}


def _common_problems(source: CapacitySource) -> list[Finding]:
    findings = require(
        source.name is None or re.fullmatch(SOURCE_NAME, source.name),
        "UC4123",
        f"got {quote(source.name)}",
        allowed="2 to 32 characters: lower case letters, digits and hyphens, a letter first",
        path="name",
    )
    max_nodes = source.max_nodes
    if max_nodes is not None:
        findings += MAX_NODES.check(max_nodes, path="max_nodes")
    zone_id = getattr(source, "zone_id", None)
    if zone_id is not None and not Token.is_unresolved(zone_id) and not re.fullmatch(ZONE_ID, zone_id):
        findings += [finding.at("zone_id") for finding in check_zone_id(zone_id)]
    findings += require(
        source.market_type != "spot" or not (source.reservation_specification or source.market_options),
        SETTING_OF_ANOTHER_KIND,
        f"{type(source).__name__} is of the Spot market and also names a reservation or a market",
        allowed="one market: Spot, On-Demand or a reservation",
        path="market_type",
    )
    strategy = source.allocation_strategy
    price = getattr(source, "max_price_percent", None)
    findings += check_allocation_strategy(source.market_type, strategy, path="allocation_strategy")
    return findings + check_group_settings(source.launched_by, source.market_type, strategy, price)
