import json
import re
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, new_stack, of_type, only

from ultracluster import NeuronAmi
from ultracluster_catalog.neuron.neuron_images import BAKED_IMAGE_TAG, EFA_INSTALLERS, NeuronImage
from ultracluster_rules.findings import FindingsError

pytestmark = pytest.mark.synth

PARENT = NeuronImage(kind="ecs-neuron", image_id=IMAGE_ID)
SUM = "0" * 64


def ami(stack: cdk.Stack | None = None, **changes: Any) -> NeuronAmi:
    return NeuronAmi(stack or new_stack(), "Ami", **{"name": "nodes", "parent": PARENT} | changes)


@pytest.fixture(scope="module")
def baked() -> cdk.Stack:
    stack = new_stack()
    vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-01234567", availability_zones=["us-east-2a"])
    subnet = ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-01234567")
    ami(stack, container_images=[IMAGE], regions=["us-east-1"], vpc=vpc, subnet=subnet)
    return stack


def document(stack: cdk.Stack) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(only(stack, "AWS::ImageBuilder::Component")["Data"])
    return found


def codes(**changes: Any) -> list[str]:
    with pytest.raises(FindingsError) as caught:
        ami(**changes)
    return [f"{finding.code} {finding.path}" for finding in caught.value.findings]


def test_nothing_is_made_at_a_deployment_and_nothing_on_a_schedule(baked: cdk.Stack) -> None:
    assert of_type(baked, "AWS::ImageBuilder::Image") == []
    assert "Schedule" not in only(baked, "AWS::ImageBuilder::ImagePipeline")


def test_the_document_keeps_the_rules_of_its_language(baked: cdk.Stack) -> None:
    data = only(baked, "AWS::ImageBuilder::Component")["Data"]
    found = document(baked)
    # Two braces would begin a reference; the rules are those of the Image Builder guide, October 2026.
    assert not re.search(r"\{\{|\}\}", data)
    assert len(data) <= 16_000
    assert found["schemaVersion"] == "1.0"
    assert [phase["name"] for phase in found["phases"]] == ["build", "validate", "test"]
    for phase in found["phases"]:
        (step,) = phase["steps"]
        assert re.fullmatch(r"[A-Za-z0-9_-]{3,128}", step["name"])
        assert set(step) == {"name", "action", "timeoutSeconds", "onFailure", "inputs"}
        assert (step["action"], step["onFailure"]) == ("ExecuteBash", "Abort")
        assert step["timeoutSeconds"] > 0
        assert set(step["inputs"]) == {"commands"}


def test_what_the_ecs_ami_lacks_is_installed_and_pinned(baked: cdk.Stack) -> None:
    script = document(baked)["phases"][0]["steps"][0]["inputs"]["commands"][0]
    assert "export UC_PARTS='efa-driver lustre-client cloudwatch-agent'\n" in script
    assert "export UC_EFA_VERSION='1.49.0'\n" in script
    assert f"export UC_EFA_SHA256='{EFA_INSTALLERS['1.49.0']}'\n" in script
    assert f"export UC_IMAGES='{IMAGE}'\n" in script


def test_a_dlami_gets_the_ecs_agent_and_a_custom_image_only_requested_parts() -> None:
    dlami = NeuronImage(kind="dlami/base/amazon-linux-2023", image_id=IMAGE_ID)
    assert ami(parent=dlami, cloudwatch_agent=False).parts == ("lustre-client", "ecs-agent", "docker")
    assert ami(parent=NeuronImage(kind="own", image_id=IMAGE_ID)).parts == ("cloudwatch-agent",)


def test_the_recipe_is_pinned_encrypted_and_keeps_the_agent_of_systems_manager(baked: cdk.Stack) -> None:
    recipe = only(baked, "AWS::ImageBuilder::ImageRecipe")
    assert recipe["ParentImage"] == IMAGE_ID
    assert recipe["BlockDeviceMappings"][0]["Ebs"]["Encrypted"] is True
    assert recipe["AdditionalInstanceConfiguration"]["SystemsManagerAgent"]["UninstallAfterBuild"] is False


def test_only_changed_recipes_get_another_name() -> None:
    def names(**changes: Any) -> tuple[str, str]:
        stack = new_stack()
        ami(stack, **changes)
        kinds = ("AWS::ImageBuilder::Component", "AWS::ImageBuilder::ImageRecipe")
        component, recipe = (only(stack, kind)["Name"] for kind in kinds)
        return component, recipe

    first = names()
    assert names() == first
    assert names(regions=["us-east-1"]) == first
    other_image = names(parent=NeuronImage(kind="ecs-neuron", image_id="ami-00000000000000001"))
    assert other_image[0] == first[0]
    assert other_image[1] != first[1]
    for change in ({"cloudwatch_agent": False}, {"container_images": [IMAGE]}):
        component, recipe = names(**change)
        assert component != first[0]
        assert recipe != first[1]


