"""Costs of live tests from the price tables of the catalogue."""

from decimal import Decimal

from tests.live.question import Cost

from ultracluster_catalog.prices.prices import (
    capacity_block_price,
    lustre_storage_price,
    on_demand_price,
    service_price,
)

__all__ = ["block", "cluster", "file_system", "nodes", "once", "standing"]

_REGION = "us-east-1"
_HOURS_OF_A_MONTH = 730
_VOLUME_GIB = 200
_ENDPOINTS = 9


def _known(amount: Decimal | None) -> Decimal:
    if amount is None:
        raise ValueError("a live test needs a price that the catalogue knows")
    return amount


def nodes(instance_type: str, count: int = 1) -> Cost:
    """Return the cost of on-demand instances with their root volumes; Spot is counted as on demand.

    Args:
        instance_type: API name; a type that us-east-1 has a price for.
        count: Number of instances. Default: 1.
    """
    volume = _known(service_price("volume gp3", _REGION).amount) * _VOLUME_GIB / _HOURS_OF_A_MONTH
    hourly = (_known(on_demand_price(instance_type, _REGION).amount) + volume) * count
    return Cost(hourly=hourly, what=f"{count} {instance_type}")


def block(instance_type: str, region: str, *, count: int, days: int = 1) -> Cost:
    """Return the fee of a Capacity Block by its list price; the test buys nothing that is offered for more.

    Args:
        instance_type: API name.
        region: Region of the block.
        count: Instances.
        days: Length. Default: 1.
    """
    fee = _known(capacity_block_price(instance_type, region).amount) * count * days * 24
    return Cost(once=fee, what=f"a block of {count} {instance_type} for {days} day{'s' if days > 1 else ''}")


def file_system(gib: int = 1200, *, throughput: int | None = None) -> Cost:
    """Return the cost of an FSx for Lustre file system.

    Args:
        gib: Storage. Default: the smallest.
        throughput: MB/s for each TiB of PERSISTENT_2. Default: SCRATCH_2.
    """
    price = lustre_storage_price("SCRATCH_2" if throughput is None else "PERSISTENT_2", throughput, _REGION)
    return Cost(hourly=_known(price.amount) * gib / _HOURS_OF_A_MONTH, what=f"a file system of {gib} GiB")


def cluster() -> Cost:
    """Return the cost of a cluster without nodes: endpoints, NAT gateway with its address, file system."""
    hourly = (
        _known(service_price("interface endpoint", _REGION).amount) * _ENDPOINTS
        + _known(service_price("NAT gateway", _REGION).amount)
        + _known(service_price("public IPv4 address", _REGION).amount)
        + file_system().hourly
    )
    return Cost(hourly=hourly, what="a cluster without nodes")


def standing(cost: Cost, *, hours: int, requests: str = "0") -> Cost:
    """Return what `cost` comes to in a fixed time, for what stands however long a run pauses.

    Args:
        cost: Cost by the hour.
        hours: Hours that it stands at most.
        requests: USD for requests.
    """
    what = f"{cost.what} for {hours} hours" if hours else "requests to Cost Explorer"
    return Cost(once=cost.hourly * hours + Decimal(requests), what=what)


def once(usd: str, what: str) -> Cost:
    """Return a cost that is due at once, such as that of a request."""
    return Cost(once=Decimal(usd), what=what)
