"""Rules about Capacity Blocks: enabled, on the bus of AWS, and about what the events of EC2 have."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates

RESERVATION = "arn:aws:ec2:us-east-2:111122223333:capacity-reservation/cr-0a1b2c3d4e5f60718"
INSTANCE = "arn:aws:ec2:us-east-2:111122223333:instance/i-0a1b2c3d4e5f60718"
WARNINGS = ["Capacity Block Expiration Warning", "Capacity Block Reservation Expiration Warning"]
TARGET = [{"Id": "topic", "Arn": "arn:aws:sns:us-east-2:111122223333:topic"}]
RULE: dict[str, Any] = {"Targets": TARGET}


def codes(rule: dict[str, Any], pattern: dict[str, Any]) -> set[str]:
    """Return the codes for a rule that waits for the warnings of blocks."""
    whole = {"source": ["aws.ec2"], "detail-type": WARNINGS, **pattern}
    resource = {"Type": "AWS::Events::Rule", "Properties": RULE | rule | {"EventPattern": whole}}
    body = {"Resources": {"It": resource, "Bus": {"Type": "AWS::Events::EventBus"}}}
    return {
        each.code for each in check_templates([Source(name="it", body=body, region="us-east-2")]).findings
    }


@pytest.mark.parametrize(
    ("rule", "right", "wrong", "code"),
    [
        ({}, {}, {"source": ["aws.batch"]}, "UC6432"),
        ({}, {}, {"detail-type": ["Capacity Block Expiring"]}, "UC6432"),
        ({}, {"detail": {"capacity-reservation-id": ["cr-0a1b2c3d4e5f60718"]}}, {"detail": {"reservation": ["cr-0a1b2c3d4e5f60718"]}}, "UC6432"),
        ({}, {"resources": [RESERVATION]}, {"resources": [INSTANCE]}, "UC6432"),
        ({}, {"region": ["us-east-2"]}, {"region": ["us-west-2"]}, "UC6432"),
    ],
)  # fmt: skip
def test_a_rule_waits_for_what_the_events_have(rule: Any, right: Any, wrong: Any, code: str) -> None:
    assert code not in codes(rule, right)
    assert code in codes(rule, wrong)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ({"EventBusName": "default"}, {"EventBusName": {"Ref": "Bus"}}),
        ({"State": "ENABLED"}, {"State": "DISABLED"}),
        ({}, {"Targets": []}),
    ],
)
def test_a_rule_about_blocks_gets_events_and_hands_them_on(right: Any, wrong: Any) -> None:
    assert "UC6431" not in codes(right, {})
    assert "UC6431" in codes(wrong, {})


def test_a_rule_about_other_events_is_not_judged() -> None:
    job = {"source": ["aws.sagemaker"], "detail-type": ["Batch Job State Change"], "region": ["us-west-2"]}

    assert codes({"EventBusName": {"Ref": "Bus"}, "State": "DISABLED"}, job) == set()
