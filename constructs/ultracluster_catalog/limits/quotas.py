"""Service Quotas of EC2 for accelerated instances, with the codes for quota increase requests.

All count vCPUs in one Region, all start at 0 in a new account, and all can be raised.
"""

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Final

from ultracluster_catalog.limits.service_quotas import ServiceQuota
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.instance_types import FAMILIES

_GUIDE: Final = "EC2 instance types guide, Amazon EC2 instance type quotas"
_GUIDE_DATED: Final = date(2026, 9, 1)  # the guide was read on this day or up to two months later
_FIELD: Final = "lists of quotas from accounts in use; not in AWS's guide"
_FIELD_DATED: Final = date(2026, 10, 3)


def _quota(code: str, name: str, *, in_guide: bool = True) -> ServiceQuota:
    return ServiceQuota(
        service="ec2",
        code=code,
        name=name,
        default=0,
        source=_GUIDE if in_guide else _FIELD,
        dated=_GUIDE_DATED if in_guide else _FIELD_DATED,
    )


CAPACITY_BLOCK_QUOTAS: Final[Mapping[str, ServiceQuota]] = MappingProxyType(
    {
        name: _quota(
            quota.code, f"Concurrent {quota.family} Capacity Blocks per account", in_guide=quota.in_guide
        )
        for family in FAMILIES
        for name, quota in family.block_quotas.items()
    }
)
"""Quotas on the Capacity Blocks of an account that are active at once, by instance family.

Which one UltraServers of trn2u count against is not documented.
"""

ON_DEMAND_QUOTAS: Final[Mapping[str, ServiceQuota]] = MappingProxyType(
    {
        "trn": _quota("L-2C3B7624", "Running On-Demand Trn instances"),
        "inf": _quota("L-1945791B", "Running On-Demand Inf instances"),
        "p": _quota("L-417A185B", "Running On-Demand P instances"),
    }
)
"""Quotas on On-Demand Instances by class. Instances in a Capacity Block do not count."""

SPOT_QUOTAS: Final[Mapping[str, ServiceQuota]] = MappingProxyType(
    {
        "trn": _quota("L-6B0D517C", "All Trn Spot Instance Requests"),
        "inf": _quota("L-B5D1601B", "All Inf Spot Instance Requests"),
        "p": _quota("L-7212CCBC", "All P Spot Instance Requests"),
    }
)
"""Quotas on Spot Instances by class."""


def _instance_class(instance_type: InstanceType) -> str:
    return next(name for name in ON_DEMAND_QUOTAS if instance_type.name.startswith(name))


def capacity_block_quota(instance_type: InstanceType) -> ServiceQuota | None:
    """Return the quota that a Capacity Block of this type counts against; None where it is not known."""
    return CAPACITY_BLOCK_QUOTAS.get(instance_type.name.split(".")[0])


def on_demand_quota(instance_type: InstanceType) -> ServiceQuota:
    """Return the quota that On-Demand Instances of this type count against."""
    return ON_DEMAND_QUOTAS[_instance_class(instance_type)]
