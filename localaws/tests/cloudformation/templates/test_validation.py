"""A template is refused before anything is created."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.cloudformation.small_templates import group

pytestmark = pytest.mark.slow


def test_unknown_type_is_refused_before_anything_is_created(stacks: Any) -> None:
    template = {"Resources": {"Logs": group(1), "Other": {"Type": "AWS::Route53::HostedZones"}}}
    with pytest.raises(ClientError, match=r"Unrecognized resource types: \[AWS::Route53::HostedZones\]"):
        stacks.create("one", template)
    assert stacks.api.describe_stacks()["Stacks"] == []
    assert stacks.local.client("logs").describe_log_groups()["logGroups"] == []


def test_unknown_property_is_refused_before_anything_is_created(stacks: Any) -> None:
    wrong = {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": {"ImageID": "ami-1"}}}
    with pytest.raises(ClientError, match=r"#/LaunchTemplateData: extraneous key \[ImageID\]"):
        stacks.create("one", {"Resources": {"Template": wrong}})
    assert stacks.api.describe_stacks()["Stacks"] == []
