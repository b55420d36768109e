"""A cluster in a rollout file."""

from collections.abc import Callable

import pytest
from tests.unit.stacks.config.capacity_edits import RESERVED, SPILL, further, lines

from ultracluster_stacks.config import LoadedRollout

_CLUSTER = "waves[0].clusters[0]"
_BLOCK = """          market_type: capacity-block
          reservation_id: cr-0123456789abcdef0
"""
_ON_DEMAND = (_BLOCK, "          market_type: on-demand\n")
Load = Callable[..., LoadedRollout]


@pytest.mark.parametrize(
    "mistake",
    [
        ("name: train", "name: \u00fcn\u00ef", "UC2101", f"{_CLUSTER}.name", "got '\\xfcn\\xef'"),
        ("name: train", 'name: "train\\n"', "UC2101", f"{_CLUSTER}.name", "'train\\n'"),
        ("nodes:", 'account: "1111"\n        nodes:', "UC2104", f"{_CLUSTER}.account", "12 digits in quotes"),
        (
            "nodes:",
            'account: "1111-2222-3333"\n        nodes:',
            "UC2104",
            f"{_CLUSTER}.account",
            "without hyphens",
        ),
        ("nodes:", "profile: --app\n        nodes:", "UC2230", f"{_CLUSTER}.profile", "such as production"),
        ("nodes:", "profile: my own\n        nodes:", "UC2230", f"{_CLUSTER}.profile", "such as production"),
    ],
)
def test_refuses_a_mistake_with_its_code_and_its_place(
    refused: Callable[..., None], mistake: tuple[str, ...]
) -> None:
    refused(*mistake)


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        ([_ON_DEMAND, ("nodes: 4", "nodes: 1000")], "UC4101"),
        ([("ami-0123456789abcdef0", "ami-01234567")], "UC4110"),
        ([("name: train", "name: " + "x" * 32)], "UC2101"),
        ([("name: train", "name: x-")], "UC2101"),
        ([("nodes:", 'account: "012345678901"\n        nodes:')], "UC2104"),
        ([("nodes:", 'profile: "AdministratorAccess-012345678901"\n        nodes:')], "UC2230"),
    ],
)
def test_accepts_the_last_allowed_value(
    accepted: Callable[..., None], edits: list[tuple[str, str]], code: str
) -> None:
    accepted(edits, code)


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
