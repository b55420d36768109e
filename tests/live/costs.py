"""Costs of questions, from the price tables of the catalogue."""

from decimal import Decimal

from tests.live.question import Cost

from ultracluster_catalog.prices.prices import (
    capacity_block_price,
    lustre_storage_price,
    on_demand_price,
    service_price,
)

__all__ = ["block", "cluster", "nodes"]

_REGION = "us-east-1"
_HOURS_OF_A_MONTH = 730
_FILE_SYSTEM_GIB = 1200
_VOLUME_GIB = 200
_ENDPOINTS = 9


def _known(amount: Decimal | None) -> Decimal:
    if amount is None:
        raise ValueError("a question needs a price that the catalogue knows")
    return amount


def nodes(instance_type: str, count: int = 1) -> Cost:
    """Return the cost of on-demand instances with their root volumes."""
    volume = _known(service_price("volume gp3", _REGION).amount) * _VOLUME_GIB / _HOURS_OF_A_MONTH
    hourly = (_known(on_demand_price(instance_type, _REGION).amount) + volume) * count
    return Cost(hourly=hourly, what=f"{count} {instance_type}")


def block(instance_type: str, region: str, *, count: int) -> Cost:
    """Return the list price of a Capacity Block of a day; the question buys nothing that is offered for more."""
    fee = _known(capacity_block_price(instance_type, region).amount) * count * 24
    return Cost(once=fee, what=f"a block of {count} {instance_type} for 1 day")


def cluster(*, hours: int) -> Cost:
    """Return the cost of a cluster without nodes that stands for `hours`: endpoints, NAT gateway with its address, file system."""
    hourly = (
        _known(service_price("interface endpoint", _REGION).amount) * _ENDPOINTS
        + _known(service_price("NAT gateway", _REGION).amount)
        + _known(service_price("public IPv4 address", _REGION).amount)
        + _known(lustre_storage_price("SCRATCH_2", None, _REGION).amount)
        * _FILE_SYSTEM_GIB
        / _HOURS_OF_A_MONTH
    )
    return Cost(once=hourly * hours, what=f"a cluster without nodes for {hours} hours")
