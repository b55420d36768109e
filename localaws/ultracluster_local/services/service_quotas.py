"""Service Quotas on accelerated instances, AWS Batch, FSx for Lustre, Lambda and VPC; `set_quota` changes one."""

import uuid
from collections.abc import Mapping
from typing import Any

from moto.servicequotas.resources.default_quotas.vpc import VPC_DEFAULT_QUOTAS

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.ec2.capacity_market import capacity_market
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, page

__all__ = ["handlers", "quota_value", "set_quota"]

handlers = Handlers(service="service-quotas")

_NO_LIMIT = 1_000_000  # vCPUs; Service Quotas has no value for "no limit"

# vCPUs of a Region, 0 in a new account. EC2 instance types guide, Amazon EC2 instance type quotas (read September to
# October 2026): https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-quotas.html. The guide omits P4de,
# P6-B200 and P6-B300, whose codes were listed by accounts in use (2026-10-03).
_BLOCK_QUOTAS = {
    "L-2E30FD7D": "Trn1",
    "L-64569A79": "Trn2",
    "L-2C8F52B3": "P4d",
    "L-CFF3E941": "P4de",
    "L-DA6814F2": "P5",
    "L-C45F30BC": "P5e",
    "L-4F9BB70B": "P5en",
    "L-8B23CEF3": "P6-B200",
    "L-9C38E5AB": "P6-B300",
}
_INSTANCE_QUOTAS = {
    "L-2C3B7624": "Running On-Demand Trn instances",
    "L-1945791B": "Running On-Demand Inf instances",
    "L-417A185B": "Running On-Demand P instances",
    "L-6B0D517C": "All Trn Spot Instance Requests",
    "L-B5D1601B": "All Inf Spot Instance Requests",
    "L-7212CCBC": "All P Spot Instance Requests",
}

# Service, code, name, default value, and whether it can be raised. Values: the guides of both services (read September
# to November 2026), https://docs.aws.amazon.com/batch/latest/userguide/service_limits.html,
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/limits.html and
# https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html; codes: published lists of default quotas.
_OTHER_QUOTAS = (
    ("batch", "L-144F0CA5", "Compute environment limit", 50.0, False),
    ("batch", "L-4CEA37AD", "Job queue limit", 50.0, False),
    ("fsx", "L-8F1B9C74", "Lustre Persistent_2 storage capacity", 100_800.0, True),
    ("fsx", "L-AD2FC696", "Lustre Scratch storage capacity", 100_800.0, True),
    ("lambda", "L-B99A9384", "Concurrent executions", 1000.0, True),  # many new accounts have 10
)


def set_quota(*, region: str, service: str, code: str, value: float) -> None:
    """Apply a quota to the account, as an approved increase request does.

    Args:
        region: Region of the quota.
        service: Service code of Service Quotas, such as ``vpc``.
        code: Quota code, such as ``L-F678F1CE``.
        value: Applied value.
    """
    _applied(region)[service, code] = value


def quota_value(service: str, code: str, *, region: str) -> float:
    """Return a quota as applied to the account."""
    return float(_applied(region).get((service, code), _defaults()[service, code]["Value"]))


def _applied(region: str) -> dict[tuple[str, str], float]:
    return region_state("service-quotas", region=region, new=dict)


def _defaults() -> dict[tuple[str, str], dict[str, Any]]:
    """Return the quotas of a new account by service and code."""
    blocks = {
        code: f"Concurrent {family} Capacity Blocks per account" for code, family in _BLOCK_QUOTAS.items()
    }
    rows = [("ec2", code, name, 0.0, True) for code, name in {**_INSTANCE_QUOTAS, **blocks}.items()]
    rows += _OTHER_QUOTAS
    rows += [
        ("vpc", one["QuotaCode"], one["QuotaName"], one["Value"], one["Adjustable"])
        for one in VPC_DEFAULT_QUOTAS
    ]
    return {
        (service, code): {
            "ServiceCode": service,
            "QuotaCode": code,
            "QuotaName": name,
            "Value": value,
            "Unit": "None",
            "Adjustable": adjustable,
            "GlobalQuota": False,
        }
        for service, code, name, value, adjustable in rows
    }


