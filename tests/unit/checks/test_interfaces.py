"""Rules for the network interfaces of launch templates."""

import pytest

from ultracluster_checks import Source, check_templates


@pytest.mark.parametrize(
    ("second", "found"), [("subnet-0a1b2c3d4e5f60718", False), ("subnet-0a1b2c3d4e5f60719", True)]
)
def test_interfaces_of_a_launch_template_that_others_use_are_in_one_subnet(
    second: str, *, found: bool
) -> None:
    items = [{"InterfaceType": "efa", "SubnetId": each} for each in ("subnet-0a1b2c3d4e5f60718", second)]
    data = {"LaunchTemplateData": {"NetworkInterfaces": items}}
    body = {"Resources": {"Nodes": {"Type": "AWS::EC2::LaunchTemplate", "Properties": data}}}
    report = check_templates([Source(name="it", body=body)])
    assert ("UC3204" in {each.code for each in report.findings}) is found
