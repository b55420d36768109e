"""Scheduling policies: shares, their kind, and their use by queues."""

from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    return local_aws.client("batch")


def shares(*given: tuple[str, float]) -> dict[str, Any]:
    return {
        "shareDistribution": [{"shareIdentifier": name, "weightFactor": weight} for name, weight in given]
    }


@pytest.mark.parametrize(
    "policy",
    [
        {},
        {"shareDecaySeconds": 604_800, "computeReservation": 99},
        shares(("research", 0.0001), ("product*", 999.9999)),
        shares(("a", 1), ("b", 1)),
    ],
)
def test_a_policy_is_read_back_as_it_was_created(batch: Any, policy: dict[str, Any]) -> None:
    arn = batch.create_scheduling_policy(name="policy", fairsharePolicy=policy)["arn"]

    (found,) = batch.describe_scheduling_policies(arns=[arn, "arn:absent"])["schedulingPolicies"]
    assert found["fairsharePolicy"] == policy
    assert [one["arn"] for one in batch.list_scheduling_policies()["schedulingPolicies"]] == [arn]


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ({"shareDecaySeconds": 604_801}, "shareDecaySeconds must be between 0 and 604800"),
        ({"computeReservation": 100}, "computeReservation must be between 0 and 99"),
        (
            shares(*((f"s{number}", 1) for number in range(501))),
            "ShareDistribution size cannot be greater than 500.",
        ),
        (shares(("a.b", 1)), "ShareIdentifier name should match a valid pattern."),
        (shares(("a*b", 1)), "ShareIdentifier name should match a valid pattern."),
        (shares(("a", 1000)), "Weight factor should be between 0.0001 and 999.9999."),
        (shares(("a", 1), ("a", 1)), "Cannot have two or more identical shareIdentifiers."),
        (shares(("team1", 1), ("team*", 1)), "Share identifier team1 matches another share identifier team*"),
    ],
)
def test_shares_that_batch_cannot_apply_are_refused(batch: Any, policy: dict[str, Any], words: str) -> None:
    arn = batch.create_scheduling_policy(name="good", fairsharePolicy={})["arn"]

    assert words in refusal(batch.create_scheduling_policy, name="bad", fairsharePolicy=policy)[1]
    assert words in refusal(batch.update_scheduling_policy, arn=arn, fairsharePolicy=policy)[1]


def test_a_name_is_taken_once(batch: Any) -> None:
    batch.create_scheduling_policy(name="policy", fairsharePolicy={})

    assert refusal(batch.create_scheduling_policy, name="policy")[1] == "Object already exists"


def test_the_kind_of_a_policy_is_one_and_stays(batch: Any) -> None:
    quota: dict[str, Any] = {"quotaSharePolicy": {"idleResourceAssignmentStrategy": "FIFO"}}
    both = refusal(batch.create_scheduling_policy, name="both", fairsharePolicy={}, **quota)
    arn = batch.create_scheduling_policy(name="fair", fairsharePolicy={})["arn"]

    assert "A scheduling policy can have either fairsharePolicy or quotaSharePolicy" in both[1]
    assert (
        "cannot be removed or changed to a quotaSharePolicy"
        in refusal(batch.update_scheduling_policy, arn=arn, **quota)[1]
    )


def test_a_policy_that_a_queue_uses_cannot_be_deleted(batch: Any) -> None:
    arn = batch.create_scheduling_policy(name="policy", fairsharePolicy={})["arn"]
    batch.create_compute_environment(computeEnvironmentName="nodes", type="UNMANAGED")
    order = [{"order": 1, "computeEnvironment": "nodes"}]
    batch.create_job_queue(
        jobQueueName="queue", priority=1, schedulingPolicyArn=arn, computeEnvironmentOrder=order
    )

    assert "used in any job queues: queue" in refusal(batch.delete_scheduling_policy, arn=arn)[1]
    batch.update_job_queue(jobQueue="queue", state="DISABLED")
    batch.delete_job_queue(jobQueue="queue")
    batch.delete_scheduling_policy(arn=arn)
    assert batch.list_scheduling_policies()["schedulingPolicies"] == []
