"""Describing pending jobs."""

import pytest
from tests.unit.runtime.jobs.stubbed_aws import ARN, NOW, QUEUE, StubbedAws, expect_surroundings, shown

from ultracluster_runtime.jobs.describe import describe_pending_job
from ultracluster_runtime.jobs.diagnose import diagnose


def test_reads_the_queue_order_missing_nodes_and_quota(aws: StubbedAws) -> None:
    expect_surroundings(aws)
    aws.answer("ecs", "list_container_instances", {"containerInstanceArns": []})
    front = [{"jobArn": f"{ARN}:job/head"}, {"jobArn": f"{ARN}:job/one"}, {"jobArn": f"{ARN}:job/later"}]
    aws.answer("batch", "get_job_queue_snapshot", {"frontOfQueue": {"jobs": front}}, {"jobQueue": QUEUE})
    head = shown("head", shareIdentifier="default")
    aws.answer("batch", "describe_jobs", {"jobs": [head]}, {"jobs": ["head"]})
    for status in ("STARTING", "RUNNING"):
        aws.answer("batch", "list_jobs", {"jobSummaryList": []}, {"jobQueue": QUEUE, "jobStatus": status})
    aws.answer(
        "service-quotas",
        "get_service_quota",
        {"Quota": {"Value": 383.0}},
        {"ServiceCode": "ec2", "QuotaCode": "L-2C3B7624"},
    )

    found = diagnose(describe_pending_job("one", now=NOW, client=aws.client))

    assert [one.reason for one in found] == ["no-instances", "behind-the-head", "share-behind", "quota"]
    assert "--desired-value 384 --region us-east-2" in found[-1].remedy


def test_refused_reads_are_listed_and_not_evaluated(aws: StubbedAws) -> None:
    expect_surroundings(aws)
    aws.refuse("ecs", "list_container_instances", "AccessDeniedException")
    aws.refuse("batch", "get_job_queue_snapshot", "AccessDeniedException")
    aws.refuse("batch", "list_jobs", "AccessDeniedException")
    aws.refuse("service-quotas", "get_service_quota", "AccessDeniedException")

    waiting = describe_pending_job("one", now=NOW, client=aws.client)

    assert diagnose(waiting) == []
    assert [text.partition(":")[0] for text in waiting.unseen] == [
        "the nodes of nodes",
        "the order of the queue",
        "running jobs",
        "the quota",
    ]


@pytest.mark.parametrize("kind", ["capacity-block", "default"])
def test_quota_is_not_read_for_instances_of_a_block(aws: StubbedAws, kind: str) -> None:
    expect_surroundings(aws, launchTemplate={"launchTemplateId": "lt-1", "version": "3"}, desiredvCpus=0)
    target = {"CapacityReservationTarget": {"CapacityReservationId": "cr-1"}}
    aws.answer(
        "ec2",
        "describe_launch_template_versions",
        {"LaunchTemplateVersions": [{"LaunchTemplateData": {"CapacityReservationSpecification": target}}]},
        {"LaunchTemplateId": "lt-1", "Versions": ["3"]},
    )
    reservation = {
        "InstanceType": "trn2.48xlarge",
        "State": "active",
        "ReservationType": kind,
        "TotalInstanceCount": 1,
    }
    aws.answer(
        "ec2",
        "describe_capacity_reservations",
        {"CapacityReservations": [reservation]},
        {"CapacityReservationIds": ["cr-1"]},
    )
    aws.answer("batch", "get_job_queue_snapshot", {"frontOfQueue": {"jobs": []}})
    for _ in ("STARTING", "RUNNING"):
        aws.answer("batch", "list_jobs", {"jobSummaryList": []})
    if kind == "default":
        aws.answer("service-quotas", "get_service_quota", {"Quota": {"Value": 384.0}})

    waiting = describe_pending_job("one", now=NOW, client=aws.client)

    assert waiting.unseen == ()
    assert (waiting.quota is None) == (kind == "capacity-block")
    assert [one.reason for one in diagnose(waiting)] == ["reservation-too-small"]
