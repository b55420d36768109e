"""Widgets of a dashboard."""

import json
from typing import Any

import aws_cdk as cdk
from tests.unit.ultracluster.builders import only


def widgets(stack: cdk.Stack) -> list[dict[str, Any]]:
    """Widgets of the one dashboard, with one word for each token."""
    body = only(stack, "AWS::CloudWatch::Dashboard")["DashboardBody"]
    parts = [body] if isinstance(body, str) else body["Fn::Join"][1]
    text = "".join(each if isinstance(each, str) else "token" for each in parts)
    found: list[dict[str, Any]] = json.loads(text)["widgets"]
    return found
