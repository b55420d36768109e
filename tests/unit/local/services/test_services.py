"""Calls that moto lacks or gets wrong, through boto3: Batch, FSx, launch templates, placement groups."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws
from ultracluster_local.services.batch.jobs import set_job_status

pytestmark = pytest.mark.deploy

NODES = {
    "numNodes": 4,
    "mainNode": 0,
    "nodeRangeProperties": [
        {"targetNodes": "0:3", "container": {"image": "x", "instanceType": "trn2.48xlarge"}}
    ],
}


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    client = local_aws.client("batch")
    client.create_compute_environment(computeEnvironmentName="nodes", type="UNMANAGED")
    order = [{"order": 1, "computeEnvironment": "nodes"}]
    client.create_job_queue(jobQueueName="training", priority=1, computeEnvironmentOrder=order)
    client.register_job_definition(jobDefinitionName="job", type="multinode", nodeProperties=NODES)
    return client


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


def test_submitted_job_waits_and_nothing_runs(batch: Any) -> None:
    job = batch.submit_job(jobName="one", jobQueue="training", jobDefinition="job")["jobId"]
    (found,) = batch.describe_jobs(jobs=[job])["jobs"]
    assert found["status"] == "RUNNABLE"
    assert found["nodeProperties"] == NODES
    assert batch.list_jobs(jobQueue="training")["jobSummaryList"] == []
    runnable = batch.list_jobs(jobQueue="training", jobStatus="RUNNABLE")["jobSummaryList"]
    assert [one["jobId"] for one in runnable] == [job]


def test_job_can_be_moved_terminated_and_cancelled(batch: Any) -> None:
    running, waiting = (
        batch.submit_job(jobName=name, jobQueue="training", jobDefinition="job:1")["jobId"] for name in "ab"
    )
    set_job_status(region="us-east-1", job_id=running, status="RUNNING")
    assert [one["jobId"] for one in batch.list_jobs(jobQueue="training")["jobSummaryList"]] == [running]
    batch.cancel_job(jobId=running, reason="too late")  # as on Batch, a running job is not cancelled
    batch.terminate_job(jobId=running, reason="the block ends")
    batch.cancel_job(jobId=waiting, reason="not wanted")
    found = {
        one["jobId"]: (one["status"], one["statusReason"])
        for one in batch.describe_jobs(jobs=[running, waiting])["jobs"]
    }
    assert found == {running: ("FAILED", "the block ends"), waiting: ("FAILED", "not wanted")}


def test_closed_queue_takes_no_job(batch: Any) -> None:
    batch.update_job_queue(jobQueue="training", state="DISABLED")
    with pytest.raises(ClientError, match="not enabled"):
        batch.submit_job(jobName="one", jobQueue="training", jobDefinition="job")


def test_environment_that_a_queue_uses_cannot_go(batch: Any) -> None:
    with pytest.raises(ClientError, match="existing JobQueue relationship") as caught:
        batch.delete_compute_environment(computeEnvironment="nodes")
    assert code(caught) == "ClientException"
    batch.delete_job_queue(jobQueue="training")
    batch.delete_compute_environment(computeEnvironment="nodes")
    assert batch.describe_compute_environments()["computeEnvironments"] == []


def test_a_queue_takes_three_environments_and_no_fourth(batch: Any) -> None:
    order = [{"order": number, "computeEnvironment": "nodes"} for number in range(1, 5)]
    batch.create_job_queue(jobQueueName="three", priority=1, computeEnvironmentOrder=order[:3])
    with pytest.raises(ClientError, match="at most 3") as caught:
        batch.create_job_queue(jobQueueName="four", priority=1, computeEnvironmentOrder=order)
    assert code(caught) == "ClientException"


def test_each_registration_is_a_revision_and_the_newest_active_one_is_used(batch: Any) -> None:
    second = batch.register_job_definition(jobDefinitionName="job", type="multinode", nodeProperties=NODES)
    assert second["revision"] == 2
    batch.deregister_job_definition(jobDefinition=second["jobDefinitionArn"])
    job = batch.submit_job(jobName="one", jobQueue="training", jobDefinition="job")["jobId"]
    assert batch.describe_jobs(jobs=[job])["jobs"][0]["jobDefinition"].endswith("job-definition/job:1")
    states = {one["revision"]: one["status"] for one in batch.describe_job_definitions()["jobDefinitions"]}
    assert states == {1: "ACTIVE", 2: "INACTIVE"}


@pytest.mark.parametrize("main", [-1, 4])
def test_main_node_must_be_one_of_the_nodes(batch: Any, main: int) -> None:
    with pytest.raises(ClientError, match="mainNode"):
        batch.register_job_definition(
            jobDefinitionName="x", type="multinode", nodeProperties={**NODES, "mainNode": main}
        )


def test_versions_of_a_launch_template_build_on_each_other(local_aws: LocalAws) -> None:
    ec2 = local_aws.client("ec2")
    interfaces = [
        {
            "NetworkCardIndex": card,
            "DeviceIndex": min(card, 1),
            "InterfaceType": "efa-only",
            "Groups": ["sg-1"],
        }
        for card in range(16)
    ]
    data = {"ImageId": "ami-1", "UserData": "bWltZQ==", "NetworkInterfaces": interfaces}
    one = ec2.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData=data)["LaunchTemplate"]
    template = {"LaunchTemplateId": one["LaunchTemplateId"]}
    ec2.create_launch_template_version(**template, SourceVersion="1", LaunchTemplateData={"ImageId": "ami-2"})
    newest, oldest = ec2.describe_launch_template_versions(**template)["LaunchTemplateVersions"]
    assert newest["LaunchTemplateData"] == {**data, "ImageId": "ami-2"}
    assert oldest["LaunchTemplateData"] == data
    assert (oldest["DefaultVersion"], newest["DefaultVersion"]) == (True, False)
    ec2.modify_launch_template(**template, DefaultVersion="2")
    (default,) = ec2.describe_launch_template_versions(**template, Versions=["$Default"])[
        "LaunchTemplateVersions"
    ]
    assert default["VersionNumber"] == 2
    with pytest.raises(ClientError) as caught:
        ec2.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData=data)
    assert code(caught) == "InvalidLaunchTemplateName.AlreadyExistsException"


def test_placement_group_is_found_by_name_and_refused_twice(local_aws: LocalAws) -> None:
    ec2 = local_aws.client("ec2")
    ec2.create_placement_group(GroupName="nodes", Strategy="cluster")
    (found,) = ec2.describe_placement_groups(GroupNames=["nodes"])["PlacementGroups"]
    assert (found["Strategy"], found["State"]) == ("cluster", "available")
    with pytest.raises(ClientError) as caught:
        ec2.create_placement_group(GroupName="nodes")
    assert code(caught) == "InvalidPlacementGroup.Duplicate"
    ec2.delete_placement_group(GroupName="nodes")
    with pytest.raises(ClientError) as caught:
        ec2.describe_placement_groups(GroupNames=["nodes"])
    assert code(caught) == "InvalidPlacementGroup.Unknown"


def test_queue_keeps_its_policy_when_another_attribute_is_set(local_aws: LocalAws) -> None:
    sqs = local_aws.client("sqs")
    statement = {"Effect": "Allow", "Principal": "*", "Action": "sqs:SendMessage", "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    url = sqs.create_queue(QueueName="one")["QueueUrl"]
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": policy})
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "90"})
    shown = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert json.loads(shown["Policy"])["Statement"] == [statement]
    assert shown["VisibilityTimeout"] == "90"
