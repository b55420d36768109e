"""A cluster, its queues and its jobs are found in AWS."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.unit.cli.jobs.fake_batch import QUEUE, Fake

from ultracluster_cli.main import main
from ultracluster_runtime.functions.clients import ONCE


def test_a_missing_region_is_a_finding(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)

    assert main(["jobs", "list", "quickstart"]) == 2
    assert capsys.readouterr().err.startswith("error: no Region given")


def test_a_submission_is_sent_once_because_batch_would_run_it_twice(aws: Fake) -> None:
    assert main(["jobs", "submit", "quickstart", "evaluate"]) == 0
    assert aws.configs.count(ONCE) == 1
    assert {*aws.configs} == {ONCE, None}  # all reads are repeated


@pytest.mark.parametrize("cluster", ["quickstart", "own", QUEUE])
def test_a_cluster_is_found_by_its_name_its_stack_or_its_queue(
    aws: Fake, cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    del aws
    assert main(["jobs", "list", cluster, "--json"]) == 0
    (job,) = json.loads(capsys.readouterr().out)["jobs"]
    assert (job["job"], job["state"], job["since"]) == ("one", "RUNNING", "1970-01-01T00:01:00+00:00")


@pytest.mark.parametrize(
    ("status", "second"), [("RUNNABLE", 1), ("RUNNING", 60), ("SUCCEEDED", 90), ("FAILED", 90)]
)
def test_a_job_is_listed_with_the_time_since_which_it_waits_runs_or_has_ended(
    aws: Fake, status: str, second: int, capsys: pytest.CaptureFixture[str]
) -> None:
    times = {"createdAt": 1_000, "startedAt": 60_000, "stoppedAt": 90_000}
    aws.jobs = [aws.jobs[0] | times | {"status": status}]

    assert main(["jobs", "list", "quickstart", "--all", "--json"]) == 0
    (job,) = json.loads(capsys.readouterr().out)["jobs"]
    assert job["since"] == datetime.fromtimestamp(second, UTC).isoformat()


def test_the_jobs_of_all_queues_are_listed_with_their_queue(
    aws: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["jobs", "list", "team", "--json"]) == 0
    assert [row["queue"] for row in json.loads(capsys.readouterr().out)["jobs"]] == [None, "urgent"]
    assert aws.submitted == {}


def test_a_chain_can_be_read_from_its_last_job_backwards(
    aws: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    tags = {"ultracluster:resume": "2", "ultracluster:resume-of": "one"}
    first = aws.jobs[0] | {"status": "FAILED", "statusReason": "Host EC2 terminated"}
    aws.jobs = [
        first,
        aws.jobs[0] | {"jobId": "two", "createdAt": 1, "jobName": "pretrain-resume-one", "tags": tags},
    ]
    assert main(["jobs", "list", "quickstart", "--all", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["jobs"]
    assert [(row["job"], row["resumes"], row["left"]) for row in rows] == [
        ("one", None, None),
        ("two", "one", "2"),
    ]
