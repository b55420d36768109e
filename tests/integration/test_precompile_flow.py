"""The rollout with all kinds of jobs on the local AWS: what one submission starts, in which order, and what the cache does.

Jobs do not run there. What a compiler does with its cache is done here by hand, with the job's own environment.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.integration.quickstart_block import REGION, deploy
from tests.unit.stacks.conftest import ROOT, synthesize_rollout

from ultracluster_local import LocalAws
from ultracluster_local.seeding.seed import seed_capacity_block
from ultracluster_local.services.batch.jobs import set_job_status

pytestmark = pytest.mark.slow

GRAPH = "neuronxcc-2.20.9961.0+0acef03a/MODULE_1+2/model.neff"


@pytest.fixture(scope="module")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Any:
    directory = tmp_path_factory.mktemp("jobs") / "cdk.out"
    done = synthesize_rollout(ROOT / "stacks/rollouts/jobs.yaml", directory)
    assert done.returncode == 0, done.stderr
    return directory


@pytest.fixture
def cluster(account: LocalAws, synthesized: Any) -> LocalAws:
    now = datetime.now(UTC)
    seed_capacity_block(
        reservation_id="cr-0123456789abcdef4",
        instance_type="trn1.32xlarge",
        count=2,
        zone_id="use2-az3",
        start=now + timedelta(hours=1),
        end=now + timedelta(hours=25),
        region=REGION,
    )
    deploy(account, synthesized)
    return account


def look_up(s3: Any, variables: dict[str, str]) -> str:
    """Do what a compiler does with a graph: look for it under the job's address, compile and store it if need be."""
    bucket, _, prefix = variables["NEURON_COMPILE_CACHE_URL"].removeprefix("s3://").partition("/")
    entry = {"Bucket": bucket, "Key": f"{prefix}/{GRAPH}"}
    if "Contents" not in s3.list_objects_v2(Bucket=bucket, Prefix=entry["Key"]):
        with pytest.raises(ClientError, match="404"):
            s3.head_object(**entry)
        s3.put_object(**entry, Body=b"NEFF")
        return "compiled"
    return str(s3.get_object(**entry)["Body"].read().decode())


def requests_of(cluster: LocalAws, bucket: str) -> dict[str, float]:
    """Hits, misses and stored entries, as `CompileCache.metric_hits` and its siblings ask CloudWatch for them."""
    now = datetime.now(UTC)
    window = {"StartTime": now - timedelta(hours=1), "EndTime": now + timedelta(hours=1), "Period": 7_200}
    dimensions = [{"Name": "BucketName", "Value": bucket}, {"Name": "FilterId", "Value": "compile-cache"}]
    cloudwatch = cluster.client("cloudwatch", REGION)
    points = {
        name: cloudwatch.get_metric_statistics(
            Namespace="AWS/S3", MetricName=name, Dimensions=dimensions, Statistics=["Sum"], **window
        )["Datapoints"]
        for name in ("GetRequests", "4xxErrors", "PutRequests")
    }
    return {name: sum(point["Sum"] for point in found) for name, found in points.items()}


def variables_of(batch: Any, job: str) -> dict[str, str]:
    (shown,) = batch.describe_jobs(jobs=[job])["jobs"]
    container = shown.get("container") or shown["nodeProperties"]["nodeRangeProperties"][0]["container"]
    return {one["name"]: one["value"] for one in container["environment"]}


def test_the_graphs_are_compiled_on_a_small_node_before_the_block_trains(
    jobs: Any, cluster: LocalAws
) -> None:
    batch, s3 = cluster.client("batch", REGION), cluster.client("s3", REGION)
    submitted = jobs("submit", "jobs", "rate", "--json")
    assert [one["name"] for one in submitted["depends_on"]] == ["precompile", "tune"]
    precompile, tune, rate = (*(one["job"] for one in submitted["depends_on"]), submitted["job"])
    shown = {one["jobId"]: one for one in batch.describe_jobs(jobs=[precompile, tune, rate])["jobs"]}

    def states() -> list[str]:
        found = {
            one["jobId"]: one for one in batch.describe_jobs(jobs=[precompile, tune, f"{rate}:7"])["jobs"]
        }
        return [found[job]["status"] for job in (precompile, tune, f"{rate}:7")]

    assert states() == ["RUNNABLE", "PENDING", "PENDING"]
    assert shown[tune]["dependsOn"] == [{"jobId": precompile}]
    assert shown[rate]["arrayProperties"]["size"] == 8
    # The small node has a queue and a compute environment of its own, on demand and with nothing running.
    assert shown[precompile]["jobQueue"] != shown[tune]["jobQueue"] == shown[rate]["jobQueue"]
    (queue,) = batch.describe_job_queues(jobQueues=[shown[precompile]["jobQueue"]])["jobQueues"]
    order = [one["computeEnvironment"] for one in queue["computeEnvironmentOrder"]]
    (environment,) = batch.describe_compute_environments(computeEnvironments=order)["computeEnvironments"]
    assert environment["computeResources"]["instanceTypes"] == ["trn1.2xlarge"]
    assert environment["computeResources"]["minvCpus"] == 0

    # Both look at the same place with the same flags, so the second finds what the first has compiled.
    before, training = variables_of(batch, precompile), variables_of(batch, tune)
    for name in ("NEURON_COMPILE_CACHE_URL", "NEURON_CC_FLAGS"):
        assert before[name] == training[name]
    assert look_up(s3, before) == "compiled"
    set_job_status(region=REGION, job_id=precompile, status="SUCCEEDED")
    assert states() == ["SUCCEEDED", "RUNNABLE", "PENDING"]
    assert look_up(s3, training) == "NEFF"
    bucket = training["NEURON_COMPILE_CACHE_URL"].split("/")[2]
    assert requests_of(cluster, bucket) == {"GetRequests": 1, "4xxErrors": 1, "PutRequests": 1}
    set_job_status(region=REGION, job_id=tune, status="SUCCEEDED")
    assert states() == ["SUCCEEDED", "SUCCEEDED", "RUNNABLE"]
    listed = {one["name"]: one["queue"] for one in jobs("list", "jobs", "--all", "--json")["jobs"]}
    assert listed == {"precompile": "precompile-trn1.2xlarge", "tune": None, "rate": None}
