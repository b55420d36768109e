"""What moto works out once is what it worked out for each request."""

import re
from typing import Any

import pytest
from moto.core.serialize import AttributePicker
from moto.ec2.models import ec2_backends
from moto.ec2.models.tags import TagBackend
from moto.ec2.utils import random_resource_id

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


@pytest.fixture
def ec2(local_aws: LocalAws) -> Any:
    return local_aws.client("ec2", "us-east-2")


def _by_moto(resource_id: str) -> Any:
    describe: Any = TagBackend.describe_tags
    (original,) = [cell.cell_contents for cell in describe.__closure__ if callable(cell.cell_contents)]
    return original(ec2_backends["123456789012"]["us-east-2"], filters={"resource-id": [resource_id]})


def test_the_tags_of_one_thing_are_those_that_moto_finds(ec2: Any) -> None:
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    other = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    for tagged in (vpc, other):
        ec2.create_tags(
            Resources=[tagged], Tags=[{"Key": "one", "Value": tagged}, {"Key": "two", "Value": ""}]
        )
    backend = ec2_backends["123456789012"]["us-east-2"]
    for resource_id in (vpc, other, "vpc-0123456789abcdef0", "vpc"):
        assert backend.describe_tags(filters={"resource-id": [resource_id]}) == _by_moto(resource_id)
    assert len(backend.describe_tags(filters={"resource-id": [vpc]})) == 2
    assert len(backend.describe_tags(filters={"resource-id": [vpc], "key": ["one"]})) == 1
    assert "vpc-0123456789abcdef0" not in backend.tags  # asking makes nothing


@pytest.mark.parametrize("wanted", ["vpc-*", "vpc-?????????????????", "*"])
def test_patterns_are_still_patterns(ec2: Any, wanted: str) -> None:
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    ec2.create_tags(Resources=[vpc], Tags=[{"Key": "one", "Value": "1"}])
    filters = [{"Name": "resource-id", "Values": [wanted]}, {"Name": "key", "Values": ["one"]}]
    assert [each["ResourceId"] for each in ec2.describe_tags(Filters=filters)["Tags"]] == [vpc]


@pytest.mark.parametrize("size", [2, 8, 13, 17])
def test_random_digits_are_as_many_as_asked_and_never_the_same(size: int) -> None:
    found = [random_resource_id(size) for _ in range(8)]
    assert all(re.fullmatch(f"[0-9a-f]{{{size}}}", each) for each in found)
    assert len(set(found)) > 1


def test_services_are_distinguished_in_every_region(local_aws: LocalAws) -> None:
    for region in ("us-east-2", "us-west-2", "us-east-2"):
        assert (
            local_aws.client("ec2", region).describe_availability_zones()["AvailabilityZones"][0][
                "RegionName"
            ]
            == region
        )
        assert local_aws.client("iam", region).list_roles()["Roles"]
        assert local_aws.client("s3", region).list_buckets()["Buckets"]


def test_answers_are_those_of_moto(local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> None:
    def client(service: str) -> Any:
        return local_aws.client(service, "us-east-2")

    client("sns").create_topic(Name="topic", Tags=[{"Key": "one", "Value": "1"}])
    group = client("ec2").create_security_group(GroupName="group", Description="group")["GroupId"]
    rule = {"IpProtocol": "tcp", "FromPort": 1, "ToPort": 2, "UserIdGroupPairs": [{"GroupId": group}]}
    client("ec2").authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
    client("ec2").create_vpc_endpoint(VpcId=_a_vpc(client("ec2")), ServiceName="com.amazonaws.us-east-2.s3")

    def answers() -> list[Any]:
        kept = [{"Name": "name", "Values": ["al2023*"]}]
        found = [
            client("ec2").describe_images(Filters=kept),
            client("ec2").describe_security_groups(),
            client("ec2").describe_subnets(),
            client("ec2").describe_route_tables(),
            client("ec2").describe_vpc_endpoints(),
            client("ec2").describe_instance_types(InstanceTypes=["trn2.48xlarge"]),
            client("iam").list_roles(),
            client("sns").list_topics(),
            client("ssm").describe_parameters(),
            client("s3").list_buckets(),
        ]
        return [{**each, "ResponseMetadata": None} for each in found]

    ours = answers()
    with monkeypatch.context() as patch:
        patch.setattr(AttributePicker, "__call__", vars(AttributePicker)["__call__"].__wrapped__)
        theirs = answers()
    assert ours == theirs == answers()  # what is kept from one answer fits the next


def _a_vpc(ec2: Any) -> str:
    return str(ec2.describe_vpcs()["Vpcs"][0]["VpcId"])
