"""A job of each launch road tries to become its node, and then acts on the cluster of somebody else.

Nodes are processes: which network a job would have decides whether the local AWS answers it as the metadata of its node.
"""

import json
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from tests.integration.quickstart_block import IMAGE, REGION, deploy_to_run_jobs, synthesize
from tests.processes import eventually

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

THIEF = """
import json, os, boto3
from botocore.exceptions import ClientError
from botocore.utils import ContainerMetadataFetcher, InstanceMetadataFetcher
node = InstanceMetadataFetcher(
    num_attempts=1, base_url=os.environ["AWS_EC2_METADATA_SERVICE_ENDPOINT"]
).retrieve_iam_role_credentials()
task = ContainerMetadataFetcher().retrieve_full_uri(os.environ["AWS_CONTAINER_CREDENTIALS_FULL_URI"])
found = {"task": (task["AccessKeyId"], task["SecretAccessKey"], task["Token"])}
if node:
    found["node"] = (node["access_key"], node["secret_key"], node["token"])
own = boto3.client("batch").describe_compute_environments(computeEnvironments=[os.environ["AWS_BATCH_CE_NAME"]])
own = own["computeEnvironments"][0]["ecsClusterArn"]
theirs = own.rpartition("/")[0] + "/AWSBatch-Theirs-0a1b"
def calls(cluster):
    at = {"cluster": cluster}
    states = {"containerInstances": ["0a1b"], "status": "DRAINING"}
    yield "ecs", "register_container_instance", at
    yield "ecs", "deregister_container_instance", at | {"containerInstance": "0a1b"}
    yield "ecs", "update_container_instances_state", at | states
    yield "ecs", "submit_task_state_change", at | {"task": "0a1b", "status": "STOPPED"}
    yield "ecs", "submit_container_state_change", at | {"task": "0a1b", "status": "STOPPED"}
    yield "ecs", "stop_task", at | {"task": "0a1b"}
    if cluster == theirs:
        yield "batch", "terminate_job", {"jobId": "theirs", "reason": "mine"}
        yield "batch", "submit_job", {"jobName": "mine", "jobQueue": "theirs", "jobDefinition": "theirs"}
        yield "batch", "update_job_queue", {"jobQueue": "theirs", "state": "DISABLED"}
for whose, keys in found.items():
    session = boto3.Session(*keys)
    for cluster in (own, theirs):
        for service, call, given in calls(cluster):
            try:
                getattr(session.client(service), call)(**given)
                said = ""
            except ClientError as error:
                said = error.response["Error"]["Message"]
            print(json.dumps({"whose": whose, "own": cluster == own, "call": call, "said": said}))
"""
# What the agent of a node reports about its own cluster.
REPORTS = {
    "register_container_instance",
    "submit_container_state_change",
    "submit_task_state_change",
    "update_container_instances_state",
}


@pytest.fixture(scope="module", params=["batch", "auto-scaling"])
def road(
    request: pytest.FixtureRequest, local_aws_server: LocalAws, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, LocalAws]]:
    """A quick start in its block, whose nodes are started by AWS Batch or by an Auto Scaling group."""
    folder, local = tmp_path_factory.mktemp("road"), local_aws_server
    kind = "market_type: capacity-block"
    assembly = synthesize(folder, {kind: f"{kind}\n          launched_by: {request.param}"})
    (folder / "bin").mkdir()
    (folder / "bin/python3").symlink_to(sys.executable)
    local.reset()
    local.event_settings.most_firings = 1
    local.clock.set(datetime.fromisoformat("2029-12-31T11:30:00+00:00"))
    deploy_to_run_jobs(local, assembly, folder / "bin")
    for minute in (31, 32, 33):
        local.clock.set(datetime.fromisoformat(f"2030-01-01T11:{minute}:00+00:00"))
    yield request.param, local
    local.run_jobs(None)


def steal(local: LocalAws, *, nodes: int) -> list[dict[str, Any]]:
    """Return what a job did: one that is alone in its container, or one over nodes of AWS Batch."""
    batch = local.client("batch", REGION)
    (queue,) = (one["jobQueueArn"] for one in batch.describe_job_queues()["jobQueues"])
    roles = local.client("iam", REGION).list_roles()["Roles"]
    (role,) = (one["Arn"] for one in roles if one["Description"].startswith("What the training program may"))
    container = {
        "image": f"{IMAGE}:1",
        "command": [sys.executable, "-c", THIEF],
        "jobRoleArn": role,
        "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "512"}],
    }
    ranges = [{"targetNodes": "0:", "container": container}]
    how: dict[str, Any] = {"type": "container", "containerProperties": container}
    if nodes:
        properties = {"numNodes": nodes, "mainNode": 0, "nodeRangeProperties": ranges}
        how = {"type": "multinode", "nodeProperties": properties}
    definition = batch.register_job_definition(jobDefinitionName="thief", **how)["jobDefinitionArn"]
    job = batch.submit_job(
        jobName="thief", jobQueue=queue, jobDefinition=definition, tags={"ultracluster:resume": "0"}
    )["jobId"]
    eventually(lambda: batch.describe_jobs(jobs=[job])["jobs"][0]["status"] in {"SUCCEEDED", "FAILED"})
    (ended,) = batch.describe_jobs(jobs=[f"{job}#0" if nodes else job])["jobs"]
    events = local.client("logs", REGION).get_log_events(
        logGroupName="/aws/batch/job", logStreamName=ended["container"]["logStreamName"], startFromHead=True
    )["events"]
    assert ended["status"] == "SUCCEEDED", (ended.get("statusReason"), events[-3:])
    return [json.loads(event["message"]) for event in events]


@pytest.mark.parametrize("nodes", [0, 2], ids=["in the network of its node", "with an interface of its own"])
def test_a_job_that_reaches_the_role_of_its_node_changes_nothing_of_another_cluster(
    road: tuple[str, LocalAws], nodes: int
) -> None:
    launched_by, local = road
    if launched_by == "auto-scaling" and nodes:
        pytest.skip("jobs over several nodes are arrays there, each of which is in the network of its node")

    tried = steal(local, nodes=nodes)

    assert {one["whose"] for one in tried} == ({"task"} if nodes else {"task", "node"})
    allowed = {
        (one["whose"], one["own"], one["call"])
        for one in tried
        if "is not authorized to perform" not in one["said"]
    }
    assert allowed == (set() if nodes else {("node", True, call) for call in REPORTS})
    assert len(tried) == (15 if nodes else 30)