def _with_applied(request: Request, quota: Mapping[str, Any]) -> dict[str, Any]:
    name = (quota["ServiceCode"], quota["QuotaCode"])
    applied = _applied(request.region).get(name, quota["Value"])
    if quota["QuotaCode"] in _BLOCK_QUOTAS and name not in _applied(request.region):
        limit = capacity_market(
            request.region
        ).block_quota_vcpus  # searches for Capacity Blocks enforce this quota
        applied = float(_NO_LIMIT if limit is None else limit)
    arn = request.arn("servicequotas", f"{quota['ServiceCode']}/{quota['QuotaCode']}")
    return {**quota, "Value": applied, "QuotaArn": arn}


def _find(request: Request) -> dict[str, Any]:
    name = (request.parameters["ServiceCode"], request.parameters["QuotaCode"])
    try:
        return _defaults()[name]
    except KeyError:
        raise ServiceError(
            "NoSuchResourceException",
            "The request failed because the specified quota does not exist: the local AWS has no "
            f"{name[1]} of {name[0]}.",
        ) from None


@handlers("GetServiceQuota")
def get_service_quota(request: Request) -> Mapping[str, Any]:
    """Return a quota as applied to the account."""
    return {"Quota": _with_applied(request, _find(request))}


@handlers("GetAWSDefaultServiceQuota")
def get_aws_default_service_quota(request: Request) -> Mapping[str, Any]:
    """Return a quota of a new account."""
    return {"Quota": _find(request)}


@handlers("ListServiceQuotas")
def list_service_quotas(request: Request) -> Mapping[str, Any]:
    """Return all quotas of a service as applied to the account."""
    shown = [_with_applied(request, one) for one in _of_service(request)]
    return page(shown, parameters=request.parameters, key="Quotas")


def _of_service(request: Request) -> list[dict[str, Any]]:
    service = request.parameters["ServiceCode"]
    found = [one for (known, _), one in _defaults().items() if known == service]
    if not found:
        raise ServiceError(
            "NoSuchResourceException",
            f"The request failed because the specified service does not exist: the local AWS has no quotas of {service}.",
        )
    return found


@handlers("RequestServiceQuotaIncrease")
def request_service_quota_increase(request: Request) -> Mapping[str, Any]:
    """Open a request for a higher value, which stays pending; `set_quota` approves it."""
    quota = _with_applied(request, _find(request))
    wanted = float(request.parameters["DesiredValue"])
    if wanted <= quota["Value"]:
        raise ServiceError(
            "IllegalArgumentException", "You must provide a quota value greater than the current quota value."
        )
    if _requests(request, {**quota, "Status": "PENDING"}):
        problem = "Only one open service quota increase request is allowed per quota."
        raise ServiceError("ResourceAlreadyExistsException", problem)
    opened = {"Id": uuid.uuid4().hex, "CaseId": "", "Status": "PENDING", "DesiredValue": wanted}
    shown = ("ServiceCode", "QuotaCode", "QuotaName", "QuotaArn", "GlobalQuota", "Unit")
    opened |= {"Created": CLOCK.now(), **{name: quota[name] for name in shown}}
    _all_requests(request)[str(opened["Id"])] = opened
    return {"RequestedQuota": opened}


def _all_requests(request: Request) -> dict[str, dict[str, Any]]:
    return region_state("service-quotas:requests", region=request.region, new=dict)


def _requests(request: Request, wanted: Mapping[str, Any]) -> list[dict[str, Any]]:
    names = ("ServiceCode", "QuotaCode", "Status")
    asked = {name: wanted[name] for name in names if name in wanted}
    return [one for one in _all_requests(request).values() if asked.items() <= one.items()]


@handlers("ListRequestedServiceQuotaChangeHistory")
@handlers("ListRequestedServiceQuotaChangeHistoryByQuota")
def list_requests(request: Request) -> Mapping[str, Any]:
    """List the requests for higher values."""
    shown = _requests(request, request.parameters)
    return page(shown, parameters=request.parameters, key="RequestedQuotas")


@handlers("GetRequestedServiceQuotaChange")
def get_request(request: Request) -> Mapping[str, Any]:
    """Return a request for a higher value."""
    found = _all_requests(request).get(request.parameters["RequestId"])
    if found is None:
        raise ServiceError(
            "NoSuchResourceException", "The request failed because the specified request does not exist."
        )
    return {"RequestedQuota": found}
