"""Service environments and quota shares of the local AWS: what it keeps, and what it refuses."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

TRN2 = "ml.trn2.48xlarge"


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    return local_aws.client("batch", "us-east-2")


def environment(batch: Any, *limits: tuple[str, int], name: str = "one") -> str:
    answer = batch.create_service_environment(
        serviceEnvironmentName=name,
        serviceEnvironmentType="SAGEMAKER_TRAINING",
        capacityLimits=[{"capacityUnit": unit, "maxCapacity": number} for unit, number in limits],
    )
    return str(answer["serviceEnvironmentArn"])


def policy(batch: Any, *, shares: bool = True) -> str:
    kind: dict[str, Any] = (
        {"quotaSharePolicy": {"idleResourceAssignmentStrategy": "FIFO"}}
        if shares
        else {"fairsharePolicy": {}}
    )
    return str(batch.create_scheduling_policy(name="policy", **kind)["arn"])


def queue(batch: Any, *environments: str, name: str = "queue", **more: str) -> str:
    order = [{"order": index, "serviceEnvironment": one} for index, one in enumerate(environments, 1)]
    answer = batch.create_job_queue(
        jobQueueName=name,
        priority=1,
        jobQueueType="SAGEMAKER_TRAINING",
        serviceEnvironmentOrder=order,
        **more,
    )
    return str(answer["jobQueueArn"])


def share(batch: Any, name: str = "research") -> str:
    answer = batch.create_quota_share(
        quotaShareName=name,
        jobQueue="queue",
        capacityLimits=[{"capacityUnit": TRN2, "maxCapacity": 1}],
        resourceSharingConfiguration={"strategy": "RESERVE"},
        preemptionConfiguration={"inSharePreemption": "DISABLED"},
    )
    return str(answer["quotaShareArn"])


def refused(why: str) -> Any:
    return pytest.raises(ClientError, match=why)


def test_quota_shares_need_one_separate_environment_with_limits_by_type(batch: Any) -> None:
    plain = environment(batch, ("NUM_INSTANCES", 4), name="plain")
    typed = environment(batch, (TRN2, 4), name="typed")
    shares = policy(batch)
    with refused("not NUM_INSTANCES"):
        queue(batch, plain, schedulingPolicyArn=shares)
    with refused("can only have 1 service environment"):
        queue(batch, typed, plain, schedulingPolicyArn=shares)
    queue(batch, typed, schedulingPolicyArn=shares)
    with refused("connected to queue already"):
        queue(batch, typed, name="other", schedulingPolicyArn=shares)
    with refused("service environment must be DISABLED"):
        batch.delete_service_environment(serviceEnvironment="typed")
    batch.update_service_environment(serviceEnvironment="typed", state="DISABLED")
    with refused("found existing JobQueue relationship: queue"):
        batch.delete_service_environment(serviceEnvironment="typed")


def test_limits_are_by_type_or_of_all_together(batch: Any) -> None:
    for limits, words in (
        ([(TRN2, 1), (TRN2, 2)], "one limit for each unit"),
        ([("NUM_INSTANCES", 1), (TRN2, 1)], "either number of instances OR instance type"),
        ([], "Capacitylimits are required."),
        ([(f"ml.trn{number}", 1) for number in range(6)], "Number of capacity limits exceeds 5."),
        ([(TRN2, 0)], "Max capacity must be more than 0."),
        ([("VCPU", 1)], "VCPU is unknown capacity unit"),
    ):
        with refused(words):
            environment(batch, *limits)


def test_a_queue_with_quota_shares_is_not_deleted(batch: Any) -> None:
    queue(batch, environment(batch, (TRN2, 4)), schedulingPolicyArn=policy(batch))
    arn = share(batch)
    batch.update_job_queue(jobQueue="queue", state="DISABLED")
    with refused("found existing quota share: research"):
        batch.delete_job_queue(jobQueue="queue")
    assert [one["quotaShareArn"] for one in batch.list_quota_shares(jobQueue="queue")["quotaShares"]] == [arn]
    with refused("quota share must be DISABLED"):
        batch.delete_quota_share(quotaShareArn=arn)
    batch.update_quota_share(quotaShareArn=arn, state="DISABLED")
    batch.delete_quota_share(quotaShareArn=arn)
    assert batch.list_quota_shares(jobQueue="queue")["quotaShares"] == []
    batch.delete_job_queue(jobQueue="queue")


def test_a_queue_without_quota_shares_has_none(batch: Any) -> None:
    queue(batch, environment(batch, ("NUM_INSTANCES", 4)), schedulingPolicyArn=policy(batch, shares=False))
    with refused("queue has no quota share policy"):
        share(batch)
