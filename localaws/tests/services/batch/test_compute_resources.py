"""Compute resources of environments: network, capacity, instance types and launch templates."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.refusals import refusal

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

REGION = "us-east-2"
RESOURCES = {
    "type": "EC2",
    "allocationStrategy": "BEST_FIT_PROGRESSIVE",
    "minvCpus": 0,
    "maxvCpus": 192,
    "instanceTypes": ["trn2.48xlarge"],
    "instanceRole": "role",
}
INTERFACES = {"NetworkInterfaces": [{"DeviceIndex": 0, "InterfaceType": "efa", "Groups": ["sg-1"]}]}


@pytest.fixture
def network(local_aws: LocalAws) -> tuple[str, str]:
    """Return a subnet and the default security group of its VPC."""
    ec2 = local_aws.client("ec2", REGION)
    subnet = ec2.describe_subnets()["Subnets"][0]
    wanted = [{"Name": "vpc-id", "Values": [subnet["VpcId"]]}, {"Name": "group-name", "Values": ["default"]}]
    return subnet["SubnetId"], ec2.describe_security_groups(Filters=wanted)["SecurityGroups"][0]["GroupId"]


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    ec2 = local_aws.client("ec2", REGION)
    for name, data in (
        ("interfaces", INTERFACES),
        ("groups", {"SecurityGroupIds": ["sg-1"]}),
        ("neither", {}),
    ):
        ec2.create_launch_template(
            LaunchTemplateName=name, LaunchTemplateData={"InstanceType": "trn2.48xlarge", **data}
        )
    return local_aws.client("batch", REGION)


def create(batch: Any, network: tuple[str, str], template: str | None, *, groups: bool = False) -> None:
    subnet, group = network
    resources: dict[str, Any] = {**RESOURCES, "subnets": [subnet]}
    if template:
        resources["launchTemplate"] = {"launchTemplateName": template, "version": "$Latest"}
    if groups:
        resources["securityGroupIds"] = [group]
    batch.create_compute_environment(
        computeEnvironmentName="nodes", type="MANAGED", computeResources=resources
    )


def test_refuses_groups_of_the_environment_beside_interfaces_in_the_words_of_aws(
    batch: Any, network: tuple[str, str]
) -> None:
    with pytest.raises(ClientError) as refused:  # aws/aws-cdk#21577
        create(batch, network, "interfaces", groups=True)
    error = refused.value.response["Error"]
    assert error["Code"] == "ClientException"
    assert (
        "Either compute environment Security Groups or Network Interfaces in Launch template are exclusively allowed"
        in error["Message"]
    )


@pytest.mark.parametrize("template", [None, "neither"])
def test_refuses_an_environment_without_any_group(
    batch: Any, network: tuple[str, str], template: str | None
) -> None:
    with pytest.raises(ClientError, match="Security group ids are required"):
        create(batch, network, template)


@pytest.mark.parametrize(
    ("template", "groups"),
    [("interfaces", False), ("groups", False), ("groups", True), ("neither", True), (None, True)],
)
def test_takes_groups_from_one_place(
    batch: Any, network: tuple[str, str], template: str | None, groups: bool
) -> None:
    create(batch, network, template, groups=groups)
    (found,) = batch.describe_compute_environments()["computeEnvironments"]
    assert ("securityGroupIds" in found["computeResources"]) == groups


def test_an_update_cannot_add_groups_beside_interfaces(batch: Any, network: tuple[str, str]) -> None:
    create(batch, network, "interfaces")
    with pytest.raises(ClientError, match="exclusively allowed"):
        batch.update_compute_environment(
            computeEnvironment="nodes", computeResources={"securityGroupIds": [network[1]]}
        )


def refused(batch: Any, network: tuple[str, str], resources: dict[str, Any]) -> str:
    place = {"subnets": [network[0]], "securityGroupIds": [network[1]]}
    settings = {"computeEnvironmentName": "nodes", "type": "MANAGED", "computeResources": place | resources}
    return refusal(batch.create_compute_environment, **settings)[1]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"instanceRole": ""}, "Instance role is required."),
        ({"minvCpus": None}, "Resource minvCpus is required."),
        ({"instanceTypes": []}, "Resource instanceTypes are required."),
        ({"minvCpus": 193}, "maxvCpus should be greater than or equal to minvCpus."),
        ({"minvCpus": -1}, "minvCpus should be greater than or equal to 0."),
        ({"desiredvCpus": 193}, "desiredvCpus should be between minvCpus and maxvCpus."),
        ({"allocationStrategy": "SPOT_CAPACITY_OPTIMIZED"}, "only available for Spot Instance compute resources"),
        ({"type": "SPOT", "allocationStrategy": "BEST_FIT"}, "spotIamFleetRole is required"),
        ({"type": "SPOT", "bidPercentage": 101}, "Bid percentage must be between 0 to 100."),
        ({"subnets": []}, "Subnets is required."),
        ({"subnets": ["subnet-0"]}, "The subnet ID 'subnet-0' does not exist"),
        ({"securityGroupIds": ["sg-0"]}, "The security group 'sg-0' does not exist"),
        ({"ec2Configuration": [{"imageType": "ECS_AL3"}]}, "Invalid imageType in ComputeResources.ec2Configuration"),
        ({"ec2Configuration": [{"imageType": "ECS_AL2023"}] * 2}, "imageType must be unique"),
        ({"scalingPolicy": {"minScaleDownDelayMinutes": 19}}, "must be between 20 and 10080, or 0"),
        ({"launchTemplate": {"launchTemplateId": "lt-1", "launchTemplateName": "a"}}, "but not both."),
    ],
)  # fmt: skip
def test_refuses_capacity_that_batch_cannot_provide(
    batch: Any, network: tuple[str, str], changes: dict[str, Any], words: str
) -> None:
    resources = {key: value for key, value in (RESOURCES | changes).items() if value is not None}

    assert words in refused(batch, network, resources)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"type": "fargate_spot"}, ""),
        ({"instanceTypes": ["c5.large"]}, "instanceTypes is not applicable for Fargate."),
        ({"tags": {"a": "b"}}, "tags is not applicable for Fargate."),
        ({"securityGroupIds": []}, "Security groups is required for Fargate."),
        ({"securityGroupIds": ["sg"] * 6}, "Fargate supports a maximum of 5 security groups."),
        ({"subnets": ["subnet"] * 17}, "Fargate supports a maximum of 16 subnets."),
    ],
)
def test_fargate_has_a_network_and_a_maximum_only(
    batch: Any, network: tuple[str, str], changes: dict[str, Any], words: str
) -> None:
    resources = {
        "type": "FARGATE",
        "maxvCpus": 4,
        "subnets": [network[0]],
        "securityGroupIds": [network[1]],
        **changes,
    }

    if words:
        assert words in refused(batch, network, resources)
        return
    batch.create_compute_environment(computeEnvironmentName="f", type="managed", computeResources=resources)
    (shown,) = batch.describe_compute_environments(computeEnvironments=["f"])["computeEnvironments"]
    assert (shown["type"], shown["computeResources"]) == (
        "MANAGED",
        resources | {"type": resources["type"].upper(), "tags": {}},
    )


def test_subnets_and_groups_are_of_one_vpc(batch: Any, network: tuple[str, str], local_aws: LocalAws) -> None:
    ec2 = local_aws.client("ec2", REGION)
    other = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=other, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
    group = ec2.create_security_group(GroupName="g", Description="g", VpcId=other)["GroupId"]

    assert "Subnets must be within the same VPC" in refused(batch, network, RESOURCES | {"subnets": [network[0], subnet]})  # fmt: skip
    assert "belong to different networks" in refused(
        batch, network, RESOURCES | {"securityGroupIds": [group]}
    )


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        ([["trn1"]], "LaunchTemplate.overrides have targetInstanceTypes that do not match"),
        ([["optimal"]], "optimal is not allowed"),
        ([[]], "LaunchTemplate.overrides.targetInstanceTypes[] is required"),
        ([["c5.large"], ["c5.large"]], "LaunchTemplate.overrides have duplicate targetInstanceTypes"),
        ([["c5.large"]] * 11, "LaunchTemplate.overrides size cannot be greater than 10"),
    ],
)
def test_overrides_of_a_launch_template_are_for_types_of_the_environment(
    batch: Any, network: tuple[str, str], targets: list[list[str]], words: str
) -> None:
    overrides = [{"launchTemplateName": "neither", "targetInstanceTypes": names} for names in targets]
    template = {"launchTemplateName": "neither", "overrides": overrides}

    assert words in refused(batch, network, RESOURCES | {"instanceTypes": ["c5"], "launchTemplate": template})
