"""Why a queue accepts no jobs, and which block opens it."""

from datetime import timedelta
from typing import Any

import pytest
from tests.unit.runtime.jobs.stubbed_aws import (
    ENVIRONMENT,
    NOW,
    QUEUE,
    TEMPLATE,
    expect_environment,
    expect_template,
)
from tests.unit.runtime.stubbed_clients import StubbedAws

from ultracluster_runtime.jobs.closed_queues import explain_closed_queue

DAY = timedelta(days=1)
DISABLED = {
    "jobQueueName": "training",
    "jobQueueArn": QUEUE,
    "state": "DISABLED",
    "computeEnvironmentOrder": [{"order": 1, "computeEnvironment": ENVIRONMENT}],
}


def reservation(state: str, start: timedelta, end: timedelta, block: str = "cr-1") -> dict[str, Any]:
    return {
        "CapacityReservationId": block,
        "InstanceType": "trn2.48xlarge",
        "State": state,
        "ReservationType": "capacity-block",
        "TotalInstanceCount": 4,
        "StartDate": NOW + start,
        "EndDate": NOW + end,
    }


def expect(aws: StubbedAws, *blocks: dict[str, Any], unused: list[dict[str, Any]] | None = None) -> None:
    expect_environment(aws, launchTemplate=TEMPLATE)
    expect_template(aws)
    if blocks:
        aws.answer("ec2", "describe_capacity_reservations", {"CapacityReservations": list(blocks)})
    else:
        aws.refuse("ec2", "describe_capacity_reservations", "InvalidCapacityReservationId.NotFound")
    if unused is not None:
        aws.answer("ec2", "describe_capacity_reservations", {"CapacityReservations": unused})


def explained(aws: StubbedAws, **changes: Any) -> tuple[str, str]:
    reason = explain_closed_queue({**DISABLED, **changes}, now=NOW, client=aws.client)
    assert reason is not None
    assert reason.evidence.startswith("queue training is DISABLED: ")
    return reason.evidence, reason.remedy


def test_an_open_queue_needs_no_explanation(aws: StubbedAws) -> None:
    assert explain_closed_queue({**DISABLED, "state": "ENABLED"}, now=NOW, client=aws.client) is None


@pytest.mark.parametrize(
    ("left", "told", "way"),
    [
        (30, "ends 2026-12-01 12:30 UTC, and since 11:50 UTC no jobs start in it", "buy one"),
        (60, "is active until 2026-12-01 13:00 UTC", "buy one"),
        (61, "is active until 2026-12-01 13:01 UTC", "extend the block (ultracluster capacity extend, until"),
    ],
)
def test_a_block_is_named_with_its_end_and_extended_only_until_an_hour_before(
    aws: StubbedAws, left: int, told: str, way: str
) -> None:
    expect(aws, reservation("active", -DAY, timedelta(minutes=left)), unused=[])
    evidence, remedy = explained(aws)
    assert f"Capacity Block cr-1 {told}" in evidence
    assert remedy.startswith(f"No next block is known: {way}")


def test_a_block_that_has_ended_is_named_with_the_next_one_of_the_account(aws: StubbedAws) -> None:
    unused = [reservation("scheduled", DAY, 2 * DAY, "cr-1"), reservation("scheduled", DAY, 2 * DAY, "cr-2")]
    expect(aws, reservation("expired", -2 * DAY, -DAY), unused=unused)
    evidence, remedy = explained(aws)
    assert "Capacity Block cr-1 ended 2026-11-30 12:00 UTC (expired)" in evidence
    assert remedy.startswith("Next is cr-2, which starts 2026-12-02 12:00 UTC: put its ID")


def test_a_block_that_ec2_has_forgotten_is_named(aws: StubbedAws) -> None:
    expect(aws, unused=[])
    assert "EC2 no longer knows cr-1" in explained(aws)[0]


def test_the_next_block_of_the_queue_is_named_with_its_start(aws: StubbedAws) -> None:
    expect(aws, reservation("scheduled", DAY, 2 * DAY))
    evidence, remedy = explained(aws)
    assert "the next block cr-1 is scheduled and starts 2026-12-02 12:00 UTC" in evidence
    assert remedy.startswith("It opens with that block")


def test_a_queue_that_a_person_closed_in_an_open_block_is_not_blamed_on_the_block(aws: StubbedAws) -> None:
    expect(aws, reservation("active", -DAY, DAY), unused=[])
    assert "only a person closes the queue" in explained(aws)[0]


@pytest.mark.parametrize("tag", ["ultracluster:closed-by-budget"])
def test_a_queue_that_a_budget_closed_says_so(aws: StubbedAws, tag: str) -> None:
    evidence, remedy = explained(aws, tags={tag: "x"})
    assert "a budget closed it" in evidence
    assert "--state ENABLED" in remedy
