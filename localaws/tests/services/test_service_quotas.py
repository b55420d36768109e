"""Quotas of the account."""

import pytest
from botocore.exceptions import ClientError
from tests.refusals import refusal

from ultracluster_local import LocalAws
from ultracluster_local.services.service_quotas import set_quota

pytestmark = pytest.mark.slow

TRN2_BLOCKS = {"ServiceCode": "ec2", "QuotaCode": "L-64569A79"}


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


def test_a_quota_is_the_default_until_the_account_has_its_own(local_aws: LocalAws) -> None:
    quotas = local_aws.client("service-quotas")
    vpcs = {"ServiceCode": "vpc", "QuotaCode": "L-F678F1CE"}
    assert quotas.get_service_quota(**vpcs)["Quota"]["Value"] == 5.0
    set_quota(region="us-east-1", service="vpc", code="L-F678F1CE", value=9)
    assert quotas.get_service_quota(**vpcs)["Quota"]["Value"] == 9.0
    assert quotas.get_aws_default_service_quota(**vpcs)["Quota"]["Value"] == 5.0
    assert local_aws.client("service-quotas", "us-east-2").get_service_quota(**vpcs)["Quota"]["Value"] == 5.0


def test_the_quota_on_blocks_is_that_of_the_market(local_aws: LocalAws) -> None:
    quotas = local_aws.client("service-quotas")
    local_aws.capacity_market().block_quota_vcpus = 0
    assert quotas.get_service_quota(**TRN2_BLOCKS)["Quota"]["Value"] == 0.0


def test_quotas_are_listed_in_pages_and_unknown_ones_refused(local_aws: LocalAws) -> None:
    quotas = local_aws.client("service-quotas")
    pages = quotas.get_paginator("list_service_quotas").paginate(
        ServiceCode="ec2", PaginationConfig={"PageSize": 4}
    )
    listed = [quota["QuotaCode"] for page in pages for quota in page["Quotas"]]
    assert "L-64569A79" in listed
    assert len(listed) == len(set(listed)) > 10
    with pytest.raises(ClientError) as error:
        quotas.get_service_quota(ServiceCode="ec2", QuotaCode="L-00000000")
    assert code(error) == "NoSuchResourceException"


def test_one_request_for_a_quota_is_open_and_listed(local_aws: LocalAws) -> None:
    quotas = local_aws.client("service-quotas")
    wanted = {"ServiceCode": "ec2", "QuotaCode": "L-417A185B"}
    opened = quotas.request_service_quota_increase(**wanted, DesiredValue=192)["RequestedQuota"]

    assert (
        refusal(quotas.request_service_quota_increase, **wanted, DesiredValue=193)[0]
        == "ResourceAlreadyExistsException"
    )
    by_quota = quotas.list_requested_service_quota_change_history_by_quota(**wanted)["RequestedQuotas"]
    assert by_quota == quotas.list_requested_service_quota_change_history()["RequestedQuotas"] == [opened]
    assert quotas.list_requested_service_quota_change_history(ServiceCode="vpc")["RequestedQuotas"] == []
    assert quotas.get_requested_service_quota_change(RequestId=opened["Id"])["RequestedQuota"] == opened
    assert (
        refusal(quotas.get_requested_service_quota_change, RequestId="none")[0] == "NoSuchResourceException"
    )
