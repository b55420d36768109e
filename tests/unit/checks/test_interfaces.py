"""Rules for the network interfaces of launch templates."""

from typing import Any

import pytest
from tests.unit.checks.defects import DROP
from tests.unit.checks.edits import CE, LT, codes_after

from ultracluster_checks import Source, check_templates

BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC3207", "batch-efa", {f"{LT}/NetworkInterfaces/2/SecondaryPrivateIpAddressCount": 2}),
    ("UC3207", "batch-efa", {f"{LT}/NetworkInterfaces/1/Ipv4PrefixCount": 1}),
    ("UC3207", "batch-efa", {f"{LT}/NetworkInterfaces/3/InterfaceType": "efa_only"}),
    ("UC4013", "block-nodes", {f"{LT}/NetworkInterfaces/4/NetworkCardIndex": 3}),
    (
        "UC4017",
        "batch-efa",
        {
            "/Parameters/NodeType/Default": "trn2.48xlarge",
            f"{LT}/NetworkInterfaces/1": {
                "NetworkCardIndex": 0,
                "DeviceIndex": 1,
                "InterfaceType": "efa-only",
            },
        },
    ),
    ("UC3205", "batch-efa", {f"{CE}/SecurityGroupIds": [{"Fn::GetAtt": ["EfaGroup", "GroupId"]}]}),
    (
        "UC3205",
        "batch-efa",
        {f"{CE}/SecurityGroupIds": {"Fn::Split": [",", {"Fn::GetAtt": ["EfaGroup", "GroupId"]}]}},
    ),
)

KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("batch-efa", {f"{LT}/NetworkInterfaces/5/DeviceIndex": 4}),
    (
        "batch-efa",
        {
            "/Parameters/NodeType/Default": "m7i.48xlarge",
            f"{CE}/MaxvCpus": 768,
            f"{LT}/NetworkInterfaces": DROP,
        },
    ),
)


@pytest.mark.parametrize(
    ("code", "base", "edits"), BROKEN, ids=lambda value: value if isinstance(value, str) else ""
)
def test_edit_breaks_the_rule(
    foreign: dict[str, Source], code: str, base: str, edits: dict[str, Any]
) -> None:
    assert code in codes_after(foreign, base, edits)


@pytest.mark.parametrize(("base", "edits"), KEPT, ids=str)
def test_edit_within_the_rules_breaks_none(
    foreign: dict[str, Source], base: str, edits: dict[str, Any]
) -> None:
    assert codes_after(foreign, base, edits) == []


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
