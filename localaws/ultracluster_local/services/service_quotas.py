"""Service Quotas: those that the catalogue knows, and moto's of VPC; `set_quota` changes one."""

from collections.abc import Mapping
from typing import Any

from moto.servicequotas.resources.default_quotas.vpc import VPC_DEFAULT_QUOTAS

from ultracluster_catalog.limits.quotas import CAPACITY_BLOCK_QUOTAS, ON_DEMAND_QUOTAS, SPOT_QUOTAS
from ultracluster_catalog.limits.service_quotas import SERVICE_QUOTAS
from ultracluster_local.instance.state import remembered
from ultracluster_local.services.ec2.capacity_market import capacity_market
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, page

__all__ = ["handlers", "set_quota"]

handlers = Handlers(service="service-quotas")

_NO_LIMIT = 1_000_000  # vCPUs; what stands for no limit, which Service Quotas cannot say
_BLOCK_CODES = {quotas.account.code for quotas in CAPACITY_BLOCK_QUOTAS.values()}


def set_quota(*, region: str, service: str, code: str, value: float) -> None:
    """Give the account a quota of its own, as an approved request would.

    Args:
        region: Region of the quota.
        service: The service, as Service Quotas spells it.
        code: Code of the quota.
        value: The quota.
    """
    _applied(region)[service, code] = value


def _applied(region: str) -> dict[tuple[str, str], float]:
    return remembered("service-quotas", region=region, new=dict)


def _defaults() -> dict[tuple[str, str], dict[str, Any]]:
    """What AWS gives a new account; accelerated instances: none."""
    instances = [*ON_DEMAND_QUOTAS.values(), *SPOT_QUOTAS.values()]
    blocks = [quotas.account for quotas in CAPACITY_BLOCK_QUOTAS.values()]
    rows = [("ec2", one.code, one.name, 0.0, True) for one in (*instances, *blocks)]
    rows += [
        (one.service, one.code, one.name, float(one.default), one.adjustable)
        for one in SERVICE_QUOTAS.values()
    ]
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
    if quota["QuotaCode"] in _BLOCK_CODES and name not in _applied(request.region):
        limit = capacity_market(request.region).block_quota_vcpus  # one truth for searches and for this
        applied = float(_NO_LIMIT if limit is None else limit)
    arn = request.arn("servicequotas", f"{quota['ServiceCode']}/{quota['QuotaCode']}")
    return {**quota, "Value": applied, "QuotaArn": arn}


def _find(request: Request) -> dict[str, Any]:
    name = (request.parameters["ServiceCode"], request.parameters["QuotaCode"])
    try:
        return _defaults()[name]
    except KeyError:
        raise ServiceError(
            "NoSuchResourceException", f"The local AWS knows no quota {name[1]} of {name[0]}"
        ) from None


@handlers("GetServiceQuota")
def get_service_quota(request: Request) -> Mapping[str, Any]:
    """Show what the account has."""
    return {"Quota": _with_applied(request, _find(request))}


@handlers("GetAWSDefaultServiceQuota")
def get_aws_default_service_quota(request: Request) -> Mapping[str, Any]:
    """Show what a new account has."""
    return {"Quota": _find(request)}


@handlers("ListServiceQuotas")
def list_service_quotas(request: Request) -> Mapping[str, Any]:
    """Show all quotas of a service, as the account has them."""
    shown = [_with_applied(request, one) for one in _of_service(request)]
    return page(shown, parameters=request.parameters, key="Quotas")


@handlers("ListAWSDefaultServiceQuotas")
def list_aws_default_service_quotas(request: Request) -> Mapping[str, Any]:
    """Show all quotas of a service, as a new account has them."""
    return page(_of_service(request), parameters=request.parameters, key="Quotas")


def _of_service(request: Request) -> list[dict[str, Any]]:
    service = request.parameters["ServiceCode"]
    found = [one for (known, _), one in _defaults().items() if known == service]
    if not found:
        raise ServiceError("NoSuchResourceException", f"The local AWS knows no quotas of {service}")
    return found
