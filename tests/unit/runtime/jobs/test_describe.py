"""Describing pending jobs."""

import pytest
from tests.unit.runtime.jobs.stubbed_aws import (
    ARN,
    ENVIRONMENT,
    NOW,
    QUEUE,
    TEMPLATE,
    expect_surroundings,
    expect_template,
    node_array,
    shown,
)
from tests.unit.runtime.stubbed_clients import StubbedAws

from ultracluster_runtime.jobs.describe import describe_job, describe_pending_job, list_jobs
from ultracluster_runtime.jobs.diagnose import PendingJob, diagnose


def expect_no_other_jobs(aws: StubbedAws) -> None:
    aws.answer("batch", "get_job_queue_snapshot", {"frontOfQueue": {"jobs": []}})
    for _ in ("STARTING", "RUNNING", "PENDING"):
        aws.answer("batch", "list_jobs", {"jobSummaryList": []})


def pending(aws: StubbedAws) -> PendingJob:
    return describe_pending_job(describe_job("one", client=aws.client), now=NOW, client=aws.client)


def test_reads_the_queue_order_missing_nodes_and_quota(aws: StubbedAws) -> None:
    expect_surroundings(aws)
    aws.answer("ecs", "list_container_instances", {"containerInstanceArns": []})
    front = [{"jobArn": f"{ARN}:job/head"}, {"jobArn": f"{ARN}:job/one"}, {"jobArn": f"{ARN}:job/later"}]
    aws.answer("batch", "get_job_queue_snapshot", {"frontOfQueue": {"jobs": front}}, {"jobQueue": QUEUE})
    head = shown("head", shareIdentifier="default")
    aws.answer("batch", "describe_jobs", {"jobs": [head]}, {"jobs": ["head"]})
    for status in ("STARTING", "RUNNING", "PENDING"):
        aws.answer("batch", "list_jobs", {"jobSummaryList": []}, {"jobQueue": QUEUE, "jobStatus": status})
    aws.answer(
        "service-quotas",
        "get_service_quota",
        {"Quota": {"Value": 383.0}},
        {"ServiceCode": "ec2", "QuotaCode": "L-2C3B7624"},
    )

    found = diagnose(pending(aws))

    assert [one.reason for one in found] == ["no-instances", "behind-the-head", "share-behind", "quota"]
    assert "--desired-value 384 --region us-east-2" in found[-1].remedy


def test_refused_reads_are_listed_and_not_evaluated(aws: StubbedAws) -> None:
    expect_surroundings(aws)
    aws.refuse("ecs", "list_container_instances", "AccessDeniedException")
    aws.refuse("batch", "get_job_queue_snapshot", "AccessDeniedException")
    aws.refuse("batch", "list_jobs", "AccessDeniedException")
    aws.refuse("service-quotas", "get_service_quota", "AccessDeniedException")

    waiting = pending(aws)

    assert diagnose(waiting) == []
    assert [text.partition(":")[0] for text in waiting.unseen] == [
        "the nodes of nodes",
        "the order of the queue",
        "running jobs",
        "the quota",
    ]


@pytest.mark.parametrize("kind", ["capacity-block", "default"])
def test_quota_is_not_read_for_instances_of_a_block(aws: StubbedAws, kind: str) -> None:
    expect_surroundings(aws, launchTemplate=TEMPLATE, desiredvCpus=0)
    expect_template(aws)
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
    expect_no_other_jobs(aws)
    if kind == "default":
        aws.answer("service-quotas", "get_service_quota", {"Quota": {"Value": 384.0}})

    waiting = pending(aws)

    assert waiting.unseen == ()
    assert (waiting.quota is None) == (kind == "capacity-block")
    assert [one.reason for one in diagnose(waiting)] == ["reservation-too-small"]


def test_quota_is_not_read_for_a_block_that_ec2_has_forgotten(aws: StubbedAws) -> None:
    expect_surroundings(aws, launchTemplate=TEMPLATE, desiredvCpus=0)
    expect_template(aws, InstanceMarketOptions={"MarketType": "capacity-block"})
    aws.refuse("ec2", "describe_capacity_reservations", "InvalidCapacityReservationId.NotFound")
    expect_no_other_jobs(aws)

    waiting = pending(aws)

    assert waiting.unseen == ()
    assert waiting.quota is None
    assert [one.reason for one in diagnose(waiting)] == ["reservation-unknown"]


