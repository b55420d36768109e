"""Compile caches and their rules, copies and file systems."""

from typing import Any

import aws_cdk as cdk
from tests.unit.ultracluster.builders import only


def rules(stack: cdk.Stack) -> list[dict[str, Any]]:
    return list(only(stack, "AWS::S3::Bucket")["LifecycleConfiguration"]["Rules"])
