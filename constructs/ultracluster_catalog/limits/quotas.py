"""Service Quotas of EC2 for accelerated instances, with the codes for quota increase requests.

All count vCPUs in one Region, all start at 0 in a new account, and all can be raised.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Final

from ultracluster_catalog.limits.service_quotas import quota_request_command
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.instance_types import FAMILIES
from ultracluster_catalog.machines.machine import BlockQuotaCodes


@dataclass(frozen=True, kw_only=True, slots=True)
class Quota:
    """One quota of the service ``ec2``, in vCPUs per Region, 0 by default."""

    code: str
    name: str
    source: str
    dated: date

    def request_command(self, *, vcpus: int, region: str) -> str:
        """Return the AWS CLI command that requests an increase of this quota."""
        return quota_request_command(service="ec2", code=self.code, value=vcpus, region=region)


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityBlockQuotas:
    """The quotas on concurrently active Capacity Blocks of one family; that of an organization if its code is known."""

    account: Quota
    organization: Quota | None


_GUIDE: Final = "EC2 instance types guide, Amazon EC2 instance type quotas"
_GUIDE_DATED: Final = date(2026, 9, 1)  # the guide was read on this day or up to two months later
_FIELD: Final = "lists of quotas from accounts in use; not in AWS's guide"
_FIELD_DATED: Final = date(2026, 10, 3)


def _blocks(codes: BlockQuotaCodes) -> CapacityBlockQuotas:
    source, dated = (_GUIDE, _GUIDE_DATED) if codes.in_guide else (_FIELD, _FIELD_DATED)
    name = f"Concurrent {codes.family} Capacity Blocks per"
    return CapacityBlockQuotas(
        account=Quota(code=codes.account, name=f"{name} account", source=source, dated=dated),
        organization=Quota(code=codes.organization, name=f"{name} organization", source=source, dated=dated)
        if codes.organization
        else None,
    )


def _guide(code: str, name: str) -> Quota:
    return Quota(code=code, name=name, source=_GUIDE, dated=_GUIDE_DATED)


CAPACITY_BLOCK_QUOTAS: Final[Mapping[str, CapacityBlockQuotas]] = MappingProxyType(
    {name: _blocks(codes) for family in FAMILIES for name, codes in family.block_quotas.items()}
)
"""Quotas on Capacity Blocks by instance family. Which one UltraServers of trn2u count against is not documented."""

ON_DEMAND_QUOTAS: Final[Mapping[str, Quota]] = MappingProxyType(
    {
        "trn": _guide("L-2C3B7624", "Running On-Demand Trn instances"),
        "inf": _guide("L-1945791B", "Running On-Demand Inf instances"),
        "p": _guide("L-417A185B", "Running On-Demand P instances"),
    }
)
"""Quotas on On-Demand Instances by class. Instances in a Capacity Block do not count."""

SPOT_QUOTAS: Final[Mapping[str, Quota]] = MappingProxyType(
    {
        "trn": _guide("L-6B0D517C", "All Trn Spot Instance Requests"),
        "inf": _guide("L-B5D1601B", "All Inf Spot Instance Requests"),
        "p": _guide("L-7212CCBC", "All P Spot Instance Requests"),
    }
)
"""Quotas on Spot Instances by class."""


def _instance_class(instance_type: InstanceType) -> str:
    return next(name for name in ON_DEMAND_QUOTAS if instance_type.name.startswith(name))


def capacity_block_quotas(instance_type: InstanceType) -> CapacityBlockQuotas | None:
    """Return the quotas that a Capacity Block of this type counts against; None where they are not known."""
    return CAPACITY_BLOCK_QUOTAS.get(instance_type.name.split(".")[0])


def on_demand_quota(instance_type: InstanceType) -> Quota:
    """Return the quota that On-Demand Instances of this type count against."""
    return ON_DEMAND_QUOTAS[_instance_class(instance_type)]


def spot_quota(instance_type: InstanceType) -> Quota:
    """Return the quota that Spot Instances of this type count against."""
    return SPOT_QUOTAS[_instance_class(instance_type)]
