"""Quotas of services have a code, a source and a default, and a command that requests more."""

import re
import shlex

import pytest

from ultracluster_catalog.limits.service_quotas import SERVICE_QUOTAS, ServiceQuota, quota_request_command


@pytest.mark.parametrize("quota", SERVICE_QUOTAS.values(), ids=SERVICE_QUOTAS)
def test_a_quota_has_a_code_a_default_and_a_source(quota: ServiceQuota) -> None:
    assert re.fullmatch("L-[0-9A-F]{8}", quota.code)
    assert quota.default > 0
    assert quota.source


def test_quotas_of_vpcs_are_those_that_moto_recorded() -> None:
    # A module of data that imports nothing else of moto.
    from moto.servicequotas.resources.default_quotas.vpc import VPC_DEFAULT_QUOTAS

    recorded = {quota["QuotaCode"]: quota for quota in VPC_DEFAULT_QUOTAS}
    ours = [quota for quota in SERVICE_QUOTAS.values() if quota.service == "vpc"]
    assert len(ours) == 3
    for quota in ours:
        row = recorded[quota.code]
        assert (quota.name, quota.default) == (row["QuotaName"], row["Value"])


def test_the_command_requests_the_value_in_the_region() -> None:
    command = quota_request_command(service="vpc", code="L-F678F1CE", value=8, region="eu-north-1")

    assert shlex.split(command)[2:] == [
        "request-service-quota-increase",
        *("--service-code", "vpc"),
        *("--quota-code", "L-F678F1CE"),
        *("--desired-value", "8"),
        *("--region", "eu-north-1"),
    ]
