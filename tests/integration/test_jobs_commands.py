"""`ultracluster jobs` against a deployed quick start on the local AWS, where jobs do not run."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.fake_clients import FakeClients
from tests.unit.stacks.conftest import QUICKSTART, synthesize_rollout

from ultracluster_cli.main import main
from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly
from ultracluster_local.seeding.seed import seed_capacity_block
from ultracluster_local.services.batch.jobs import set_job_status
from ultracluster_runtime.lifecycle.plan import DRAIN_REASON
from ultracluster_runtime.resume.sweep import ResumedQueues, sweep

pytestmark = pytest.mark.slow

REGION = "us-east-2"
HOUR = timedelta(hours=1)


def seed(start: timedelta, end: timedelta) -> None:
    now = datetime.now(UTC)
    seed_capacity_block(
        reservation_id="cr-0123456789abcdef0",
        instance_type="trn2.48xlarge",
        count=4,
        zone_id="use2-az3",
        start=now + start,
        end=now + end,
        region=REGION,
    )


@pytest.fixture(scope="module")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("quickstart")
    rollout, directory = folder / "rollout.yaml", folder / "cdk.out"
    text = QUICKSTART.read_text()
    assert "        jobs:\n" in text
    rollout.write_text(
        text.replace("        jobs:\n", "        queue: {share_decay_hours: 24}\n        jobs:\n")
    )
    assert synthesize_rollout(rollout, directory).returncode == 0
    return directory


@pytest.fixture
def cluster(local_aws: LocalAws, synthesized: Path, monkeypatch: pytest.MonkeyPatch) -> LocalAws:
    seed(start=-HOUR, end=25 * HOUR)
    deploy_assembly(local_aws, synthesized)
    for name, value in local_aws.environment(REGION).items():
        monkeypatch.setenv(name, value)
    return local_aws


@pytest.fixture
def run(cluster: LocalAws, capsys: pytest.CaptureFixture[str]) -> Any:
    del cluster

    def run(*arguments: str, exits: int = 0) -> Any:
        code = main(["jobs", *arguments])
        out, err = capsys.readouterr()
        assert code == exits, (out, err)
        return json.loads(out) if out.startswith("{") else out + err

    return run


def reasons(run: Any, job: str) -> list[str]:
    """Return the reasons of a job, but for the one that all waiting jobs have here."""
    answer = run("why", job, "--json")
    found = [one["reason"] for one in answer["reasons"]]
    assert (found[0] == "local-aws-runs-no-jobs") == (answer["state"] == "RUNNABLE")
    return found[1:] if answer["state"] == "RUNNABLE" else found


def test_a_job_is_submitted_listed_explained_and_stopped(run: Any, cluster: LocalAws) -> None:
    batch = cluster.client("batch", REGION)
    options = ["--nodes", "2", "--env", "LR=1e-4", "--timeout", "2h", "--priority", "5"]
    job = run("submit", "quickstart", "pretrain", *options, "--json", "--", "other.py", "--x")["job"]

    (shown,) = batch.describe_jobs(jobs=[job])["jobs"]
    assert shown["shareIdentifier"] == "default"
    assert shown["timeout"] == {"attemptDurationSeconds": 7_200}
    (listed,) = run("list", "quickstart", "--json")["jobs"]
    assert (listed["job"], listed["state"], listed["name"]) == (job, "RUNNABLE", "pretrain")

    # Without --run-jobs no job leaves the queue: the command says so, and how it would.
    answer = run("why", job, "--json")
    (reason,) = answer["reasons"]
    assert reason["reason"] == "local-aws-runs-no-jobs"
    assert "local up --run-jobs" in reason["remedy"]
    assert answer["unseen"] == []

    assert run("stop", job, "--now", "--reason", "not needed", "--json")["terminated"]
    (shown,) = batch.describe_jobs(jobs=[job])["jobs"]
    assert (shown["status"], shown["statusReason"]) == ("FAILED", "not needed")
    assert run("list", "quickstart", "--json") == {"jobs": []}
    assert len(run("list", "quickstart", "--all", "--json")["jobs"]) == 1


def test_why_explains_jobs_of_a_deployed_cluster(run: Any, cluster: LocalAws) -> None:
    batch = cluster.client("batch", REGION)
    (environment,) = batch.describe_compute_environments()["computeEnvironments"]
    name = environment["computeEnvironmentName"]
    job = run("submit", "quickstart", "pretrain", "--json")["job"]
    assert reasons(run, job) == []

    seed(start=HOUR, end=25 * HOUR)
    batch.update_compute_environment(computeEnvironment=name, state="DISABLED")
    assert reasons(run, job) == ["environment-disabled", "block-not-started"]

    seed(start=-24 * HOUR, end=HOUR / 2)
    batch.update_job_queue(
        jobQueue=batch.describe_job_queues()["jobQueues"][0]["jobQueueArn"], state="DISABLED"
    )
    assert reasons(run, job) == ["queue-disabled", "environment-disabled", "block-drained"]

    seed(start=-HOUR, end=25 * HOUR)
    batch.update_job_queue(
        jobQueue=batch.describe_job_queues()["jobQueues"][0]["jobQueueArn"], state="ENABLED"
    )
    batch.update_compute_environment(
        computeEnvironment=name, state="ENABLED", computeResources={"maxvCpus": 3 * 192}
    )
    assert reasons(run, job) == ["more-nodes-than-the-environment"]

    batch.update_compute_environment(computeEnvironment=name, computeResources={"maxvCpus": 4 * 192})
    first = run("submit", "quickstart", "pretrain", "--nodes", "4", "--json")["job"]
    set_job_status(region=REGION, job_id=first, status="RUNNING")
    assert reasons(run, job) == ["nodes-busy"]
    assert reasons(run, first) == ["running"]


def test_a_drained_job_is_shown_as_waiting_for_its_resume_until_it_goes_on(
    run: Any, cluster: LocalAws
) -> None:
    batch = cluster.client("batch", REGION)
    (queue,) = batch.describe_job_queues()["jobQueues"]
    stacks = cluster.client("cloudformation", REGION).describe_stack_resources(
        PhysicalResourceId=queue["jobQueueArn"]
    )["StackResources"]
    (table,) = (
        one["PhysicalResourceId"]
        for one in stacks
        if one["ResourceType"] == "AWS::DynamoDB::Table" and "JobResume" in one["LogicalResourceId"]
    )

    def resume() -> None:
        clients = FakeClients(lambda service, _: cluster.client(service, REGION))
        queues = ResumedQueues(job_queues=(queue["jobQueueArn"],), table=table)
        sweep(queues, clients, datetime.now(UTC), owner=str(datetime.now(UTC)))

    job = run("submit", "quickstart", "pretrain", "--nodes", "3", "--resume", "2", "--json")["job"]
    reason = f"{DRAIN_REASON}cr-0123456789abcdef0 ends 2026-12-02 11:30 UTC; jobs on its nodes end at 10:50"
    set_job_status(region=REGION, job_id=job, status="FAILED", reason=reason)
    seed(start=-24 * HOUR, end=HOUR / 2)
    batch.update_job_queue(jobQueue=queue["jobQueueArn"], state="DISABLED")
    resume()

    for options in ([], ["--all"]):
        (row,) = run("list", "quickstart", *options, "--json")["jobs"]
        assert (row["job"], row["state"], row["nodes"], row["left"]) == (job, "RESUME_PENDING", 3, "2")
        assert row["reason"].endswith("to open with the next block or an extension; resumes left: 2")
    answer = run("why", job, "--json")
    assert answer["state"] == "RESUME_PENDING"
    pending = answer["reasons"][0]
    assert pending["reason"] == "resume-pending"
    assert "Capacity Block cr-0123456789abcdef0 ends" in pending["evidence"]
    # Half an hour before its end, the block can no longer be extended.
    assert pending["remedy"].startswith("No next block is known: buy one ")
    assert answer["unseen"] == []
    assert "cr-0123456789abcdef0 ends" in run("submit", "quickstart", "pretrain", exits=2)

    seed(start=-HOUR, end=25 * HOUR)
    batch.update_job_queue(jobQueue=queue["jobQueueArn"], state="ENABLED")
    resume()
    (row,) = run("list", "quickstart", "--json")["jobs"]
    assert (row["state"], row["resumes"], row["left"]) == ("RUNNABLE", job, "1")
    assert run("why", job, "--json")["reasons"][-1]["remedy"].endswith(f"ultracluster jobs why {row['job']}")


def test_mistakes_are_findings(run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert "error: CloudFormation has no stack" in run("list", "nowhere", exits=2)
    said = run("submit", "quickstart", "nothing", exits=2)
    assert "UC6203" in said
    assert "Allowed: pretrain" in said
    assert "UC6101" in run("submit", "quickstart", "pretrain", "--nodes", "5", exits=2)
    assert "UC6204" in run("submit", "quickstart", "pretrain", "--timeout", "soon", exits=2)
    said = run("submit", "quickstart", "pretrain", "--env", "TOKEN", exits=2)
    assert "UC6109" in said
    assert "UC6205" in run("why", "00000000-0000-0000-0000-000000000000", exits=2)
    job = run("submit", "quickstart", "pretrain", "--json")["job"]
    assert "UC6208" in run("logs", job, exits=2)
    assert "UC6208" in run("logs", job, "--node", "4", exits=2)
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)  # outside of the project, which names the Region
    assert "error: no Region given" in run("list", "quickstart", exits=2)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    assert "UC6206" in run("list", "quickstart", "--region", REGION, exits=2)


def test_a_queue_and_a_definition_can_be_specified_by_arn(run: Any, cluster: LocalAws) -> None:
    batch = cluster.client("batch", REGION)
    (queue,) = batch.describe_job_queues()["jobQueues"]
    (definition,) = batch.describe_job_definitions(status="ACTIVE")["jobDefinitions"]
    job = run("submit", queue["jobQueueArn"], definition["jobDefinitionArn"], "--share", "research", "--json")

    (listed,) = run("list", queue["jobQueueArn"], "--json")["jobs"]
    assert (listed["job"], listed["share"]) == (job["job"], "research")
