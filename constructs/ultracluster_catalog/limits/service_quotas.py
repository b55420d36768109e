"""Service Quotas on resources of a cluster other than its nodes: codes and default values.

Those on accelerated instances are in `ultracluster_catalog.limits.quotas`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Final

from ultracluster_catalog.limits.service_limits import SERVICE_LIMITS


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceQuota:
    """One quota of an account in a Region: service and name as Service Quotas spells them, default in a new account."""

    service: str
    code: str
    name: str
    default: int
    adjustable: bool
    source: str
    dated: date


def quota_request_command(*, service: str, code: str, value: int, region: str) -> str:
    """Return the AWS CLI command that requests an increase of a quota."""
    return (
        f"aws service-quotas request-service-quota-increase --service-code {service} "
        f"--quota-code {code} --desired-value {value} --region {region}"
    )


_LISTS: Final = "lists of default quotas that several public repositories keep"
_READ: Final = date(2026, 11, 21)


def _of_limit(limit: str, *, service: str, name: str, code: str = "") -> ServiceQuota:
    """Describe a quota whose value is a limit of `ultracluster_catalog.limits.service_limits`."""
    known = SERVICE_LIMITS[limit]
    return ServiceQuota(
        service=service,
        code=code or known.quota_code,
        name=name,
        default=known.value,
        adjustable=bool(known.adjustable),
        source=f"{known.source}; code and name: {_LISTS}",
        dated=_READ,
    )


SERVICE_QUOTAS: Final[Mapping[str, ServiceQuota]] = MappingProxyType(
    {
        "compute-environments": _of_limit(
            "compute-environments", service="batch", code="L-144F0CA5", name="Compute environment limit"
        ),
        "job-queues": _of_limit("job-queues", service="batch", code="L-4CEA37AD", name="Job queue limit"),
        "lustre-persistent-2": _of_limit(
            "file-system-storage",
            service="fsx",
            code="L-8F1B9C74",
            name="Lustre Persistent_2 storage capacity",
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
        "lambda-concurrency": ServiceQuota(
            service="lambda",
            code="L-B99A9384",
            name="Concurrent executions",
            default=1_000,
            adjustable=True,
            source="https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html; 10 in many new accounts",
            dated=_READ,
        ),
        "vpcs": _of_limit("vpcs", service="vpc", name="VPCs per Region"),
        "network-interfaces": _of_limit(
            "network-interfaces", service="vpc", name="Network interfaces per Region"
        ),
        "gateway-endpoints": ServiceQuota(
            service="vpc",
            code="L-1B52E74A",
            name="Gateway VPC endpoints per Region",
            default=20,
            adjustable=True,
            source="defaults of Service Quotas (copy in moto 5.2.5)",
            dated=_READ,
        ),
    }
)
"""Quotas by a short name."""
