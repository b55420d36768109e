"""`ultracluster jobs` against a fake of AWS Batch with one job."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.jobs import session as jobs_session
from ultracluster_cli.main import main

QUEUE = "arn:aws:batch:us-east-2:123456789012:job-queue/training"
URGENT = f"{QUEUE}-urgent"
RESOURCES = [("AWS::Batch::JobQueue", QUEUE), ("AWS::Batch::JobDefinition", "pretrain:1")]
JOB = {
    "jobId": "one",
    "jobName": "pretrain",
    "jobQueue": QUEUE,
    "status": "RUNNING",
    "createdAt": 0,
    "startedAt": 60_000,
    "shareIdentifier": "default",
}
DEFINITION = {
    "jobDefinitionName": "pretrain",
    "revision": 1,
    "jobDefinitionArn": "arn:aws:batch:us-east-2:123456789012:job-definition/pretrain:1",
    "status": "ACTIVE",
    "containerProperties": {"logConfiguration": {"options": {"awslogs-stream-prefix": "evaluate"}}},
}


def refuse(code: str) -> Callable[..., Any]:
    def refuse(**_: Any) -> Any:
        raise ClientError({"Error": {"Code": code, "Message": "it says no"}}, "AnyCall")

    return refuse


class Fake:
    """The calls that the commands make, by name; a test changes their answers."""

    def __init__(self) -> None:
        self.stacks = {"quickstart-us-east-2-Cluster": RESOURCES, "two": RESOURCES[:1] * 2, "own": RESOURCES}
        self.stacks["team"] = [*RESOURCES, ("AWS::Batch::JobQueue", URGENT)]
        self.jobs = [JOB]
        self.submitted: dict[str, Any] = {}
        self.snapshot: Callable[..., Any] = lambda **_: {"frontOfQueue": {"jobs": []}}
        self.terminated: list[str] = []
        self.configs: list[Any] = []

    def client(self, service: str, *, config: Any, **_: Any) -> Any:
        self.configs.append(config)
        return {"cloudformation": SimpleNamespace(get_paginator=self.pages), "batch": self.batch()}[service]

    def pages(self, call: str) -> Any:
        def resources(StackName: str) -> Any:  # noqa: N803 - the name is AWS's
            if StackName not in self.stacks:
                return refuse("ValidationError")()
            kinds = self.stacks[StackName]
            return [
                {
                    "StackResourceSummaries": [
                        {"ResourceType": kind, "PhysicalResourceId": name} for kind, name in kinds
                    ]
                }
            ]

        def jobs(jobStatus: str, **_: Any) -> Any:  # noqa: N803 - the name is AWS's
            return [{"jobSummaryList": [one for one in self.jobs if one["status"] == jobStatus]}]

        return SimpleNamespace(paginate={"list_stack_resources": resources, "list_jobs": jobs}[call])

    def batch(self) -> Any:
        queue = {
            "jobQueueName": "training",
            "jobQueueArn": QUEUE,
            "state": "ENABLED",
            "computeEnvironmentOrder": [],
            "schedulingPolicyArn": "arn",
        }
        return SimpleNamespace(
            get_paginator=self.pages,
            describe_job_queues=lambda jobQueues: {  # noqa: N803 - the name is AWS's
                "jobQueues": [queue | self.tags(arn) for arn in jobQueues]
            },
            describe_jobs=lambda jobs: {"jobs": [one for one in self.jobs if one["jobId"] in jobs]},
            describe_job_definitions=lambda **_: {"jobDefinitions": [DEFINITION]},
            get_job_queue_snapshot=self.snapshot,
            submit_job=self.submit_job,
            terminate_job=lambda jobId, **_: self.terminated.append(jobId),  # noqa: N803 - the name is AWS's
        )

    def tags(self, arn: str) -> dict[str, Any]:
        return {"jobQueueArn": arn} | (
            {"tags": {"ultracluster:queue-name": "urgent"}} if arn == URGENT else {}
        )

    def submit_job(self, **given: Any) -> Any:
        self.submitted = given
        return {"jobId": "one", "jobArn": "arn"}


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Fake:
    fake = Fake()
    session = SimpleNamespace(client=fake.client, region_name="us-east-2")
    monkeypatch.setattr(jobs_session, "aws_session", lambda _: session)
    return fake


def test_a_missing_region_is_a_finding(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)

    assert main(["jobs", "list", "quickstart"]) == 2
    assert capsys.readouterr().err.startswith("UC6201")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["list", "nowhere"], "UC6202: CloudFormation has no stack"),
        (["list", "two"], "UC6202: the stack of 'two' in us-east-2 has 2 job queues"),
        (["submit", "team", "evaluate", "--queue", "urgnt"], "UC6311: --queue: got 'urgnt'. Allowed: urgent"),
        (["submit", "own", "evaluate", "--queue", "urgent"], "the cluster has no further queues"),
        (["submit", "quickstart", "nothing"], "UC6203: got 'nothing'. Allowed: evaluate"),
        (["submit", "quickstart", "evaluate", "--timeout", "1"], "UC6204: --timeout: got '1'"),
        (
            ["submit", "quickstart", "evaluate", "--env", "TOKEN"],
            "UC6109: --env: got 'TOKEN' without a value",
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
    assert said.startswith("UC6206")
    assert "check `ultracluster jobs list`" in said


def test_a_submission_is_sent_once_because_batch_would_run_it_twice(aws: Fake) -> None:
    assert main(["jobs", "submit", "quickstart", "evaluate"]) == 0
    assert {config.retries["total_max_attempts"] for config in aws.configs} == {1}
    aws.configs.clear()
    assert main(["jobs", "list", "quickstart"]) == 0
    assert {config.retries["total_max_attempts"] for config in aws.configs} == {3}


@pytest.mark.parametrize("cluster", ["quickstart", "own", QUEUE])
def test_a_cluster_is_found_by_its_name_its_stack_or_its_queue(
    aws: Fake, cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    del aws
    assert main(["jobs", "list", cluster, "--json"]) == 0
    (job,) = json.loads(capsys.readouterr().out)["jobs"]
    assert (job["job"], job["state"], job["since"]) == ("one", "RUNNING", "1970-01-01T00:01:00+00:00")


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
    aws.snapshot = refuse("AccessDenied")

    assert main(["jobs", "why", "one"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("running: job one is RUNNING: it is running.")
    assert printed.err.startswith("warning: UC6209: the order of the queue")


def test_a_possibly_hidden_reason_is_not_success(aws: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ultracluster_cli.jobs.command.diagnose", lambda _: [])
    complete = main(["jobs", "why", "one"])
    aws.snapshot = refuse("AccessDenied")

    assert (complete, main(["jobs", "why", "one"])) == (ExitCode.DONE, ExitCode.UNKNOWN)


def test_a_job_on_a_shared_node_is_terminated_without_a_checkpoint_and_with_a_warning(
    aws: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["jobs", "stop", "one"]) == 0
    assert "warning: UC6207: 0 nodes of one were notified" in capsys.readouterr().err
    assert aws.terminated == ["one"]


def test_a_job_that_is_ended_at_once_needs_no_warning(aws: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["jobs", "stop", "one", "--now", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["terminated"]
    assert printed.err == ""
    assert aws.terminated == ["one"]


@pytest.mark.parametrize(("options", "queue"), [([], QUEUE), (["--queue", "urgent"], URGENT)])
def test_a_job_goes_to_the_main_queue_or_to_the_named_one(aws: Fake, options: list[str], queue: str) -> None:
    assert main(["jobs", "submit", "team", "evaluate", *options]) == 0
    assert aws.submitted["jobQueue"] == queue


def test_the_jobs_of_all_queues_are_listed_with_their_queue(
    aws: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["jobs", "list", "team", "--json"]) == 0
    assert [row["queue"] for row in json.loads(capsys.readouterr().out)["jobs"]] == [None, "urgent"]
    assert aws.submitted == {}
