"""Finding AMIs by Region, with stubbed EC2 and SSM clients."""

from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from tests.unit.runtime.stubbed_clients import StubbedAws

from ultracluster_runtime.images import image_of_parameter, newest_baked_image
from ultracluster_spec.findings import FindingsError

REGION = "us-east-2"
ID = "ami-0123456789abcdef0"
NAME = "al2023-ami-ecs-neuron-hvm-2023.0.20261030-kernel-6.1-x86_64"
IMAGE = {"ImageId": ID, "Name": NAME, "CreationDate": "2026-10-31T05:43:00.000Z"}


def says(aws: StubbedAws, value: str) -> None:
    aws.answer("ssm", "get_parameter", {"Parameter": {"Value": value}}, {"Name": "/p"})


@pytest.mark.parametrize("value", [ID, f'{{"image_id": "{ID}", "os": "Amazon Linux 2023"}}'])
def test_a_parameter_leads_to_its_image_with_name_date_and_age(aws: StubbedAws, value: str) -> None:
    says(aws, value)
    aws.answer("ec2", "describe_images", {"Images": [IMAGE]})
    found = image_of_parameter(aws.client, region=REGION, parameter="/p")

    assert (found.image_id, found.name) == (ID, NAME)
    assert found.created == datetime(2026, 10, 31, 5, 43, tzinfo=UTC)
    assert found.age_days(datetime(2026, 11, 30, 5, 42, tzinfo=UTC)) == 29


@pytest.mark.parametrize("value", ["latest", "{broken", '{"os": "x"}', f"{ID}0"])
def test_refuses_a_parameter_that_holds_no_id(aws: StubbedAws, value: str) -> None:
    says(aws, value)
    with pytest.raises(FindingsError, match="error: us-east-2 has "):
        image_of_parameter(aws.client, region=REGION, parameter="/p")


def test_reports_a_missing_parameter_or_image(aws: StubbedAws) -> None:
    aws.refuse("ssm", "get_parameter", "ParameterNotFound")
    with pytest.raises(FindingsError, match="error: us-east-2 has no parameter /p"):
        image_of_parameter(aws.client, region=REGION, parameter="/p")
    says(aws, ID)
    aws.refuse("ec2", "describe_images", "InvalidAMIID.NotFound")
    with pytest.raises(FindingsError, match=f"error: us-east-2 has no AMI {ID}, which /p names"):
        image_of_parameter(aws.client, region=REGION, parameter="/p")


@pytest.mark.parametrize(("service", "call"), [("ssm", "get_parameter"), ("ec2", "describe_images")])
def test_reports_the_region_that_refuses(aws: StubbedAws, service: str, call: str) -> None:
    says(aws, ID) if service == "ec2" else None
    aws.refuse(service, call, "AccessDenied")
    with pytest.raises(FindingsError, match=r"error: us-east-2: .*AccessDenied it says"):
        image_of_parameter(aws.client, region=REGION, parameter="/p")


def test_reports_that_aws_cannot_be_reached() -> None:
    def unreachable(_: str) -> Any:
        raise EndpointConnectionError(endpoint_url="https://ssm.us-east-2.amazonaws.com")

    for find in (
        lambda: image_of_parameter(unreachable, region=REGION, parameter="/p"),
        lambda: newest_baked_image(unreachable, region=REGION, name="nodes"),
    ):
        with pytest.raises(FindingsError, match="error: us-east-2: "):
            find()


def test_the_newest_of_the_baked_images_is_taken_and_only_available_ones_are_asked_for(
    aws: StubbedAws,
) -> None:
    older = IMAGE | {"ImageId": "ami-00000000000000001", "CreationDate": "2026-09-30T00:00:00.000Z"}
    aws.answer(
        "ec2",
        "describe_images",
        {"Images": [older, IMAGE, older]},
        {
            "Owners": ["self"],
            "Filters": [
                {"Name": "tag:ultracluster:neuron-ami", "Values": ["nodes"]},
                {"Name": "state", "Values": ["available"]},
            ],
        },
    )

    assert newest_baked_image(aws.client, region=REGION, name="nodes").image_id == ID


def test_reports_that_no_image_was_built(aws: StubbedAws) -> None:
    aws.answer("ec2", "describe_images", {"Images": []})
    with pytest.raises(FindingsError, match="error: us-east-2 has no AMI in this account with the tag"):
        newest_baked_image(aws.client, region=REGION, name="nodes")
