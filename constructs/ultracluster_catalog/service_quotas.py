"""Service Quotas on what a cluster takes beside its nodes: codes, and what a new account has.

Those on accelerated instances are in `ultracluster_catalog.quotas`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Final

__all__ = ["SERVICE_QUOTAS", "ServiceQuota", "quota_request_command"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceQuota:
    """One quota of an account in a Region.

    Attributes:
        service: The service, as Service Quotas spells it.
        code: Its code, such as ``L-F678F1CE``.
        name: Its name in the console.
        default: What a new account has.
        adjustable: Whether it can be raised.
        source: Where this comes from.
        dated: The day of the newest evidence.
    """

    service: str
    code: str
    name: str
    default: int
    adjustable: bool
    source: str
    dated: date


def quota_request_command(*, service: str, code: str, value: int, region: str) -> str:
    """Give the AWS CLI command that asks for a quota.

    Args:
        service: The service, as Service Quotas spells it.
        code: Code of the quota.
        value: The value to ask for.
        region: The Region to ask in.
    """
    return (
        f"aws service-quotas request-service-quota-increase --service-code {service} "
        f"--quota-code {code} --desired-value {value} --region {region}"
    )


_LISTS: Final = "lists of default quotas that several public repositories keep"
_MOTO: Final = "defaults of Service Quotas (copy in moto 5.2.5)"
_READ: Final = date(2026, 11, 21)

SERVICE_QUOTAS: Final[Mapping[str, ServiceQuota]] = MappingProxyType(
    {
        "compute-environments": ServiceQuota(
            service="batch",
            code="L-144F0CA5",
            name="Compute environment limit",
            default=50,
            adjustable=False,
            source=f"{_LISTS}; the value: AWS Batch User Guide, service quotas",
            dated=_READ,
        ),
        "job-queues": ServiceQuota(
            service="batch",
            code="L-4CEA37AD",
            name="Job queue limit",
            default=50,
            adjustable=False,
            source=f"{_LISTS}; the value: AWS Batch User Guide, service quotas",
            dated=_READ,
        ),
        "lustre-persistent-2": ServiceQuota(
            service="fsx",
            code="L-8F1B9C74",
            name="Lustre Persistent_2 storage capacity",
            default=100_800,
            adjustable=True,
            source=_LISTS,
            dated=_READ,
        ),
        "lustre-scratch": ServiceQuota(
            service="fsx",
            code="L-AD2FC696",
            name="Lustre Scratch storage capacity",
            default=100_800,
            adjustable=True,
            source=_LISTS,
            dated=_READ,
        ),
        "vpcs": ServiceQuota(
            service="vpc",
            code="L-F678F1CE",
            name="VPCs per Region",
            default=5,
            adjustable=True,
            source=_MOTO,
            dated=_READ,
        ),
        "network-interfaces": ServiceQuota(
            service="vpc",
            code="L-DF5E4CA3",
            name="Network interfaces per Region",
            default=5_000,
            adjustable=True,
            source=_MOTO,
            dated=_READ,
        ),
        "gateway-endpoints": ServiceQuota(
            service="vpc",
            code="L-1B52E74A",
            name="Gateway VPC endpoints per Region",
            default=20,
            adjustable=True,
            source=_MOTO,
            dated=_READ,
        ),
    }
)
"""Quotas by our name of them."""
