"""Rules for the network interfaces of launch templates."""

from typing import Any

import pytest
from tests.unit.checks.defects import DROP
from tests.unit.checks.edits import CE, LT, codes_after

from ultracluster_checks import Source

BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
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
