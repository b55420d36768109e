"""The capacity of a cluster is sold and used as the file says."""

from collections.abc import Callable

import pytest
from tests.unit.stacks.config.capacity_edits import (
    ON_DEMAND,
    OTHER_RESERVATION,
    RESERVED,
    RESOURCE_GROUP,
    SPILL,
    capacity,
    further,
)
from tests.unit.stacks.config.machine_edits import BLOCK_MARKET, ON_DEMAND_MARKET, OWN_TYPE, TYPE_LINE

from ultracluster_spec.findings import Finding

_TYPE = "trn2.48xlarge"
_CLUSTER = "waves[0].clusters[0]"
Findings = Callable[..., list[Finding]]
_BLOCK = """          market_type: capacity-block
          reservation_id: cr-0123456789abcdef0
"""
_ON_DEMAND = (_BLOCK, "          market_type: on-demand\n")


@pytest.mark.parametrize(
    "mistake",
    [
        (
            "          reservation_id: cr-0123456789abcdef0\n",
            "",
            "UC4108",
            f"{_CLUSTER}.capacity.reservation_id",
            "bought",
        ),
        ("12-01T12:00:00Z", "12-04T11:30:00Z", "UC4112", f"{_CLUSTER}.capacity.end", "not after the start"),
        (
            "nodes: 4",
            "nodes: 4\n        checkpoint_lead_minutes: 721",
            "UC4117",
            f"{_CLUSTER}.checkpoint_lead_minutes",
            "0 to 720",
        ),
        (
            "nodes: 4",
            "nodes: 4\n        max_refusals: 0",
            "UC4129",
            f"{_CLUSTER}.max_refusals",
            "1 to 100",
        ),
    ],
)
def test_refuses_a_mistake_with_its_code_and_its_place(
    refused: Callable[..., None], mistake: tuple[str, ...]
) -> None:
    refused(*mistake)


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        ([("nodes: 4", "nodes: 64")], "UC4102"),
        ([("nodes: 4", "nodes: 1")], "UC4103"),
        ([_ON_DEMAND, ("nodes: 4", "nodes: 3")], "UC4103"),
        ([_ON_DEMAND, ("nodes: 4", "nodes: 65")], "UC4102"),
        ([_ON_DEMAND], "UC4108"),
        ([_ON_DEMAND, ("12-04T11:30", "12-04T12:30")], "UC4113"),
        ([_ON_DEMAND, (_TYPE, "inf2.48xlarge"), ("nodes: 4", "nodes: 1")], "UC4104"),
        ([(_TYPE, "trn1.32xlarge")], "UC4104"),
        ([("2026-12-04T11", "2027-06-01T11")], "UC4114"),
        ([("12-01T12:00:00Z", "12-04T11:29:59Z")], "UC4112"),
        ([further(f"{RESERVED}, placement_group: near")], "UC4126"),
        ([capacity(f"resource_group_arn: '{RESOURCE_GROUP}'")], "UC4128"),
        ([capacity("allocation_strategy: best-fit-progressive")], "UC4131"),
        ([further(f"{SPILL}, allocation_strategy: best-fit")], "UC4131"),
    ],
)
def test_accepts_the_last_allowed_value(
    accepted: Callable[..., None], edits: list[tuple[str, str]], code: str
) -> None:
    accepted(edits, code)


@pytest.mark.parametrize("setting", ["checkpoint_lead_minutes: 720", "max_refusals: 100"])
def test_settings_of_the_life_cycle_need_a_capacity_block(findings: Findings, setting: str) -> None:
    edit = ("nodes: 4", f"nodes: 4\n        {setting}")

    assert findings(edit) == []
    (found,) = findings(_ON_DEMAND, edit)
    assert (found.code, found.path) == ("UC4126", f"{_CLUSTER}.{setting.partition(':')[0]}")


def test_warns_of_a_region_where_blocks_are_not_known_to_be_sold(findings: Findings) -> None:
    elsewhere = [("us-east-2\n", "eu-west-1\n"), ("use2-az3", "euw1-az1"), ("us-east-2.ama", "eu-west-1.ama")]

    assert [finding.code for finding in findings(*elsewhere)] == ["UC4107"]
    seen = [("us-east-2\n", "ap-south-2\n"), ("use2-az3", "aps2-az2"), ("us-east-2.ama", "ap-south-2.ama")]
    assert findings(*seen) == []


def test_one_block_holds_one_ultraserver(findings: Findings) -> None:
    ultraserver = (_TYPE, "trn2u.48xlarge")

    assert findings(ultraserver) == []
    # With a word about the part of an UltraServer, and the job that takes all five nodes.
    assert {finding.code for finding in findings(ultraserver, ("nodes: 4", "nodes: 5"))} == {
        *("UC4105", "UC4028", "UC4029")
    }


def test_a_type_without_blocks_is_refused_once(findings: Findings) -> None:
    assert [finding.code for finding in findings((_TYPE, "trn1n.32xlarge"))] == ["UC4104"]


@pytest.mark.parametrize(
    ("edits", "code", "path"),
    [
        (
            [further("name: later, market_type: capacity-block")],
            "UC4108",
            "additional_capacity[0].reservation_id",
        ),
        (
            [further("name: again, market_type: on-demand, reservation_id: cr-0123456789abcdef0")],
            "UC4127",
            "additional_capacity[0].reservation_id",
        ),
        ([further(f"{SPILL}, placement_group: near")], "UC4126", "additional_capacity[0].placement_group"),
        ([further(f"{SPILL}, max_price_percent: 60")], "UC4126", "additional_capacity[0].max_price_percent"),
        (
            [further(f"{SPILL}, allocation_strategy: capacity-optimized")],
            "UC4131",
            "additional_capacity[0].allocation_strategy",
        ),
        (
            [further(f"{RESERVED}, resource_group_arn: '{RESOURCE_GROUP}'")],
            "UC4128",
            "additional_capacity[0].resource_group_arn",
        ),
        (
            [
                further(
                    "name: later, market_type: capacity-block, reservation_id: "
                    + OTHER_RESERVATION
                    + ", max_nodes: 65"
                )
            ],
            "UC4102",
            "additional_capacity[0].max_nodes",
        ),
        (
            [ON_DEMAND, ("trn2.48xlarge", "trn2u.48xlarge"), further("name: spot, market_type: spot")],
            "UC4104",
            None,
        ),
    ],
)
def test_refuses_further_capacity_and_queues_at_their_place(
    refused_at: Callable[..., None], edits: list[tuple[str, str]], code: str, path: str | None
) -> None:
    refused_at(edits, code, path)


def test_own_figures_reach_the_other_rules(findings: Findings) -> None:
    found = findings((TYPE_LINE, OWN_TYPE), (BLOCK_MARKET, ON_DEMAND_MARKET))
    assert ("UC4104", f"{_CLUSTER}.capacity.market_type") in [(each.code, each.path) for each in found]
