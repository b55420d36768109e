"""`ultracluster jobs` against a deployed quick start on the local AWS, where jobs do not run."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.fake_clients import FakeClients
from tests.integration.quickstart_block import REGION, deploy, seed_block, synthesize

from ultracluster_local import LocalAws
from ultracluster_local.services.batch.jobs import set_job_status
from ultracluster_runtime.lifecycle.plan import DRAIN_REASON
from ultracluster_runtime.resume.sweep import ResumedQueues, sweep

pytestmark = pytest.mark.slow

HOUR = timedelta(hours=1)


def seed(start: timedelta, end: timedelta) -> None:
    now = datetime.now(UTC)
    seed_block(now + start, now + end)


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shares = {"        jobs:\n": "        queue: {share_decay_hours: 24}\n        jobs:\n"}
    return synthesize(tmp_path_factory.mktemp("quickstart"), shares)


@pytest.fixture
def run(jobs: Callable[..., Any], cluster: LocalAws) -> Callable[..., Any]:
    del cluster
    return jobs


@pytest.fixture
def cluster(account: LocalAws, assembly: Path) -> LocalAws:
    seed(start=-HOUR, end=25 * HOUR)
    deploy(account, assembly)
    return account


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
