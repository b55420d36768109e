"""A cluster, its queues and its jobs are found in AWS, and a shell on a node is one of Session Manager."""

import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.unit.cli.jobs.fake_batch import QUEUE, Fake

from ultracluster_cli.jobs.session import open_shell
from ultracluster_cli.main import main
from ultracluster_local.seeding import seed_client
from ultracluster_runtime.functions.clients import ONCE
from ultracluster_spec.findings import FindingsError


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


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    executed: list[str] = []
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(os, "execvp", lambda _, command: executed.extend(command))
    return executed


def test_the_node_and_its_account_are_named(executed: list[str]) -> None:
    open_shell("i-1", region="us-east-2", profile="training")

    assert executed == [
        *("aws", "ssm", "start-session", "--target", "i-1"),
        *("--region", "us-east-2", "--profile", "training"),
    ]


def test_the_container_of_a_job_is_found_by_its_task(executed: list[str]) -> None:
    open_shell("i-1", region="us-east-2", profile=None, container_of="arn:task")

    (command,) = json.loads(executed[-1])["command"]
    assert "label=com.amazonaws.ecs.task-arn=arn:task" in command
    assert executed[-3] == "AWS-StartInteractiveCommand"


def test_missing_programs_are_a_finding_with_the_command_to_run(
    executed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name if name == "aws" else None)

    with pytest.raises(
        FindingsError, match=r"^error: session-manager-plugin not found.*aws ssm start-session"
    ):
        open_shell("i-1", region="us-east-2", profile=None)
    assert executed == []


@pytest.mark.usefixtures("executed")
def test_on_the_local_aws_a_shell_opens_beside_the_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[dict[str, str]] = []
    started: list[tuple[list[str], dict[str, str], Path]] = []

    def shell_directory(**order: str) -> tuple[str, dict[str, str]]:
        asked.append(order)
        return str(tmp_path), {"RANK": "1"}

    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.chdir(tmp_path.parent)
    monkeypatch.setattr(seed_client, "shell_directory", shell_directory)
    monkeypatch.setattr(
        os, "execvpe", lambda _, command, variables: started.append((command, variables, Path.cwd()))
    )

    open_shell("i-1", region="us-east-2", profile=None, container_of="arn:task")

    assert asked == [{"endpoint": "http://localhost:1", "key": "key", "name": "arn:task"}]
    assert started == [(["bash"], {"RANK": "1", "TERM": "xterm"}, tmp_path)]
