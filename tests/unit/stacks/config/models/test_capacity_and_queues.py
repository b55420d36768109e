"""`additional_capacity`, `queue` and `additional_queues` of a cluster."""

from collections.abc import Callable

import pytest

from ultracluster_rules.findings import Finding
from ultracluster_stacks.config import LoadedRollout

Findings = Callable[..., list[Finding]]
Load = Callable[..., LoadedRollout]

_OWN = 'reservation_id: cr-0123456789abcdef0\n          start: "2026-12-01T12:00:00Z"\n          end: "2026-12-04T11:30:00Z"'
_ON_DEMAND = ("market_type: capacity-block\n          " + _OWN, "market_type: on-demand")
_OTHER = "cr-0fedcba9876543210"
_GROUP = "arn:aws:resource-groups:us-east-2:123456789012:group/training"
_BEFORE = "        network: {cidr"
_NO_JOBS = ("jobs:\n          - name", "jobs: []\n      #    - name")


def further(*items: str) -> tuple[str, str]:
    """Add capacity, each item in flow style."""
    return _BEFORE, "".join(
        ["        additional_capacity:\n", *(f"          - {{{i}}}\n" for i in items), _BEFORE]
    )


def lines(text: str) -> tuple[str, str]:
    """Add a field to the cluster."""
    return _BEFORE, f"        {text}\n{_BEFORE}"


def capacity(text: str) -> tuple[str, str]:
    """Add a field to `capacity`, which is on-demand then."""
    return _ON_DEMAND[0], f"{_ON_DEMAND[1]}\n          {text}"


RESERVED = f"name: reserved, market_type: on-demand, reservation_id: {_OTHER}"
SPILL = "name: spill, market_type: on-demand, max_nodes: 2"


def test_a_cluster_has_capacity_of_several_kinds(load: Load) -> None:
    edits = [
        further(RESERVED, SPILL),
        lines(
            "queue: {priority: 5, shares: {research: 4, Eval*: 1}, share_decay_hours: 168, "
            "compute_reservation_percent: 20}"
        ),
        lines(
            "additional_queues: [{name: urgent, priority: 10, capacity: [spill], "
            "wait_limits: {insufficient_capacity: 24, exceeds_nodes: 1}}]"
        ),
    ]
    loaded = load(*edits)
    # On-demand trn2 is not known to be offered in the zone, which is all that there is to say.
    assert {finding.code for finding in loaded.warnings} <= {"UC4106"}
    (cluster,) = loaded.config.waves[0].clusters
    assert [loc for loc, _ in cluster.sources()] == [
        ("capacity",),
        ("additional_capacity", 0),
        ("additional_capacity", 1),
    ]
    assert cluster.most_nodes == 4 + 4 + 2


