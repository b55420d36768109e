"""Reads of EC2: parameters of each call, pages, and errors as replies."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError, NoCredentialsError
from botocore.parsers import ResponseParserError
from tests.unit.runtime.purchasing.ec2_fixtures import answered_offering
from tests.unit.runtime.purchasing.fake_boto3 import Boto3

from ultracluster_runtime.purchasing.ec2_reads import read_page
from ultracluster_runtime.purchasing.effects import (
    Describe,
    DescribeBlocks,
    DescribeExtensionHistory,
    DescribeExtensionOfferings,
    DescribeOfferings,
    DescribeReservations,
    Page,
    ReadFailed,
)

START = datetime(2026, 12, 1, 12, tzinfo=UTC)
OFFERING = answered_offering(START)
ZONES = {"AvailabilityZones": [{"ZoneName": "us-east-2c", "ZoneId": "use2-az3"}]}


def offerings(**changes: Any) -> DescribeOfferings:
    terms: dict[str, Any] = {
        "region": "us-east-2",
        "instance_type": "trn2.48xlarge",
        "ultraserver_type": None,
        "count": 16,
        "hours": 24,
        "start_after": START,
        "end_by": START + timedelta(days=30),
        "page": None,
    }
    return DescribeOfferings(**terms | changes)


@pytest.mark.parametrize(
    ("effect", "call", "key", "arguments"),
    [
        (
            DescribeReservations(region="us-west-2", page=None),
            "describe_capacity_reservations",
            "CapacityReservations",
            {},
        ),
        (
            DescribeReservations(region="us-west-2", page="more"),
            "describe_capacity_reservations",
            "CapacityReservations",
            {"NextToken": "more"},
        ),
        (DescribeBlocks(region="us-west-2", page=None), "describe_capacity_blocks", "CapacityBlocks", {}),
        (
            DescribeExtensionHistory(region="us-west-2", reservation_id="cr-1", page="more"),
            "describe_capacity_block_extension_history",
            "CapacityBlockExtensions",
            {"CapacityReservationIds": ["cr-1"], "NextToken": "more"},
        ),
        (
            DescribeExtensionOfferings(region="us-west-2", reservation_id="cr-1", hours=24, page=None),
            "describe_capacity_block_extension_offerings",
            "CapacityBlockExtensionOfferings",
            {"CapacityReservationId": "cr-1", "CapacityBlockExtensionDurationHours": 24},
        ),
    ],
)
def test_reads_one_page_of_a_listing(
    effect: Describe, call: str, key: str, arguments: dict[str, Any]
) -> None:
    ec2 = Boto3(**{call: {key: [], "NextToken": "next"}})

    assert read_page(ec2, effect) == Page(items=(), next_token="next")
    assert ec2.calls == [(call, {"MaxResults": 100} | arguments)]
    ((service, region, config),) = ec2.made
    assert (service, region) == ("ec2", "us-west-2")
    assert config is not None
    assert config.retries == {"total_max_attempts": 3, "mode": "standard"}


def test_an_empty_token_ends_a_listing() -> None:
    ec2 = Boto3(describe_capacity_blocks={"CapacityBlocks": [], "NextToken": ""})

    page = read_page(ec2, DescribeBlocks(region="us-east-2", page=None))
    assert page == Page(items=(), next_token=None)


@pytest.mark.parametrize(
    ("effect", "wanted"),
    [
        (offerings(), {"InstanceType": "trn2.48xlarge", "InstanceCount": 16}),
        (
            offerings(instance_type=None, ultraserver_type="u-trn2x64", count=2),
            {"UltraserverType": "u-trn2x64", "UltraserverCount": 2},
        ),
    ],
)
def test_asks_for_instances_or_ultraservers(effect: DescribeOfferings, wanted: dict[str, Any]) -> None:
    ec2 = Boto3(describe_capacity_block_offerings={"CapacityBlockOfferings": []})
    read_page(ec2, effect)

    ((_, arguments),) = ec2.calls  # without offerings, the zones are not read
    assert arguments == wanted | {
        "CapacityDurationHours": 24,
        "StartDateRange": START,
        "EndDateRange": START + timedelta(days=30),
        "MaxResults": 100,
    }


def test_an_unreadable_offering_is_recorded_and_the_others_are_returned() -> None:
    items = [OFFERING | {"UpfrontFee": "free"}, OFFERING]
    ec2 = Boto3(
        describe_capacity_block_offerings={"CapacityBlockOfferings": items}, describe_availability_zones=ZONES
    )
    page = read_page(ec2, offerings())

    assert [(item.offering_id, item.zone_ids) for item in page.items] == [("cb-1", ("use2-az3",))]
    (line,) = map(str, page.unreadable)
    assert line.startswith("UC7043: us-east-2: ")


def test_zones_are_read_once_per_region() -> None:
    ec2 = Boto3(
        describe_capacity_block_offerings={"CapacityBlockOfferings": [OFFERING]},
        describe_availability_zones=ZONES,
    )
    for region in ("us-east-2", "us-east-2", "us-west-2"):
        read_page(ec2, offerings(region=region))

    assert [call for call, _ in ec2.calls].count("describe_availability_zones") == 2


@pytest.mark.parametrize(
    ("reply", "code", "transient"),
    [
        (
            ClientError(
                {
                    "Error": {"Code": "RequestLimitExceeded", "Message": "slow"},
                    "ResponseMetadata": {"HTTPStatusCode": 503},
                },
                "Any",
            ),
            "RequestLimitExceeded",
            True,
        ),
        (NoCredentialsError(), "NoCredentialsError", False),
        (ResponseParserError("no element found"), "UnreadableAnswer", True),
        ({}, "UnreadableAnswer", True),
        ({"CapacityBlocks": [None]}, "UnreadableAnswer", True),
    ],
)
def test_a_failed_read_is_a_reply(reply: Any, code: str, transient: bool) -> None:
    ec2 = Boto3(describe_capacity_blocks=reply)
    failure = read_page(ec2, DescribeBlocks(region="us-east-2", page=None))

    assert isinstance(failure, ReadFailed)
    assert (failure.code, failure.transient) == (code, transient)
