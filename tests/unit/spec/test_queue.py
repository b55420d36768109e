"""Queues in a rollout file."""

from collections.abc import Callable

import pytest
from tests.unit.stacks.config.capacity_edits import lines


@pytest.mark.parametrize(
    ("edits", "code", "path"),
    [
        ([lines("queue: {priority: 1001}")], "UC6305", "queue.priority"),
        ([lines("queue: {shares: {team-a: 1}}")], "UC6301", "queue.shares"),
        ([lines("queue: {shares: {a: 0}}")], "UC6302", "queue.shares"),
        ([lines("queue: {shares: {a*: 1, ab: 1}}")], "UC6303", "queue.shares"),
        ([lines("queue: {compute_reservation_percent: 100}")], "UC6304", "queue.compute_reservation_percent"),
        ([lines("queue: {share_decay_hours: 169}")], "UC6313", "queue.share_decay_hours"),
        ([lines("queue: {wait_limits: {exceeds_nodes: 25}}")], "UC6306", "queue.wait_limits.exceeds_nodes"),
    ],
)
def test_refuses_further_capacity_and_queues_at_their_place(
    refused_at: Callable[..., None], edits: list[tuple[str, str]], code: str, path: str | None
) -> None:
    refused_at(edits, code, path)


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        ([lines("queue: {wait_limits: {exceeds_nodes: 24}}")], "UC6306"),
        ([lines("queue: {priority: 0}")], "UC6305"),
        ([lines("queue: {shares: {a*: 1000, b: 1}}")], "UC6302"),
    ],
)
def test_accepts_further_capacity_and_queues_that_just_fit(
    accepted: Callable[..., None], edits: list[tuple[str, str]], code: str
) -> None:
    accepted(edits, code)
