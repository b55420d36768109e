"""The registry's schemas, as the judge of templates and replacements."""

from typing import Any

import pytest

from ultracluster_local.cloudformation.registry.schemas import create_only, is_known, problems


@pytest.mark.parametrize(
    ("resource_type", "properties", "said"),
    [
        ("AWS::EC2::VPC", {"CidrBlock": "10.0.0.0/16"}, []),
        ("AWS::EC2::VPC", {"Cidr": "10.0.0.0/16"}, ["#: extraneous key [Cidr] is not permitted"]),
        ("AWS::EC2::VPC", {"VpcId": "vpc-1"}, ["#: extraneous key [VpcId] is not permitted"]),
        ("AWS::Batch::JobQueue", {"Priority": 1}, []),
        ("AWS::SSM::Parameter", {"Type": "String"}, ["#: required key [Value] not found"]),
        (
            "AWS::EC2::LaunchTemplate",
            {"LaunchTemplateData": {"NetworkInterfaces": [{}, {"NetworkCard": 1}]}},
            ["#/LaunchTemplateData/NetworkInterfaces/1: extraneous key [NetworkCard] is not permitted"],
        ),
        ("AWS::EC2::LaunchTemplate", {"LaunchTemplateData": {"Fn::If": ["A", {"x": 1}, {"y": 1}]}}, []),
        (
            "AWS::Lambda::Function",
            {
                "Role": "arn:aws:iam::123456789012:role/r",
                "Code": {},
                "Environment": {"Variables": {"ANY": "x"}},
            },
            [],
        ),
    ],
    ids=str,
)
def test_says_what_is_wrong_with(resource_type: str, properties: dict[str, Any], said: list[str]) -> None:
    assert problems(resource_type, properties) == said


def test_knows_what_replaces_a_resource() -> None:
    assert ("CidrBlock",) in create_only("AWS::EC2::Subnet")
    assert ("MapPublicIpOnLaunch",) not in create_only("AWS::EC2::Subnet")
    assert ("LaunchTemplateData",) not in create_only("AWS::EC2::LaunchTemplate")
    assert ("Ipv6CidrBlock",) in create_only("AWS::EC2::Subnet", conditional=True)


def test_knows_which_types_exist() -> None:
    assert is_known("AWS::FSx::DataRepositoryAssociation")
    assert not is_known("AWS::FSx::FileSystems")
