"""The launch template of nodes and its user data."""

from typing import Any

import aws_cdk as cdk
from tests.unit.ultracluster.builders import only


def launch_template(stack: cdk.Stack) -> dict[str, Any]:
    return only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]


def user_data(stack: cdk.Stack) -> str:
    encoded = launch_template(stack)["UserData"]["Fn::Base64"]
    if isinstance(encoded, str):
        return encoded
    return "".join(part if isinstance(part, str) else "TOKEN" for part in encoded["Fn::Join"][1])
