"""Templates of a few resources, which succeed or fail."""

from typing import Any


def parameter(value: Any, **rest: Any) -> dict[str, Any]:
    return {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": value}, **rest}


def group(days: int, **rest: Any) -> dict[str, Any]:
    return {"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": days}, **rest}


def subnet_template(cidr: str) -> dict[str, Any]:
    return {
        "Resources": {
            "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
            "Subnet": {
                "Type": "AWS::EC2::Subnet",
                "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": cidr},
            },
            "User": parameter({"Ref": "Subnet"}),
        }
    }
