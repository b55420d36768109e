"""Rows 51 to 73: compute, and capacity that is bought."""

from collections.abc import Callable

import pytest
from tests.unit.bad_inputs.rows import Row, capacity, cluster, refused, taken

ROWS = [
    refused(51, "the type trn2.96xlarge", [("trn2.48xlarge", "trn2.96xlarge")], "UC4001 11 @.instance_type"),
    refused(
        51, "the type ml.trn2.48xlarge", [("trn2.48xlarge", "ml.trn2.48xlarge")], "UC4001 11 @.instance_type"
    ),
    refused(51, "the type Trn2.48xlarge", [("trn2.48xlarge", "Trn2.48xlarge")], "UC4001 11 @.instance_type"),
    taken(
        52,
        "trn2.48xlarge in eu-west-1",
        [("us-east-2\n", "eu-west-1\n"), ("use2-az3", "euw1-az1"), ("us-east-2.ama", "eu-west-1.ama")],
        "UC4107 9 @.region",
    ),
    refused(
        53,
        "a block of trn1n.32xlarge",
        [("trn2.48xlarge", "trn1n.32xlarge")],
        "UC4104 14 @.capacity.market_type",
    ),
    refused(
        53,
        "a block of trn1.2xlarge",
        [("trn2.48xlarge", "trn1.2xlarge")],
        "UC4104 14 @.capacity.market_type",
        "UC6102 21 @.jobs[0].nodes",
    ),
    refused(
        53,
        "a block of inf2.48xlarge",
        [("trn2.48xlarge", "inf2.48xlarge")],
        "UC4104 14 @.capacity.market_type",
        "UC6102 21 @.jobs[0].nodes",
    ),
    refused(
        54,
        "more trn2u in one block than an UltraServer has",
        [("trn2.48xlarge", "trn2u.48xlarge"), ("nodes: 4", "nodes: 8")],
        "UC4105 12 @.nodes",
    ),
    refused(55, "an offering", [("cr-0", "cb-0")], "UC4109 15 @.capacity.reservation_id"),
    refused(
        56,
        "the reservation cr-XYZ",
        [("cr-0123456789abcdef0", "cr-XYZ")],
        "UC4109 15 @.capacity.reservation_id",
    ),
    refused(
        56,
        "the reservation cr-01234567",
        [("cr-0123456789abcdef0", "cr-01234567")],
        "UC4109 15 @.capacity.reservation_id",
    ),
    refused(
        56,
        "the reservation cr-0123456789ABCDEF0",
        [("cr-0123456789abcdef0", "cr-0123456789ABCDEF0")],
        "UC4109 15 @.capacity.reservation_id",
    ),
    refused(
        56,
        'the reservation " cr-0123456789abcdef0"',
        [("cr-0123456789abcdef0", '" cr-0123456789abcdef0"')],
        "UC4109 15 @.capacity.reservation_id",
    ),
    refused(
        56,
        "the reservation arn:aws:ec2:us-east-2:123456789012:capacity-reservation/cr-0123456789abcdef0",
        [
            (
                "cr-0123456789abcdef0",
                "arn:aws:ec2:us-east-2:123456789012:capacity-reservation/cr-0123456789abcdef0",
            )
        ],
        "UC4109 15 @.capacity.reservation_id",
    ),
    refused(
        59,
        "a price of Spot with a block",
        [capacity("max_price_percent: 50")],
        "UC4126 15 @.capacity.max_price_percent",
    ),
    refused(
        59,
        "a market type that is both",
        [("capacity-block", "capacity-block-or-spot")],
        "UC1023 14 @.capacity.market_type",
    ),
    refused(
        59,
        "a reservation with Spot",
        [("market_type: capacity-block", "market_type: spot")],
        "UC4126 15 @.capacity.reservation_id",
        "UC6308 21 @.jobs[0].queue",
    ),
    refused(
        60,
        "a block in a placement group",
        [capacity("placement_group: training")],
        "UC4126 15 @.capacity.placement_group",
    ),
    refused(
        60,
        "nodes of a block in a placement group",
        [("10.0.0.0/16", "10.0.0.0/16, placement: training")],
        "UC4020 18 @.network.placement",
    ),
    refused(
        61,
        "one block twice",
        [
            cluster(
                "additional_capacity: [{name: more, market_type: capacity-block, reservation_id: cr-0123456789abcdef0}]"
            )
        ],
        "UC4127 13 @.additional_capacity[0].reservation_id",
    ),
    refused(
        61,
        "several types",
        [("instance_type: trn2.48xlarge", "instance_type: [trn2.48xlarge, trn1.32xlarge]")],
        "UC1022 11 @.instance_type",
    ),
    refused(62, "the number of nodes 0", [("nodes: 4", "nodes: 0")], "UC4101 12 @.nodes"),
    refused(62, "the number of nodes -4", [("nodes: 4", "nodes: -4")], "UC4101 12 @.nodes"),
    refused(62, "the number of nodes 3.5", [("nodes: 4", "nodes: 3.5")], "UC1022 12 @.nodes"),
    refused(
        62,
        "the number of nodes 9007199254740993",
        [("nodes: 4", "nodes: 9007199254740993")],
        "UC1014 12 @.nodes",
    ),
    refused(62, "the number of nodes true", [("nodes: 4", "nodes: true")], "UC1022 12 @.nodes"),
    refused(62, 'the number of nodes "4"', [("nodes: 4", 'nodes: "4"')], "UC1022 12 @.nodes"),
    refused(62, "the number of nodes 1001", [("nodes: 4", "nodes: 1001")], "UC4101 12 @.nodes"),
    refused(63, "65 nodes in a block", [("nodes: 4", "nodes: 65")], "UC4102 12 @.nodes"),
    taken(63, "3 nodes", [("nodes: 4", "nodes: 3")], "UC4103 12 @.nodes"),
    refused(
        65, "an end before the start", [("12-04T11:30:00Z", "11-30T11:30:00Z")], "UC4112 17 @.capacity.end"
    ),
    taken(
        65,
        "an end at another time of day",
        [("12-04T11:30:00Z", "12-04T12:30:00Z")],
        "UC4113 17 @.capacity.end",
    ),
    refused(
        65,
        "a time in another zone",
        [('"2026-12-01T12:00:00Z"', '"2026-12-01T12:00:00+02:00"')],
        "UC4111 16 @.capacity.start",
    ),
    taken(65, "a block of 183 days", [("2026-12-04T11", "2027-06-02T11")], "UC4114 17 @.capacity.end"),
    refused(
        70,
        "an interface on a card that is not there",
        [
            (
                "{cidr",
                "{network_interfaces: [{card: 0, interface_type: efa}, {card: 16, interface_type: efa-only}], cidr",
            )
        ],
        "UC4011 18 @.network.network_interfaces[1].card",
        "UC4016 18 @.network.network_interfaces",
    ),
    refused(
        70,
        "two interfaces in one place",
        [
            (
                "{cidr",
                "{network_interfaces: [{card: 0, interface_type: efa}, {card: 1, interface_type: efa-only}, {card: 1, interface_type: efa-only}], cidr",
            )
        ],
        "UC4013 18 @.network.network_interfaces[2]",
        "UC4014 18 @.network.network_interfaces[2].interface_type",
        "UC4016 18 @.network.network_interfaces",
    ),
    refused(
        70,
        "a primary interface without an address",
        [("{cidr", "{network_interfaces: [{card: 0, interface_type: efa-only}], cidr")],
        "UC4010 18 @.network.network_interfaces",
        "UC4016 18 @.network.network_interfaces",
    ),
    taken(
        70,
        "half of the cards",
        [
            (
                "{cidr",
                "{network_interfaces: [{card: 0, interface_type: efa}, {card: 1, interface_type: efa-only}, {card: 2, interface_type: efa-only}, {card: 3, interface_type: efa-only}, {card: 4, interface_type: efa-only}, {card: 5, interface_type: efa-only}, {card: 6, interface_type: efa-only}, {card: 7, interface_type: efa-only}], cidr",
            )
        ],
        "UC4016 18 @.network.network_interfaces",
    ),
    refused(71, "the AMI ami-0123", [("ami-0123456789abcdef0", "ami-0123")], "UC4110 3 defaults.image_id"),
    refused(71, "the AMI latest", [("ami-0123456789abcdef0", "latest")], "UC4110 3 defaults.image_id"),
    refused(
        71,
        "the AMI ami-0123456789ABCDEF0",
        [("ami-0123456789abcdef0", "ami-0123456789ABCDEF0")],
        "UC4110 3 defaults.image_id",
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_reacts(reaction: Callable[[str | bytes], tuple[int, tuple[str, ...]]], row: Row) -> None:
    assert reaction(row.text) == (row.exit_code, row.reaction)
