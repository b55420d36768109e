"""Capacity in a rollout file."""

from collections.abc import Callable

import pytest
from tests.unit.stacks.config.capacity_edits import RESERVED, RESOURCE_GROUP, capacity, further

from ultracluster_stacks.config import LoadedRollout

_CLUSTER = "waves[0].clusters[0]"


@pytest.mark.parametrize(
    "mistake",
    [
        ("cr-0", "cbr-0", "UC4109", f"{_CLUSTER}.capacity.reservation_id", "a Capacity Block ID"),
        (
            "cr-0",
            "arn:aws:ec2:x:1:y/cr-0",
            "UC4109",
            f"{_CLUSTER}.capacity.reservation_id",
            "part of the ARN after the slash",
        ),
        (
            '"2026-12-01T12:00:00Z"',
            '"2026-12-01T12:00:00"',
            "UC4111",
            f"{_CLUSTER}.capacity.start",
            "Z at the end",
        ),
        (
            '"2026-12-01T12:00:00Z"',
            '"2026-12-01T12:00+02:00"',
            "UC4111",
            f"{_CLUSTER}.capacity.start",
            "Convert",
        ),
        (
            '"2026-12-01T12:00:00Z"',
            '"2026-02-30T12:00:00Z"',
            "UC4111",
            f"{_CLUSTER}.capacity.start",
            "does not exist",
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
        ([('"2026-12-01T12:00:00Z"', '"2026-12-01T12:00Z"')], "UC4111"),
        ([capacity(f"resource_group_arn: '{RESOURCE_GROUP}/ABC'")], "UC4124"),
    ],
)
def test_accepts_the_last_allowed_value(
    accepted: Callable[..., None], edits: list[tuple[str, str]], code: str
) -> None:
    accepted(edits, code)


@pytest.mark.parametrize(
    ("edits", "code", "path"),
    [
        ([further("market_type: on-demand")], "UC1021", "additional_capacity[0].name"),
        ([further("name: spill")], "UC1021", "additional_capacity[0].market_type"),
        ([capacity("resource_group_arn: training")], "UC4124", "capacity.resource_group_arn"),
        ([capacity("max_nodes: 1001")], "UC4101", "capacity.max_nodes"),
        (
            [further(f"{RESERVED}, placement_group: 'x\u00e9'")],
            "UC3108",
            "additional_capacity[0].placement_group",
        ),
    ],
)
def test_refuses_further_capacity_and_queues_at_their_place(
    refused_at: Callable[..., None], edits: list[tuple[str, str]], code: str, path: str | None
) -> None:
    refused_at(edits, code, path)


def test_reads_times_as_utc(load: Callable[..., LoadedRollout]) -> None:
    capacity = load().config.waves[0].clusters[0].capacity

    assert capacity.start is not None
    assert capacity.start.isoformat() == "2026-12-01T12:00:00+00:00"
