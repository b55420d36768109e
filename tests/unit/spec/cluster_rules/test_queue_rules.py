"""The queues of a cluster start the jobs that they are given."""

from collections.abc import Callable

import pytest
from tests.unit.stacks.config.capacity_edits import ON_DEMAND, RESERVED, SPILL, further, lines


@pytest.mark.parametrize(
    ("edits", "code", "path"),
    [
        (
            [further(SPILL, "name: spill, market_type: on-demand")],
            "UC4121",
            "additional_capacity[1].name",
        ),
        (
            [
                lines(
                    'account: "123456789012"\n        submitters: ["arn:aws:iam::210987654321:role/people/researcher"]'
                )
            ],
            "UC6350",
            "submitters[0]",
        ),
        (
            [
                lines(
                    'submitters: ["arn:aws:iam::123456789012:role/people/researcher", "arn:aws:iam::123456789012:role/people/researcher"]'
                )
            ],
            "UC6350",
            "submitters[1]",
        ),
        ([further("name: capacity, market_type: on-demand")], "UC4121", "additional_capacity[0].name"),
        ([further(RESERVED, SPILL, "name: more, market_type: on-demand")], "UC4120", "queue.capacity"),
        ([lines("queue: {capacity: [spil]}"), further(SPILL)], "UC6312", "queue.capacity[0]"),
        ([lines("queue: {capacity: [spill]}"), further(SPILL)], "UC6314", "queue.capacity"),
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
    ],
)
def test_refuses_further_capacity_and_queues_at_their_place(
    refused_at: Callable[..., None], edits: list[tuple[str, str]], code: str, path: str | None
) -> None:
    refused_at(edits, code, path)


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        ([further(RESERVED, SPILL)], "UC4120"),
        (
            [
                further(RESERVED, SPILL, "name: more, market_type: on-demand"),
                lines("queue: {capacity: [capacity, spill, more]}"),
            ],
            "UC4120",
        ),
        (
            [ON_DEMAND, lines("queue: {wait_limits: {insufficient_capacity: 24, exceeds_environments: 1}}")],
            "UC6307",
        ),
    ],
)
def test_accepts_further_capacity_and_queues_that_just_fit(
    accepted: Callable[..., None], edits: list[tuple[str, str]], code: str
) -> None:
    accepted(edits, code)
