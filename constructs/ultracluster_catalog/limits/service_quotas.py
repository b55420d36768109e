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
    source: str
    dated: date

    def request_command(self, *, value: int, region: str) -> str:
        """Return the AWS CLI command that requests an increase of this quota."""
        return quota_request_command(service=self.service, code=self.code, value=value, region=region)


def quota_request_command(*, service: str, code: str, value: int, region: str) -> str:
    """Return the AWS CLI command that requests an increase of a quota."""
    return (
        f"aws service-quotas request-service-quota-increase --service-code {service} "
        f"--quota-code {code} --desired-value {value} --region {region}"
    )


_LISTS: Final = "lists of default quotas that several public repositories keep"
_LAMBDA: Final = (
    "https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html; 10 in many new accounts"
)
_DEFAULTS: Final = "defaults of Service Quotas (copy in moto 5.2.5)"
_READ: Final = date(2026, 11, 21)

# Short name, service, code, name, default or the short name of a limit of `ultracluster_catalog.limits.service_limits`, source.
_ROWS: Final = (
    ("compute-environments", "batch", "L-144F0CA5", "Compute environment limit", "compute-environments", _LISTS),
    ("job-queues", "batch", "L-4CEA37AD", "Job queue limit", "job-queues", _LISTS),
    ("lustre-persistent-2", "fsx", "L-8F1B9C74", "Lustre Persistent_2 storage capacity", "file-system-storage", _LISTS),
    ("lustre-scratch", "fsx", "L-AD2FC696", "Lustre Scratch storage capacity", 100_800, _LISTS),
    ("lambda-concurrency", "lambda", "L-B99A9384", "Concurrent executions", 1_000, _LAMBDA),
    ("vpcs", "vpc", "", "VPCs per Region", "vpcs", _LISTS),
    ("network-interfaces", "vpc", "", "Network interfaces per Region", "network-interfaces", _LISTS),
    ("gateway-endpoints", "vpc", "L-1B52E74A", "Gateway VPC endpoints per Region", 20, _DEFAULTS),
)  # fmt: skip


def _quota(service: str, code: str, name: str, default: int | str, source: str) -> ServiceQuota:
    if isinstance(default, str):
        limit = SERVICE_LIMITS[default]
        default, code = limit.value, code or limit.quota_code
        source = f"{limit.source}; code and name: {source}"
    return ServiceQuota(service=service, code=code, name=name, default=default, source=source, dated=_READ)


SERVICE_QUOTAS: Final[Mapping[str, ServiceQuota]] = MappingProxyType(
    {key: _quota(*columns) for key, *columns in _ROWS}
)
"""Quotas by a short name."""
