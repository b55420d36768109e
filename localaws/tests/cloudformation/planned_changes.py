"""Templates to plan changes of, and the changes of a change set."""

import json
from typing import Any

INTERFACES = [{"NetworkCardIndex": card, "DeviceIndex": min(card, 1)} for card in range(16)]


def template(image: str = "ami-00000000000000001", cidr: str = "10.0.1.0/24", **rest: Any) -> dict[str, Any]:
    data = {"ImageId": image, "NetworkInterfaces": INTERFACES}
    return {
        "Resources": {
            "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
            "Subnet": {
                "Type": "AWS::EC2::Subnet",
                "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": cidr},
            },
            "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}},
            "Version": {
                "Type": "AWS::SSM::Parameter",
                "Properties": {
                    "Type": "String",
                    "Value": {"Fn::GetAtt": ["Template", "LatestVersionNumber"]},
                },
            },
            "Place": {
                "Type": "AWS::SSM::Parameter",
                "Properties": {"Type": "String", "Value": {"Ref": "Subnet"}},
            },
            **rest,
        }
    }


def plan(stacks: Any, wanted: dict[str, Any], *, kind: str = "UPDATE", **settings: Any) -> dict[str, Any]:
    text = json.dumps(wanted)
    stacks.api.create_change_set(
        StackName="one",
        ChangeSetName="plan",
        ChangeSetType=kind,
        TemplateBody=text,
        Capabilities=["CAPABILITY_NAMED_IAM"],
        **settings,
    )
    found: dict[str, Any] = stacks.api.describe_change_set(
        StackName="one", ChangeSetName="plan", IncludePropertyValues=True
    )
    return found


def changes(described: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["ResourceChange"]["LogicalResourceId"]: one["ResourceChange"] for one in described["Changes"]}
