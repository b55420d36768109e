"""A cluster in a rollout file."""

from collections.abc import Callable

from tests.unit.stacks.config.capacity_edits import RESERVED, SPILL, further, lines

from ultracluster_stacks.config import LoadedRollout

Load = Callable[..., LoadedRollout]


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
