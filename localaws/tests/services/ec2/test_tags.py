"""Resources are found by their tags."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.services.ec2.capacity_calls import buy, search

pytestmark = pytest.mark.slow


def test_tags_find_what_was_bought(ec2: Any) -> None:
    tags = [
        {
            "ResourceType": "capacity-reservation",
            "Tags": [{"Key": key, "Value": "1"} for key in ("order", "team")],
        }
    ]
    one = buy(ec2, search(ec2)[0], TagSpecifications=tags)["CapacityReservation"]["CapacityReservationId"]
    buy(ec2, search(ec2)[1])
    for filters in (
        [{"Name": "tag:order", "Values": ["1"]}],
        [{"Name": "tag-key", "Values": ["order"]}],
        [{"Name": "tag-key", "Values": ["order", "team"]}],
        [{"Name": "tag:order", "Values": ["?"]}, {"Name": "state", "Values": ["scheduled", "active"]}],
    ):
        found = ec2.describe_capacity_reservations(Filters=filters)["CapacityReservations"]
        assert [each["CapacityReservationId"] for each in found] == [one]
    ec2.create_tags(Resources=[one], Tags=[{"Key": "late", "Value": "x"}])
    ec2.delete_tags(Resources=[one], Tags=[{"Key": "order"}, {"Key": "team"}])
    found = ec2.describe_capacity_reservations(CapacityReservationIds=[one])["CapacityReservations"][0]
    assert {tag["Key"] for tag in found["Tags"] if not tag["Key"].startswith("aws:")} == {"late"}


def test_unknown_filter_is_refused(ec2: Any) -> None:
    with pytest.raises(ClientError, match="filter 'colour' is invalid"):
        ec2.describe_capacity_reservations(Filters=[{"Name": "colour", "Values": ["red"]}])
