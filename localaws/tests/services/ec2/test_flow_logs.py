"""Destinations of VPC flow logs."""

from typing import Any

import pytest
from tests.refusals import said

from ultracluster_local import LocalAws
from ultracluster_local.services.ec2.flow_logs import check_create_flow_logs
from ultracluster_local.services.handlers import Request

pytestmark = pytest.mark.slow

BUCKET = "arn:aws:s3:::logs"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"LogGroupName": "g"}, ""),
        ({"LogGroupName": "g", "LogDestinationType": "cloud-watch-logs"}, ""),
        ({"LogDestination": BUCKET, "LogDestinationType": "s3"}, ""),
        ({}, "LogDestination can't be empty if LogGroupName is not provided."),
        ({"LogGroupName": "g", "LogDestination": BUCKET}, "only provide LogGroupName or only provide LogDestination."),
        ({"LogGroupName": "g", "LogDestinationType": "s3"}, "type must be cloud-watch-logs if LogGroupName is provided."),
    ],
)  # fmt: skip
def test_a_flow_log_has_one_destination_that_fits_its_type(given: dict[str, Any], words: str) -> None:
    request = Request(operation="CreateFlowLogs", parameters=given, region="us-east-1")

    found = said(check_create_flow_logs, request)

    assert found.endswith(words)
    assert bool(found) == bool(words)


def test_a_flow_log_without_a_destination_is_not_created(local_aws: LocalAws) -> None:
    ec2 = local_aws.client("ec2")
    vpc = ec2.describe_vpcs()["Vpcs"][0]["VpcId"]

    with pytest.raises(ec2.exceptions.ClientError, match="LogDestination can't be empty"):
        ec2.create_flow_logs(ResourceIds=[vpc], ResourceType="VPC", TrafficType="ALL")
    assert ec2.describe_flow_logs()["FlowLogs"] == []
