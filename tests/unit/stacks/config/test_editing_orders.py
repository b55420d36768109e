"""Capacity with orders is read from rollouts that are valid except for what commands fill in."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.config.editing import load_editable, ordered_capacity

Write = Callable[[str | bytes], Path]
RESERVATION = "          reservation_id: cr-0123456789abcdef0\n"
ORDER = "          order: december\n"
FURTHER = (
    "        additional_capacity:\n"
    "          - {name: more, market_type: on-demand, order: january, max_nodes: 2}\n"
    "        network: {cidr"
)


def test_reads_the_orders_of_a_cluster_and_of_its_further_capacity(write: Write, valid: str) -> None:
    path = write(valid.replace(RESERVATION, ORDER).replace("        network: {cidr", FURTHER))

    first, second = ordered_capacity(load_editable(path))

    assert (first.order, first.path, first.nodes, first.capacity.market_type) == (
        "december",
        "capacity",
        4,
        "capacity-block",
    )
    assert (second.order, second.path, second.nodes, second.capacity.market_type) == (
        "january",
        "additional_capacity.0",
        2,
        "on-demand",
    )
    assert second.loc == ("waves", 0, "clusters", 0, "additional_capacity", 0)
    assert first.cluster == second.cluster
    assert (first.cluster.name, first.cluster.region) == ("train", "us-east-2")


@pytest.mark.parametrize(("reservation", "gives_zone"), [("", True), (RESERVATION, False)])
def test_only_the_first_unresolved_order_decides_about_the_zone(
    write: Write, valid: str, reservation: str, *, gives_zone: bool
) -> None:
    path = write(valid.replace(RESERVATION, ORDER + reservation).replace("        network: {cidr", FURTHER))

    capacities = ordered_capacity(load_editable(path))

    assert [capacity.gives_zone for capacity in capacities] == [gives_zone, False]


def test_a_rollout_without_orders_has_no_ordered_capacity(write: Write, valid: str) -> None:
    assert list(ordered_capacity(load_editable(write(valid)))) == []


def test_only_the_capacity_of_one_wave_is_read(write: Write, valid: str) -> None:
    rollout = load_editable(write(valid.replace(RESERVATION, ORDER)))

    assert [capacity.order for capacity in ordered_capacity(rollout, wave="first")] == ["december"]
    assert list(ordered_capacity(rollout, wave="second")) == []


def test_other_mistakes_of_the_file_are_refused(write: Write, valid: str) -> None:
    with pytest.raises(FindingsError, match="UC4101"):
        load_editable(write(valid.replace(RESERVATION, ORDER).replace("nodes: 4", "nodes: 0")))
