"""Submission of jobs with dependencies, against a fake of AWS Batch."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_cli.jobs import submit as submitting
from ultracluster_cli.jobs.submit import submit_all
from ultracluster_runtime.jobs.queues import Queue
from ultracluster_spec.findings import FindingsError

OWN = "arn:aws:batch:us-east-2:123456789012:job-queue/own"
SMALL = "arn:aws:batch:us-east-2:123456789012:job-queue/small"


def definition(name: str, *after: str, queue: str | None = None) -> dict[str, Any]:
    tags = {"ultracluster:after": " ".join(after)} if after else {}
    if queue is not None:
        tags["ultracluster:queue"] = queue
    return {
        "jobDefinitionName": f"Generated-{name}",
        "jobDefinitionArn": f"arn:aws:batch:us-east-2:123456789012:job-definition/{name}:1",
        "revision": 1,
        "tags": tags,
        "containerProperties": {"logConfiguration": {"options": {"awslogs-stream-prefix": name}}},
    }


class Fake:
    def __init__(self, *definitions: dict[str, Any], takes: int = 20) -> None:
        self.definitions, self.takes = definitions, takes
        self.sent: list[dict[str, Any]] = []

    def __call__(self, service: str, **_: Any) -> Any:
        assert service == "batch"
        return SimpleNamespace(
            describe_job_definitions=lambda **_: {"jobDefinitions": list(self.definitions)},
            describe_job_queues=lambda jobQueues: {  # noqa: N803 - the name is AWS's
                "jobQueues": [
                    {"jobQueueArn": jobQueues[0], "state": "ENABLED", "computeEnvironmentOrder": []}
                ]
            },
            submit_job=self.submit_job,
        )

    def submit_job(self, **request: Any) -> dict[str, str]:
        if len(self.sent) == self.takes:
            raise ClientError({"Error": {"Code": "ClientException", "Message": "it says no"}}, "SubmitJob")
        self.sent.append(request)
        return {"jobId": f"id-{request['jobName']}"}


def submit(fake: Fake, last: dict[str, Any], **changes: Any) -> list[str]:
    given: dict[str, Any] = {
        "queue": Queue(arn=OWN, definitions=("all",)),
        "client": fake,
        "name": "run",
        "named_queue": False,
        "alone": False,
        "depends_on": [],
        "share": None,
        "settings": {"environment": {"A": "1"}},
    }
    return [one.job_id for one in submit_all(last, **given | changes)]


def test_submits_dependencies_first_and_each_job_to_its_queue() -> None:
    first, last = definition("compile", queue=SMALL), definition("train", "compile")
    fake = Fake(last, first)

    assert submit(fake, last, depends_on=["seen"]) == ["id-compile", "id-run"]

    assert [(one["jobName"], one["jobQueue"]) for one in fake.sent] == [("compile", SMALL), ("run", OWN)]
    assert "dependsOn" not in fake.sent[0]
    assert fake.sent[1]["dependsOn"] == [{"jobId": "id-compile"}, {"jobId": "seen"}]
    # What is changed for the run is changed for the job that was named only.
    assert ["containerOverrides" in one for one in fake.sent] == [False, True]


def test_a_chosen_queue_applies_to_the_named_job_only() -> None:
    first, last = definition("compile", queue=SMALL), definition("rate", "compile", queue=SMALL)
    fake = Fake(last, first)
    submit(fake, last, named_queue=True)
    assert [one["jobQueue"] for one in fake.sent] == [SMALL, OWN]


def test_alone_skips_dependencies() -> None:
    last = definition("train", "compile")
    fake = Fake(last)
    assert submit(fake, last, alone=True) == ["id-run"]
    assert "dependsOn" not in fake.sent[0]


def test_nothing_is_sent_when_anything_is_wrong() -> None:
    first, last = definition("compile"), definition("train", "compile")
    fake = Fake(first, last)
    with pytest.raises(FindingsError, match="UC6204"):
        submit(fake, last, settings={"priority": -1})
    with pytest.raises(FindingsError, match="UC6113"):
        submit(fake, last, depends_on=[str(number) for number in range(20)])
    assert fake.sent == []


def test_a_failure_lists_the_jobs_submitted_before_it() -> None:
    first, last = definition("compile"), definition("train", "compile")
    with pytest.raises(FindingsError, match=r"error: .*it says no.*compile as id-compile.*jobs stop"):
        submit(Fake(first, last, takes=1), last)


@pytest.mark.parametrize(("table", "sent"), [("Resume-State", 1), (None, 0), ("denied", 1)])
def test_a_resume_is_asked_for_where_a_function_sees_to_it(
    monkeypatch: pytest.MonkeyPatch, table: str | None, sent: int
) -> None:
    def find(queue: str, *, client: Any) -> str | None:  # noqa: ARG001 - as the real one
        if table == "denied":
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "DescribeStackResources")
        return table

    monkeypatch.setattr(submitting, "resume_table", find)
    fake = Fake(definition("train"))
    with (
        pytest.raises(FindingsError, match="no job of the cluster has resume") if not sent else nullcontext()
    ):
        submit(fake, definition("train"), settings={"resume": 2})
    assert len(fake.sent) == sent
