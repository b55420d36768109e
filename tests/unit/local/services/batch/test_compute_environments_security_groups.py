"""Security groups of compute environments on the local AWS Batch: on the environment or at the interfaces, never both."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws

pytestmark = pytest.mark.deploy

REGION = "us-east-2"
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
    resources: dict[str, Any] = {
        "type": "EC2",
        "allocationStrategy": "BEST_FIT_PROGRESSIVE",
        "minvCpus": 0,
        "maxvCpus": 192,
        "instanceTypes": ["trn2.48xlarge"],
        "subnets": [subnet],
        "instanceRole": "role",
    }
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
    # API_ComputeResource: one or more must be specified.
    with pytest.raises(ClientError, match="One or more security groups must be specified"):
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