def test_running_jobs_have_the_hosts_of_their_nodes_and_children(aws: StubbedAws) -> None:
    expect_surroundings(aws, desiredvCpus=0)
    aws.answer("batch", "get_job_queue_snapshot", {"frontOfQueue": {"jobs": []}})
    one = {"jobId": "small", "jobQueue": QUEUE, "container": {"containerInstanceArn": "host-0"}}
    wide = shown("wide", "RUNNING", nodes=2)
    array = node_array({"RUNNING": 2}, size=None) | {"jobId": "array"}
    aws.answer("batch", "list_jobs", {"jobSummaryList": []})
    summaries = [{"jobId": job, "jobName": job} for job in ("small", "wide")]
    aws.answer("batch", "list_jobs", {"jobSummaryList": summaries})
    aws.answer("batch", "list_jobs", {"jobSummaryList": [{"jobId": "array", "jobName": "array"}]})
    described = [{**shown("small", "RUNNING"), **one}, wide, array]
    del described[0]["nodeProperties"]
    aws.answer("batch", "describe_jobs", {"jobs": described})
    aws.answer("batch", "list_jobs", {"jobSummaryList": []})
    children = [{"jobId": f"array:{index}", "jobName": "array"} for index in range(2)]
    aws.answer(
        "batch", "list_jobs", {"jobSummaryList": children}, {"arrayJobId": "array", "jobStatus": "RUNNING"}
    )
    parts = [
        shown(name, "RUNNING", container={"containerInstanceArn": host})
        for name, host in [
            ("wide#0", "host-1"),
            ("wide#1", "host-2"),
            ("array:0", "host-0"),
            ("array:1", "host-0"),
        ]
    ]
    aws.answer("batch", "describe_jobs", {"jobs": parts})
    aws.answer("service-quotas", "get_service_quota", {"Quota": {"Value": 384.0}})

    waiting = pending(aws)

    assert waiting.running is not None
    assert {job.id: job.hosts for job in waiting.running} == {
        "small": {"host-0"},
        "wide": {"host-1", "host-2"},
        "array": {"host-0"},
    }


@pytest.mark.parametrize(
    ("children", "of_an_array", "of_others"),
    [
        ({"RUNNING": 2}, "RUNNING", "RUNNING"),
        ({"RUNNING": 1, "RUNNABLE": 1}, "RUNNABLE", "RUNNING"),
        ({"PENDING": 2}, "PENDING", "PENDING"),
        ({"RUNNABLE": 0, "SUCCEEDED": 1, "STARTING": 1}, "STARTING", "STARTING"),
    ],
)
def test_array_has_the_state_of_its_children(
    aws: StubbedAws, children: dict[str, int], of_an_array: str, of_others: str
) -> None:
    for size in (2, None):
        aws.answer("batch", "describe_jobs", {"jobs": [node_array(children, size=size)]})

    assert describe_job("one", client=aws.client)["status"] == of_an_array
    assert describe_job("one", client=aws.client)["status"] == of_others


def test_running_arrays_are_listed_with_running_jobs(aws: StubbedAws) -> None:
    aws.answer("batch", "list_jobs", {"jobSummaryList": []}, {"jobQueue": QUEUE, "jobStatus": "RUNNING"})
    summaries = [{"jobId": name, "jobName": "pretrain"} for name in ("one", "waiting")]
    aws.answer(
        "batch", "list_jobs", {"jobSummaryList": summaries}, {"jobQueue": QUEUE, "jobStatus": "PENDING"}
    )
    waiting = node_array({"RUNNABLE": 2}) | {"jobId": "waiting"}
    aws.answer("batch", "describe_jobs", {"jobs": [node_array({"RUNNING": 2}), waiting]})

    assert [job["jobId"] for job in list_jobs(QUEUE, states=["RUNNING"], client=aws.client)] == ["one"]


def test_waiting_array_is_explained_by_the_auto_scaling_group_of_its_environment(aws: StubbedAws) -> None:
    aws.answer("batch", "describe_jobs", {"jobs": [node_array({"RUNNABLE": 2})]})
    order = [{"order": 1, "computeEnvironment": ENVIRONMENT}]
    queue = {"jobQueueName": "training", "jobQueueArn": QUEUE, "state": "ENABLED", "priority": 1}
    aws.answer("batch", "describe_job_queues", {"jobQueues": [queue | {"computeEnvironmentOrder": order}]})
    environment = {
        "computeEnvironmentName": "nodes",
        "computeEnvironmentArn": ENVIRONMENT,
        "ecsClusterArn": "nodes",
        "state": "ENABLED",
        "type": "UNMANAGED",
    }
    aws.answer("batch", "describe_compute_environments", {"computeEnvironments": [environment]})
    tag = {"Name": "tag:ultracluster:compute-environment", "Values": [ENVIRONMENT]}
    group = {
        "AutoScalingGroupName": "fleet",
        "MinSize": 0,
        "MaxSize": 4,
        "DesiredCapacity": 2,
        "DefaultCooldown": 0,
        "AvailabilityZones": [],
        "HealthCheckType": "EC2",
        "CreatedTime": NOW,
        "LaunchTemplate": {"LaunchTemplateId": "lt-1", "Version": "3"},
    }
    aws.answer(
        "autoscaling", "describe_auto_scaling_groups", {"AutoScalingGroups": [group]}, {"Filters": [tag]}
    )
    template = {"LaunchTemplateVersions": [{"LaunchTemplateData": {"InstanceType": "trn1.32xlarge"}}]}
    aws.answer("ec2", "describe_launch_template_versions", template)
    failed = {
        "ActivityId": "1",
        "AutoScalingGroupName": "fleet",
        "Cause": "c",
        "StartTime": NOW,
        "StatusCode": "Failed",
        "StatusMessage": "no capacity",
    }
    aws.answer("autoscaling", "describe_scaling_activities", {"Activities": [failed]})
    aws.answer("ecs", "list_container_instances", {"containerInstanceArns": ["a"]}, {"cluster": "nodes"})
    expect_no_other_jobs(aws)
    aws.answer("service-quotas", "get_service_quota", {"Quota": {"Value": 384.0}})

    (reason,) = diagnose(pending(aws))

    assert reason.evidence == (
        "of Auto Scaling group fleet, 1 node joined; the job needs 2; its last launch failed: no capacity"
    )
