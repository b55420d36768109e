"""`ultracluster jobs` against a fake of AWS Batch with one job."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from tests.unit.cli.jobs.fake_batch import DEFINITION, JOB, QUEUE, Fake, refuse

from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.jobs import command as jobs_command
from ultracluster_cli.jobs import session as jobs_session
from ultracluster_cli.main import main
from ultracluster_runtime.jobs.logs import Line
from ultracluster_spec.findings import FindingsError


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["list", "nowhere"], "error: CloudFormation has no stack"),
        (["list", "two"], "error: the stack of 'two' in us-east-2 has 2 job queues"),
        (["submit", "team", "evaluate", "--queue", "urgnt"], "error: --queue: got 'urgnt'. Allowed: urgent"),
        (["submit", "own", "evaluate", "--queue", "urgent"], "the cluster has no further queues"),
        (["submit", "quickstart", "nothing"], "UC6203: got 'nothing'. Allowed: evaluate"),
        (["submit", "quickstart", "evaluate", "--timeout", "1"], "UC6204: --timeout: got '1'"),
        (
            ["submit", "quickstart", "evaluate", "--env", "TOKEN"],
            "UC6109: --env: got 'TOKEN' without a value",
        ),
        (
            ["submit", "quickstart", "evaluate", "--env", "DB_PASSWORD=hunter2"],
            "UC2253: --env: the value of 'DB_PASSWORD' is a credential",
        ),
        (
            ["submit", "quickstart", "evaluate", "--env", "A=1", "--env", "A=2"],
            "UC6109: --env: duplicate 'A'",
        ),
        (["why", "two"], "UC6205: AWS Batch has no job 'two'"),
        (["logs", "one", "--node", "1"], "UC6208: the job has one node"),
        (["stop", "one", "--wait", "0m"], "UC6204: --wait: got '0m'"),
    ],
)
def test_an_invalid_argument_is_a_finding(
    aws: Fake, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["jobs", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert (aws.submitted, aws.terminated) == ({}, [])


@pytest.mark.parametrize(
    "error",
    [refuse("AccessDenied"), lambda **_: (_ for _ in ()).throw(EndpointConnectionError(endpoint_url="x"))],
)
def test_an_error_of_aws_is_a_finding(
    aws: Fake, error: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(aws, "submit_job", error)

    assert main(["jobs", "submit", "quickstart", "evaluate"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert "check `ultracluster jobs list`" in said


def test_a_job_is_submitted_by_its_name_in_the_rollout(aws: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["jobs", "submit", "quickstart", "evaluate", "--env", "A=b=c", "--", "x.py", "--nodes"]) == 0
    assert capsys.readouterr().out == "one\n"
    assert aws.submitted == {
        "jobName": "evaluate",
        "jobQueue": QUEUE,
        "jobDefinition": DEFINITION["jobDefinitionArn"],
        "shareIdentifier": "default",
        "schedulingPriorityOverride": 0,
        "containerOverrides": {
            "environment": [{"name": "A", "value": "b=c"}],
            "command": ["x.py", "--nodes"],
        },
    }


def test_unreadable_evidence_is_a_warning(aws: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    aws.jobs = [{**JOB, "status": "RUNNABLE", "statusReason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"}]
    aws.snapshot = refuse("AccessDenied")

    assert main(["jobs", "why", "one"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("insufficient-capacity: AWS Batch reports: CAPACITY:")
    assert printed.err.startswith("warning: the order of the queue")


def test_a_possibly_hidden_reason_is_not_success(aws: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ultracluster_runtime.jobs.explanation.diagnose", lambda _: [])
    aws.jobs = [{**JOB, "status": "RUNNABLE"}]
    complete = main(["jobs", "why", "one"])
    aws.snapshot = refuse("AccessDenied")

    assert (complete, main(["jobs", "why", "one"])) == (ExitCode.DONE, ExitCode.UNKNOWN)


def test_a_job_on_a_shared_node_is_terminated_without_a_checkpoint_and_with_a_warning(
    aws: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["jobs", "stop", "one"]) == 0
    assert "warning: 0 nodes of one were notified" in capsys.readouterr().err
    assert aws.terminated == ["one"]


@pytest.mark.parametrize("text", ["one", "on", "pretrain"])
def test_a_job_is_named_by_its_id_its_start_or_its_name(aws: Fake, text: str) -> None:
    assert main(["jobs", "stop", text, "--now"]) == ExitCode.DONE
    assert aws.terminated == ["one"]


def test_several_jobs_that_match_are_listed_and_none_is_stopped(
    aws: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    aws.jobs = [JOB, {**JOB, "jobId": "only"}]

    assert main(["jobs", "stop", "on", "--now"]) == ExitCode.FINDINGS
    assert "UC6205: 2 jobs match 'on'. Allowed: one, only." in capsys.readouterr().err
    assert aws.terminated == []


def test_of_jobs_with_one_name_the_active_one_is_meant(aws: Fake) -> None:
    aws.jobs = [JOB, {**JOB, "jobId": "later", "status": "FAILED", "createdAt": 9}]

    main(["jobs", "stop", "pretrain", "--now"])

    assert aws.terminated == ["one"]


@pytest.mark.parametrize("command", ["checkpoint", "shell"])
def test_a_job_that_does_not_run_has_no_checkpoint_and_no_shell(
    aws: Fake, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    aws.jobs = [{**JOB, "status": "RUNNABLE"}]

    assert main(["jobs", command, "pretrain"]) == ExitCode.FINDINGS
    assert "error: pretrain is RUNNABLE" in capsys.readouterr().err
    assert aws.terminated == []


@pytest.mark.parametrize("nodes", [["i-1", "i-2"], []], ids=len)
def test_a_checkpoint_that_no_node_was_asked_for_is_no_success(
    aws: Fake, nodes: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = (nodes, None if nodes else "no agent")
    monkeypatch.setattr("ultracluster_cli.jobs.command.request_checkpoint", lambda *_: asked)
    code = ExitCode.DONE if nodes else ExitCode.FINDINGS

    assert main(["jobs", "checkpoint", "one"]) == code
    said = "2 nodes of pretrain were asked for a checkpoint" if nodes else "warning: 0 nodes of one"
    assert said in capsys.readouterr().err
    assert main(["jobs", "checkpoint", "one", "--json"]) == code
    assert json.loads(capsys.readouterr().out)["told_nodes"] == nodes
    assert aws.terminated == []


def test_following_the_log_of_a_waiting_job_waits_for_its_start(
    aws: Fake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    states = iter(["PENDING", "RUNNABLE", "RUNNABLE", "FAILED"])

    def pause(_: float) -> None:
        aws.jobs = [{**JOB, "status": next(states)}]

    pause(0)
    monkeypatch.setattr(jobs_session, "time", SimpleNamespace(sleep=pause))

    assert main(["jobs", "logs", "one", "--follow"]) == ExitCode.FINDINGS
    waited, ended = capsys.readouterr().err.split("UC6208: ")
    assert [line.split(".")[0] for line in waited.splitlines()] == [
        "pretrain is PENDING",
        "pretrain is RUNNABLE",
        "pretrain is FAILED",
    ]
    assert ended.startswith("the job is FAILED")


def test_following_a_log_ends_with_the_job(
    aws: Fake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logged = {**JOB, "container": {"logStreamName": "stream"}}
    states = iter(["RUNNING", "FAILED"])

    def pause(_: float) -> None:
        aws.jobs = [{**logged, "status": next(states)}]

    pause(0)
    aws.log = ["step 10"]
    monkeypatch.setattr(jobs_session, "time", SimpleNamespace(sleep=pause))

    assert main(["jobs", "logs", "one", "--follow", "--tail", "1"]) == 0
    printed = capsys.readouterr()
    assert "step 10" in printed.out
    assert printed.err.splitlines() == [
        "pretrain is RUNNING",
        "pretrain is FAILED",
        "To see why, and whether it resumes: ultracluster jobs why one",
    ]


def test_lines_with_metrics_are_in_the_json_of_a_log_only(
    aws: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    aws.jobs = [JOB | {"container": {"logStreamName": "stream"}}]
    aws.log = ["step 10", '{"_aws": {}, "Loss": 0.5}', '{"loss": 0.5}']

    assert main(["jobs", "logs", "one"]) == 0
    assert [line.split(" ", 1)[1] for line in capsys.readouterr().out.splitlines()] == [
        "step 10",
        '{"loss": 0.5}',
    ]

    assert main(["jobs", "logs", "one", "--json"]) == 0
    assert [json.loads(line)["message"] for line in capsys.readouterr().out.splitlines()] == aws.log


def test_a_resume_that_the_definition_sets_is_said_and_can_be_declined(
    aws: Fake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(DEFINITION, "tags", {"ultracluster:resume": "10"})
    assert main(["jobs", "submit", "quickstart", "pretrain:1"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "one\n"
    assert (
        "resumes up to 10 times after a drain or the loss of a node; to decline that: --no-resume"
        in printed.err
    )

    assert main(["jobs", "submit", "quickstart", "pretrain:1", "--no-resume", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["resume"] == 0
    assert aws.submitted["tags"] == {"ultracluster:resume": "0"}

    assert main(["jobs", "submit", "quickstart", "pretrain:1", "--no-resume", "--resume", "2"]) == 2
    assert "UC6204: --no-resume: got it with --resume 2" in capsys.readouterr().err


@pytest.fixture
def two_nodes(aws: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job of three nodes, the last of which has no log."""
    del aws

    def find_stream(_: str, *, node: int, client: object) -> int:
        del client
        if node == 2:
            raise FindingsError.of("UC6208", "the node has not started")
        return node

    pages = lambda node, **_: iter([([Line(timestamp=0, message=f"line of {node}")], "end")])  # noqa: E731
    monkeypatch.setattr(jobs_command, "child_job_ids", lambda _: ["one#0", "one#1", "one#2"])
    monkeypatch.setattr(jobs_command, "find_stream", find_stream)
    monkeypatch.setattr(jobs_command, "read_new", pages)


@pytest.mark.usefixtures("two_nodes")
def test_the_whole_logs_are_saved_a_file_for_each_node(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "a" / "logs"
    assert main(["logs", "one", "--all", "--save", str(folder)]) == ExitCode.UNKNOWN
    files = {file.name: file.read_text() for file in folder.iterdir()}
    assert files == {f"node-{node}.log": f"1970-01-01T00:00:00.000+00:00 line of {node}\n" for node in (0, 1)}
    told = capsys.readouterr()
    assert told.out == ""
    assert f"{folder / 'node-1.log'}: 1 line\n" in told.err
    assert "node 2: UC6208: the node has not started" in told.err


@pytest.mark.usefixtures("two_nodes")
def test_logs_cannot_be_saved_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert main(["logs", "one", "--all", "--save", str(tmp_path / "file")]) == ExitCode.FAILED
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{tmp_path.name}/file: " in line