@pytest.mark.parametrize(
    ("edits", "code", "path"),
    [
        (
            [further(SPILL, "name: spill, market_type: on-demand")],
            "UC4121",
            "additional_capacity[1].name",
        ),
        ([further("name: capacity, market_type: on-demand")], "UC4121", "additional_capacity[0].name"),
        ([further("market_type: on-demand")], "UC1021", "additional_capacity[0].name"),
        ([further("name: spill")], "UC1021", "additional_capacity[0].market_type"),
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
            "UC4129",
            "additional_capacity[0].allocation_strategy",
        ),
        (
            [further(f"{RESERVED}, resource_group_arn: '{_GROUP}'")],
            "UC4128",
            "additional_capacity[0].resource_group_arn",
        ),
        ([capacity("resource_group_arn: training")], "UC4124", "capacity.resource_group_arn"),
        ([capacity("max_nodes: 1001")], "UC4101", "capacity.max_nodes"),
        (
            [further(f"{RESERVED}, placement_group: 'x\u00e9'")],
            "UC3108",
            "additional_capacity[0].placement_group",
        ),
        (
            [
                further(
                    "name: later, market_type: capacity-block, reservation_id: " + _OTHER + ", max_nodes: 65"
                )
            ],
            "UC4102",
            "additional_capacity[0].max_nodes",
        ),
        ([further(RESERVED, SPILL, "name: more, market_type: on-demand")], "UC4120", "queue.capacity"),
        ([lines("queue: {capacity: [spil]}"), further(SPILL)], "UC6312", "queue.capacity[0]"),
        ([lines("queue: {capacity: [spill]}"), further(SPILL)], "UC6314", "queue.capacity"),
        ([lines("queue: {priority: 1001}")], "UC6305", "queue.priority"),
        ([lines("queue: {shares: {team-a: 1}}")], "UC6301", "queue.shares"),
        ([lines("queue: {shares: {a: 0}}")], "UC6302", "queue.shares"),
        ([lines("queue: {shares: {a*: 1, ab: 1}}")], "UC6303", "queue.shares"),
        ([lines("queue: {compute_reservation_percent: 100}")], "UC6304", "queue.compute_reservation_percent"),
        ([lines("queue: {share_decay_hours: 169}")], "UC6313", "queue.share_decay_hours"),
        ([lines("queue: {wait_limits: {exceeds_nodes: 25}}")], "UC6306", "queue.wait_limits.exceeds_nodes"),
        (
            [lines("queue: {wait_limits: {insufficient_capacity: 24}}")],
            "UC6307",
            "queue.wait_limits.insufficient_capacity",
        ),
        (
            [lines("additional_queues: [{name: a2, priority: 2}, {name: a2, priority: 3}]")],
            "UC6310",
            "additional_queues[1].name",
        ),
        ([_ON_DEMAND, further("name: spot, market_type: spot")], "UC6308", "jobs[0].queue"),
        (
            [_ON_DEMAND, ("trn2.48xlarge", "trn2u.48xlarge"), further("name: spot, market_type: spot")],
            "UC4104",
            None,
        ),
    ],
)
def test_says_what_is_wrong_and_where(
    findings: Findings, edits: list[tuple[str, str]], code: str, path: str | None
) -> None:
    found = findings(*edits)
    matching = [finding for finding in found if finding.code == code]
    assert matching, found
    if path is not None:
        assert [finding.path for finding in matching] == [f"waves[0].clusters[0].{path}"]
        assert matching[0].location.startswith("rollout.yaml:")


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        ([further(RESERVED, SPILL)], "UC4120"),
        ([further(RESERVED, SPILL, "name: more, market_type: on-demand"),
          lines("queue: {capacity: [capacity, spill, more]}")], "UC4120"),
        ([further(f"{RESERVED}, placement_group: near")], "UC4126"),
        ([capacity(f"resource_group_arn: '{_GROUP}'")], "UC4128"),
        ([capacity(f"resource_group_arn: '{_GROUP}/ABC'")], "UC4124"),
        ([capacity("allocation_strategy: best-fit-progressive")], "UC4129"),
        ([further(f"{SPILL}, allocation_strategy: best-fit")], "UC4129"),
        ([_ON_DEMAND, lines("queue: {wait_limits: {insufficient_capacity: 24, exceeds_environments: 1}}")], "UC6307"),
        ([lines("queue: {wait_limits: {exceeds_nodes: 24}}")], "UC6306"),
        ([lines("queue: {priority: 0}")], "UC6305"),
        ([further(SPILL), ("{cidr: 10.0.0.0/16}", "{cidr: 10.0.0.0/16, placement: mine}")], "UC4020"),
        ([lines("queue: {shares: {a*: 1000, b: 1}}")], "UC6302"),
        ([_ON_DEMAND, further("name: spot, market_type: spot"), lines("queue: {capacity: [capacity]}")], "UC6308"),
        ([_ON_DEMAND, further("name: spot, market_type: spot, max_price_percent: 60"), _NO_JOBS], "UC6308"),
        ([_ON_DEMAND, further("name: spot, market_type: spot"),
          ("- name: pretrain", "- name: pretrain\n            kind: single-node")], "UC6308"),
    ],
)  # fmt: skip
def test_takes_the_other_side(findings: Findings, edits: list[tuple[str, str]], code: str) -> None:
    found = findings(*edits)
    assert code not in {finding.code for finding in found}, found


SMALL = "additional_queues: [{name: small, capacity: [spot]}]"
SPOT = further("name: spot, market_type: spot, max_nodes: 2")


def job(text: str) -> tuple[str, str]:
    """Add fields to the job."""
    return "          - name: pretrain", f"          - name: pretrain\n            {text}"


@pytest.mark.parametrize(
    ("edits", "codes"),
    [
        ([_ON_DEMAND, SPOT, lines(f"queue: {{capacity: [capacity]}}\n        {SMALL}"), job("queue: small")], {"UC6308"}),
        (
            [
                _ON_DEMAND,
                SPOT,
                lines(f"queue: {{capacity: [capacity]}}\n        {SMALL}"),
                job("kind: single-node\n            queue: small"),
            ],
            set(),
        ),
        ([_ON_DEMAND, SPOT, job("kind: single-node")], set()),
        ([lines("additional_queues: [{name: other}]"), job("queue: othr")], {"UC6315"}),
        ([lines("additional_queues: [{name: other}]"), job("queue: other")], set()),
        ([lines("additional_queues: [{name: other}]"), job("kind: precompile\n            queue: other")], {"UC6315"}),
        (
            [further(SPILL), lines("additional_queues: [{name: less, capacity: [spill]}]"), job("queue: less\n            nodes: 3")],
            {"UC6101"},
        ),
        (
            [further(SPILL), lines("additional_queues: [{name: less, capacity: [spill]}]"), job("queue: less\n            nodes: 2")],
            set(),
        ),
    ],
)  # fmt: skip
def test_a_job_fits_the_queue_that_it_is_given_to(
    findings: Findings, edits: list[tuple[str, str]], codes: set[str]
) -> None:
    checked = {"UC6308", "UC6315", "UC6101"}
    assert {each.code for each in findings(*edits)} & checked == codes


def test_one_wrong_item_does_not_hide_what_is_wrong_before_it(findings: Findings) -> None:
    codes = {finding.code for finding in findings(("cr-0123456789abcdef0", "null"), further("name: S"))}
    assert {"UC4108", "UC2101", "UC1021"} <= codes


def test_a_reservation_of_another_cluster_is_seen_in_further_capacity(findings: Findings) -> None:
    second = """\
      - name: other
        region: us-east-2
        zone_id: use2-az2
        instance_type: trn2.48xlarge
        nodes: 4
        capacity: {market_type: on-demand}
        additional_capacity: [{name: same, market_type: on-demand, reservation_id: cr-0123456789abcdef0}]
"""
    found = findings(("    clusters:\n", f"    clusters:\n{second}"))
    assert "UC4115" in {finding.code for finding in found}
