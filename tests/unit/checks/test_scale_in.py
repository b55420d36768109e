"""Node groups that schedules scale out for a Capacity Block, and in before its end."""

from datetime import UTC, datetime, timedelta

import pytest

from ultracluster_checks import Source, check_templates

BLOCK = {
    "ImageId": "ami-0123456789abcdef0",
    "MetadataOptions": {"HttpTokens": "required"},
    "InstanceMarketOptions": {"MarketType": "capacity-block"},
    "CapacityReservationSpecification": {
        "CapacityReservationTarget": {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}
    },
}


@pytest.mark.parametrize(
    ("instance_type", "minutes", "late"),
    [
        ("trn2.48xlarge", 31, False),
        ("trn2.48xlarge", 30, True),
        ("trn2u.48xlarge", 61, False),
        ("trn2u.48xlarge", 60, True),
    ],
)
def test_a_group_is_empty_before_ec2_takes_its_nodes_which_is_earlier_for_ultraservers(
    instance_type: str, minutes: int, *, late: bool
) -> None:
    end = datetime(2027, 2, 8, 11, 30, tzinfo=UTC)
    leaves = {"StartTime": f"{end - timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%SZ}", "MinSize": 0, "MaxSize": 0, "DesiredCapacity": 0}  # fmt: skip
    body = {
        "Template": ("AWS::EC2::LaunchTemplate", {"LaunchTemplateData": BLOCK | {"InstanceType": instance_type}}),
        "Nodes": ("AWS::AutoScaling::AutoScalingGroup", {"LaunchTemplate": {"LaunchTemplateId": {"Ref": "Template"}, "Version": "1"}, "MinSize": "0", "MaxSize": "4"}),
        "Leave": ("AWS::AutoScaling::ScheduledAction", {"AutoScalingGroupName": {"Ref": "Nodes"}} | leaves),
    }  # fmt: skip
    resources = {name: {"Type": kind, "Properties": given} for name, (kind, given) in body.items()}
    report = check_templates([Source(name="it", body={"Resources": resources})])

    assert ("UC6431" in {each.code for each in report.findings}) is late
