"""Rules about the capacity of a cluster: how its type is sold, the size of a block, its reservation and its window."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from ultracluster_catalog.capacity.capacity_blocks import (
    BLOCK_END_UTC,
    LONGEST_BLOCK,
    MAX_INSTANCES_PER_BLOCK,
    block_regions,
)
from ultracluster_rules.capacity import (
    SETTING_OF_ANOTHER_KIND,
    check_allocation_strategy,
    check_group_settings,
    check_purchase_option,
    check_targets,
    check_window,
)
from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.reading.problem import Loc, Problem, located

UNRESOLVED_ORDER: Final = "UC2220"
"""Code of capacity whose order has no reservation yet; `capacity resolve` fixes it."""


def type_is_sold_so(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse a purchase option that the instance type lacks."""
    for loc, capacity in cluster.sources():
        findings = check_purchase_option(cluster.machine, capacity.market_type)
        yield from located((*loc, "market_type"), findings)


def block_holds_nodes(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse more nodes than one Capacity Block can have."""
    instance_type = cluster.machine
    for at, capacity in cluster.sources():
        if capacity.market_type != "capacity-block":
            continue
        nodes = cluster.nodes_from(capacity)
        loc: Loc = (*at, "max_nodes") if capacity.max_nodes else ("nodes",)
        if instance_type.ultraserver_type is not None:
            if nodes > instance_type.instances_per_ultraserver:
                yield Problem.of(
                    loc,
                    "UC4105",
                    f"got {nodes} nodes of {instance_type.name} for one reservation; it is sold as the "
                    f"UltraServer {instance_type.ultraserver_type}, and each UltraServer is a separate block",
                    allowed=f"1 to {instance_type.instances_per_ultraserver}",
                    remedy="Define one cluster for each UltraServer",
                )
        elif nodes > MAX_INSTANCES_PER_BLOCK:
            problem = f"got {nodes} nodes in one Capacity Block"
            remedy = "Define one cluster for each block"
            yield Problem.of(loc, "UC4102", problem, allowed=f"1 to {MAX_INSTANCES_PER_BLOCK}", remedy=remedy)
        elif nodes.bit_count() != 1:
            problem = f"got {nodes} nodes; blocks are usually offered in powers of two"
            yield Problem.of(loc, "UC4103", problem, remedy="Check that the block has as many instances")


def block_is_sold_in_region(cluster: ClusterConfig) -> Iterator[Problem]:
    """Warn about a Region for which AWS lists no Capacity Blocks of the type; its list is not complete."""
    regions = block_regions(cluster.instance_type)
    if not regions or cluster.region in regions:
        return
    if cluster.has_block:
        problem = f"Capacity Blocks of {cluster.instance_type} are not known to be sold in {cluster.region}"
        yield Problem.of(("region",), "UC4107", problem, remedy=f"Known Regions: {', '.join(regions)}")


def block_names_reservation(cluster: ClusterConfig) -> Iterator[Problem]:
    """Require the reservation of a Capacity Block, which instances must target to run in it."""
    for loc, capacity in cluster.sources():
        unresolved = capacity.order is not None and capacity.market_type != "spot"
        if unresolved and capacity.reservation_id is None:
            yield Problem.of(
                (*loc, "order"),
                UNRESOLVED_ORDER,
                f"the order {capacity.order} is not resolved",
                remedy="Buy it with `ultracluster capacity buy`, then run `ultracluster capacity resolve ROLLOUT --write`",
            )
        elif capacity.market_type == "capacity-block" and capacity.reservation_id is None:
            problem = "reservation_id is required for a Capacity Block"
            allowed = "cr- and 17 hexadecimal digits"
            remedy = "Set the reservation of the block that was bought; a deployment never buys anything"
            yield Problem.of((*loc, "reservation_id"), "UC4108", problem, allowed=allowed, remedy=remedy)


def settings_fit_kind(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse settings that do not apply to the kind of capacity; they would be silently ignored."""
    for loc, capacity in cluster.sources():
        kind = capacity.market_type
        reserved = capacity.reservation_id is not None or capacity.resource_group_arn is not None
        for name, fits, whose in (
            ("reservation_id", kind != "spot", "`capacity-block` and `on-demand`"),
            ("order", kind != "spot", "`capacity-block` and `on-demand`"),
            ("resource_group_arn", kind == "on-demand", "`on-demand`"),
            ("placement_group", kind == "on-demand" and reserved, "an On-Demand Capacity Reservation"),
            ("max_price_percent", kind == "spot", "`spot`"),
        ):
            if getattr(capacity, name) is not None and not fits:
                yield Problem.of(
                    (*loc, name), SETTING_OF_ANOTHER_KIND, f"{name} is for {whose}", remedy="Remove it"
                )
        strategy = capacity.allocation_strategy
        if strategy:
            findings = check_allocation_strategy(kind, strategy, path="")
            yield from located((*loc, "allocation_strategy"), findings)
        price = capacity.max_price_percent if kind == "spot" else None
        for finding in check_group_settings(capacity.launched_by, kind, strategy, price):
            yield Problem((*loc, finding.path), finding)
        if kind == "on-demand" and capacity.reservation_id and capacity.resource_group_arn:
            problem = "reservation_id is set too"
            remedy = "Set either the reservation or its group"
            yield Problem.of((*loc, "resource_group_arn"), "UC4128", problem, remedy=remedy)


def block_settings_have_a_block(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse settings of the life cycle of Capacity Blocks where there is none; they would be silently ignored."""
    for name in ("checkpoint_lead_minutes", "max_refusals"):
        if cluster.differs(name) and not cluster.has_block:
            yield Problem.of(
                (name,), SETTING_OF_ANOTHER_KIND, f"{name} is for `capacity-block`", remedy="Remove it"
            )


def reservation_is_one_source(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse a duplicate reservation, for whose instances two compute environments would compete."""
    given = [
        ((*loc, name), target)
        for loc, capacity in cluster.sources()
        for name in ("reservation_id", "resource_group_arn")
        if (target := getattr(capacity, name)) is not None
    ]
    for index, finding in check_targets([target for _, target in given]):
        yield Problem(given[index][0], finding)


def window_is_in_order(cluster: ClusterConfig) -> Iterator[Problem]:
    """Check that capacity starts before it ends, and that a Capacity Block ends at the fixed time of day."""
    for loc, capacity in cluster.sources():
        block = capacity.market_type == "capacity-block"
        if block and capacity.end is not None and capacity.end.time() != BLOCK_END_UTC:
            problem = f"got an end at {capacity.end:%H:%M:%S} UTC, but Capacity Blocks end at 11:30 UTC"
            yield Problem.of((*loc, "end"), "UC4113", problem, remedy="Use the EndDate of the reservation")
        if capacity.start is None or capacity.end is None:
            continue
        if order := check_window(capacity.start, capacity.end):
            yield from located((*loc, "end"), order)
        elif block and capacity.end - capacity.start > LONGEST_BLOCK:
            yield Problem.of(
                (*loc, "end"),
                "UC4114",
                f"got {(capacity.end - capacity.start) / timedelta(days=1):.1f} days, but a Capacity Block lasts at most {LONGEST_BLOCK.days}",
                remedy="Use the StartDate and EndDate of the reservation",
            )
