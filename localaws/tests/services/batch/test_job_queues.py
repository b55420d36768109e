"""Job queues: their environments, policies and time limits, and when they can be deleted."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.refusals import refusal
from tests.services.batch.training_queue import training_queue

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

LIMIT = {"reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", "state": "RUNNABLE", "maxTimeSeconds": 600, "action": "CANCEL"}  # fmt: skip


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    return training_queue(local_aws)


def order(*names: str) -> list[dict[str, Any]]:
    return [{"order": number, "computeEnvironment": name} for number, name in enumerate(names, 1)]


def environment(local_aws: LocalAws, name: str, **resources: Any) -> None:
    ec2 = local_aws.client("ec2")
    subnet = ec2.describe_subnets()["Subnets"][0]
    groups = ec2.describe_security_groups(Filters=[{"Name": "vpc-id", "Values": [subnet["VpcId"]]}])
    place = {"subnets": [subnet["SubnetId"]], "securityGroupIds": [groups["SecurityGroups"][0]["GroupId"]]}
    local_aws.client("batch").create_compute_environment(
        computeEnvironmentName=name, type="MANAGED", computeResources={"maxvCpus": 256, **place, **resources}
    )


def managed(local_aws: LocalAws, name: str, instance_type: str) -> None:
    settings = {"type": "EC2", "minvCpus": 0, "instanceRole": "role", "instanceTypes": [instance_type]}
    environment(local_aws, name, **settings)


def test_a_queue_takes_three_environments_and_no_fourth(batch: Any) -> None:
    names = ["nodes", "more", "most", "too-many"]
    for name in names[1:]:
        batch.create_compute_environment(computeEnvironmentName=name, type="UNMANAGED")
    batch.create_job_queue(jobQueueName="three", priority=1, computeEnvironmentOrder=order(*names[:3]))
    with pytest.raises(ClientError, match="Only 3 environments are allowed in job queue request") as caught:
        batch.create_job_queue(jobQueueName="four", priority=1, computeEnvironmentOrder=order(*names))
    assert caught.value.response["Error"]["Code"] == "ClientException"


def test_environments_of_a_queue_are_shown_by_their_arns(batch: Any) -> None:
    (queue,) = batch.describe_job_queues(jobQueues=["training"])["jobQueues"]

    (entry,) = queue["computeEnvironmentOrder"]
    assert entry["computeEnvironment"].endswith(":compute-environment/nodes")
    assert (queue["status"], queue["state"]) == ("VALID", "ENABLED")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"jobQueueName": "training"}, "Object already exists"),
        ({"computeEnvironmentOrder": []}, "must contain at least one compute environment"),
        ({"computeEnvironmentOrder": order("absent")}, "must be created and valid before attaching them to a job queue"),
        ({"computeEnvironmentOrder": order("nodes", "nodes")}, "Duplicate ComputeEnvironments within order list."),
        ({"jobQueueType": "SAGEMAKER_TRAINING"}, "Job queues of type SAGEMAKER_TRAINING must have serviceEnvironmentOrder."),
        ({"jobStateTimeLimitActions": [LIMIT, LIMIT]}, "Duplicate job state limit actions are not allowed."),
        ({"priority": -1}, "priority must not be negative"),
        ({"schedulingPolicyArn": "arn:absent"}, "Only scheduling policy Arn can be allowed."),
        ({"jobStateTimeLimitActions": [LIMIT | {"maxTimeSeconds": 599}]}, "maxTimeSeconds must be between 600 and 86400"),
        ({"jobStateTimeLimitActions": [LIMIT | {"action": "TERMINATE"}]}, "Invalid job action. Valid job actions: [CANCEL]"),
    ],
)  # fmt: skip
def test_a_queue_that_could_not_run_jobs_is_refused(batch: Any, more: dict[str, Any], words: str) -> None:
    given = {"jobQueueName": "new", "priority": 1, "computeEnvironmentOrder": order("nodes")} | more

    code, message = refusal(batch.create_job_queue, **given)

    assert code == "ClientException"
    assert words in message


def test_environments_of_two_architectures_do_not_share_a_queue(batch: Any, local_aws: LocalAws) -> None:
    managed(local_aws, "x86", "c5.large")
    managed(local_aws, "arm", "c6g.large")

    given = {"jobQueueName": "mixed", "priority": 1, "computeEnvironmentOrder": order("x86", "arm")}

    assert "share the same architecture" in refusal(batch.create_job_queue, **given)[1]


def test_a_queue_neither_gets_nor_loses_fair_shares_later(batch: Any) -> None:
    arns = [batch.create_scheduling_policy(name=name, fairsharePolicy={})["arn"] for name in ("one", "two")]
    batch.create_job_queue(
        jobQueueName="shared", priority=1, computeEnvironmentOrder=order("nodes"), schedulingPolicyArn=arns[0]
    )

    added = refusal(batch.update_job_queue, jobQueue="training", schedulingPolicyArn=arns[0])[1]
    removed = refusal(batch.update_job_queue, jobQueue="shared", schedulingPolicyArn="")[1]

    assert "can't have a fair-share scheduling policy added" in added
    assert "can be replaced but not removed" in removed
    batch.update_job_queue(jobQueue="shared", schedulingPolicyArn=arns[1])


def test_a_deleted_queue_was_disabled_before_and_fails_its_waiting_jobs(batch: Any) -> None:
    job = batch.submit_job(jobName="one", jobQueue="training", jobDefinition="job")["jobId"]
    assert "must be DISABLED" in refusal(batch.delete_job_queue, jobQueue="training")[1]

    batch.update_job_queue(jobQueue="training", state="DISABLED")
    batch.delete_job_queue(jobQueue="training")

    (found,) = batch.describe_jobs(jobs=[job])["jobs"]
    assert (found["status"], found["statusReason"]) == ("FAILED", "Job queue deleted")
    described = [[one["status"] for one in batch.describe_job_queues()["jobQueues"]] for _ in range(2)]
    assert described == [["DELETING"], []]
    batch.delete_job_queue(jobQueue="training")  # as on AWS, no error
