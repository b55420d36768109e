"""Jobs that wait for others, and arrays, on the local AWS Batch."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.services.batch.training_queue import SIZE

from ultracluster_local import LocalAws
from ultracluster_local.services.batch.jobs import set_job_status

pytestmark = pytest.mark.slow

REGION = "us-east-2"


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    client = local_aws.client("batch", REGION)
    client.create_compute_environment(computeEnvironmentName="nodes", type="UNMANAGED")
    client.create_job_queue(
        jobQueueName="training",
        priority=1,
        computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "nodes"}],
    )
    client.register_job_definition(jobDefinitionName="one", type="container", containerProperties=SIZE)
    client.register_job_definition(
        jobDefinitionName="many",
        type="multinode",
        nodeProperties={
            "numNodes": 2,
            "mainNode": 0,
            "nodeRangeProperties": [{"targetNodes": "0:", "container": SIZE}],
        },
    )
    return client


def submit(batch: Any, *after: str, **more: Any) -> str:
    given = {"jobName": "job", "jobQueue": "training", "jobDefinition": "one"}
    waits = {"dependsOn": [{"jobId": one} for one in after]}
    return str(batch.submit_job(**given | waits | more)["jobId"])


def state(batch: Any, job: str) -> str:
    (found,) = batch.describe_jobs(jobs=[job])["jobs"]
    return str(found["status"])


def test_a_job_waits_until_all_before_it_have_succeeded(batch: Any) -> None:
    first, second = submit(batch), submit(batch)
    third = submit(batch, first, second)
    fourth = submit(batch, third)
    set_job_status(region=REGION, job_id=first, status="SUCCEEDED")
    assert [state(batch, job) for job in (third, fourth)] == ["PENDING", "PENDING"]
    set_job_status(region=REGION, job_id=second, status="SUCCEEDED")
    assert [state(batch, job) for job in (third, fourth)] == ["RUNNABLE", "PENDING"]


def test_a_failed_job_fails_the_jobs_that_depend_on_it(batch: Any) -> None:
    first = submit(batch)
    second = submit(batch, first)
    third = submit(batch, second)
    batch.terminate_job(jobId=first, reason="not needed")
    assert [state(batch, job) for job in (second, third)] == ["FAILED", "FAILED"]
    (failed,) = batch.describe_jobs(jobs=[third])["jobs"]
    assert failed["statusReason"] == "Dependent Job failed"


def test_an_array_is_done_when_its_jobs_are(batch: Any) -> None:
    before = submit(batch)
    array = submit(batch, before, arrayProperties={"size": 3})
    after = submit(batch, array)
    assert state(batch, f"{array}:0") == "PENDING"
    set_job_status(region=REGION, job_id=before, status="SUCCEEDED")
    assert [state(batch, f"{array}:{index}") for index in range(3)] == ["RUNNABLE"] * 3
    assert state(batch, array) == "PENDING"
    children = batch.list_jobs(arrayJobId=array, jobStatus="RUNNABLE")["jobSummaryList"]
    assert [one["jobId"] for one in children] == [f"{array}:{index}" for index in range(3)]
    assert batch.list_jobs(jobQueue="training", jobStatus="RUNNABLE")["jobSummaryList"] == []
    for index in range(3):
        set_job_status(region=REGION, job_id=f"{array}:{index}", status="SUCCEEDED")
    assert [state(batch, job) for job in (array, after)] == ["SUCCEEDED", "RUNNABLE"]


def test_one_failed_job_fails_its_array_at_the_end(batch: Any) -> None:
    array = submit(batch, arrayProperties={"size": 2})
    set_job_status(region=REGION, job_id=f"{array}:0", status="FAILED")
    assert state(batch, array) == "PENDING"
    set_job_status(region=REGION, job_id=f"{array}:1", status="SUCCEEDED")
    (found,) = batch.describe_jobs(jobs=[array])["jobs"]
    assert (found["status"], found["arrayProperties"]["statusSummary"]) == (
        "FAILED",
        {"FAILED": 1, "SUCCEEDED": 1},
    )


def test_children_of_a_sequential_array_wait_for_the_one_before(batch: Any) -> None:
    array = submit(batch, arrayProperties={"size": 3}, dependsOn=[{"type": "SEQUENTIAL"}])
    children = [f"{array}:{index}" for index in range(3)]
    assert [state(batch, job) for job in children] == ["RUNNABLE", "PENDING", "PENDING"]
    set_job_status(region=REGION, job_id=children[0], status="SUCCEEDED")
    assert [state(batch, job) for job in children[1:]] == ["RUNNABLE", "PENDING"]
    set_job_status(region=REGION, job_id=children[1], status="FAILED")
    (last,) = batch.describe_jobs(jobs=[children[2]])["jobs"]
    assert (last["status"], last["statusReason"]) == ("FAILED", "Dependent Job failed")


def test_a_child_waits_for_the_child_of_its_index_in_another_array(batch: Any) -> None:
    first = submit(batch, arrayProperties={"size": 2})
    second = submit(batch, arrayProperties={"size": 2}, dependsOn=[{"jobId": first, "type": "N_TO_N"}])
    set_job_status(region=REGION, job_id=f"{first}:1", status="SUCCEEDED")
    assert [state(batch, f"{second}:{index}") for index in range(2)] == ["PENDING", "RUNNABLE"]


def test_an_array_that_is_ended_ends_its_jobs(batch: Any) -> None:
    array = submit(batch, arrayProperties={"size": 2})
    batch.terminate_job(jobId=array, reason="enough")
    assert [state(batch, f"{array}:{index}") for index in range(2)] == ["FAILED", "FAILED"]


@pytest.mark.parametrize(
    ("request_part", "said"),
    [
        ({"dependsOn": [{"jobId": "unknown"}]}, "does not exist"),
        ({"dependsOn": [{"jobId": "unknown"}] * 21}, "more than 20 dependencies"),
        ({"dependsOn": [{"type": "SEQUENTIAL"}]}, "SEQUENTIAL"),
        ({"arrayProperties": {"size": 1}}, "between 2 and 10000"),
        ({"arrayProperties": {"size": 10_001}}, "between 2 and 10000"),
        ({"arrayProperties": {"size": 2}, "jobDefinition": "many"}, "multi-node"),
    ],
)
def test_refuses_what_aws_batch_refuses(batch: Any, request_part: dict[str, Any], said: str) -> None:
    given = {"jobName": "job", "jobQueue": "training", "jobDefinition": "one"} | request_part
    with pytest.raises(ClientError, match=said):
        batch.submit_job(**given)