def test_the_ami_is_tagged_in_each_region_so_that_the_command_finds_it(baked: cdk.Stack) -> None:
    spread = only(baked, "AWS::ImageBuilder::DistributionConfiguration")["Distributions"]
    assert [one["Region"] for one in spread] == ["us-east-2", "us-east-1"]
    for one in spread:
        assert one["AmiDistributionConfiguration"]["AmiTags"] == {BAKED_IMAGE_TAG: "nodes"}
        assert one["AmiDistributionConfiguration"]["Name"] == "nodes-{{ imagebuilder:buildDate }}"


def test_the_build_instance_allows_no_inbound_traffic_and_https_out(baked: cdk.Stack) -> None:
    group = only(baked, "AWS::EC2::SecurityGroup")
    assert "SecurityGroupIngress" not in group
    assert [(rule["FromPort"], rule["ToPort"]) for rule in group["SecurityGroupEgress"]] == [(443, 443)]
    place = only(baked, "AWS::ImageBuilder::InfrastructureConfiguration")
    assert place["InstanceMetadataOptions"] == {"HttpTokens": "required", "HttpPutResponseHopLimit": 1}
    assert place["TerminateInstanceOnFailure"] is True
    assert place["SubnetId"] == "subnet-01234567"


def test_the_role_names_each_action_and_pulls_from_the_named_repositories_only(baked: cdk.Stack) -> None:
    (policy,) = of_type(baked, "AWS::IAM::Policy")
    statements = {one["Sid"]: one for one in policy["Properties"]["PolicyDocument"]["Statement"]}
    actions = [
        action
        for one in statements.values()
        for action in ([one["Action"]] if isinstance(one["Action"], str) else one["Action"])
    ]
    assert not [action for action in actions if "*" in action]
    assert not [action for action in actions if action.startswith(("ssm:GetParameter", "ec2:", "iam:"))]
    assert {name for name, one in statements.items() if one["Resource"] == "*"} == {"Login", "RunCommand"}
    assert "123456789012:repository/training" in json.dumps(statements["Pull"]["Resource"])
    assert "ManagedPolicyArns" not in only(baked, "AWS::IAM::Role")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"parent": NeuronImage(kind="dlami/base/ubuntu-24.04", image_id=IMAGE_ID)}, ["UC4051 parent"]),
        ({"efa_installer_version": "1.50.0"}, ["UC4052 efa_installer_version"]),
        ({"efa_installer_version": "latest", "efa_installer_sha256": SUM}, ["UC4052 efa_installer_version"]),
        ({"efa_installer_sha256": "0" * 63}, ["UC4052 efa_installer_version"]),
        ({"container_images": ["public.ecr.aws/neuron/x:1"]}, ["UC4053 container_images[0]"]),
        ({"container_images": [IMAGE, IMAGE.partition(":")[0]]}, ["UC4053 container_images[1]"]),
        ({"container_images": [f"{IMAGE}' ; true"]}, ["UC4053 container_images[0]"]),
        ({"name": "ab"}, ["UC4054 name"]),
        ({"name": "a" * 65}, ["UC4054 name"]),
        ({"name": "no des"}, ["UC4054 name"]),
        ({"root_volume_gib": 29}, ["UC4054 root_volume_gib"]),
        ({"regions": ["us-east-1", "us-east-1"]}, ["UC4054 regions[1]"]),
        ({"regions": ["Ohio"]}, ["UC4054 regions[0]"]),
        ({"name": "", "efa_installer_version": "1.0.0"}, ["UC4052 efa_installer_version", "UC4054 name"]),
        ({"container_images": [f"{IMAGE}{index}" for index in range(80)]}, ["UC4054 container_images"]),
    ],
)
def test_rejects_invalid_arguments(changes: dict[str, Any], expected: list[str]) -> None:
    assert codes(**changes) == expected


def test_rejects_a_subnet_without_its_vpc() -> None:
    stack = new_stack()
    subnet = ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-01234567")
    assert codes(stack=stack, subnet=subnet) == ["UC4054 subnet"]


def test_accepts_arguments_at_their_limits() -> None:
    digest = f"{IMAGE.partition(':')[0]}@sha256:{SUM}"
    token = cdk.Token.as_string({"Ref": "Image"})
    made = ami(
        name="a1b",
        container_images=[digest, token],
        efa_installer_version="1.50.0",
        efa_installer_sha256=SUM,
        root_volume_gib=30,
    )
    assert made.name == "a1b"
    assert made.pipeline_arn
    assert made.grant_principal
    ami(name="a" * 64)


def test_builds_on_a_small_instance_by_default(baked: cdk.Stack, stack: cdk.Stack) -> None:
    ami(stack, instance_type="c7i.xlarge")
    types = [
        only(each, "AWS::ImageBuilder::InfrastructureConfiguration")["InstanceTypes"]
        for each in (baked, stack)
    ]
    assert types == [["m6i.large"], ["c7i.xlarge"]]
