"""Pending resumes, as `JobResume` records them."""

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.runtime.jobs.stubbed_aws import LAUNCHED, QUEUE, shown
from tests.unit.runtime.stubbed_clients import StubbedAws

from ultracluster_runtime.jobs.diagnose import Reason
from ultracluster_runtime.jobs.resumes import (
    Resume,
    explain_resume,
    has_resumes,
    open_queues,
    pending_resumes,
    read_resume,
    resume_table,
)

CLOSED = Reason(
    reason="queue-disabled", evidence="queue training is DISABLED: cr-1 ended", remedy="Extend it"
)


def item(job: str = "one", state: str = "waiting", queue: str = QUEUE, **more: Any) -> dict[str, Any]:
    request = {"dependsOn": [], "nodeOverrides": {"numNodes": 3}}
    return {
        "id": {"S": job},
        "state": {"S": state},
        "name": {"S": "pretrain"},
        "queue": {"S": queue},
        "reason": {"S": "Capacity Block cr-1 ends"},
        "left": {"N": "2"},
        "request": {"S": json.dumps(request)},
        **more,
    }


def resume(**changes: Any) -> Resume:
    values: dict[str, Any] = {
        "job_id": "one",
        "name": "pretrain",
        "queue": QUEUE,
        "reason": "node i-1 was lost",
        "left": 2,
        "state": "waiting",
        "next_id": "",
        "after": (),
        "nodes": None,
    }
    return Resume(**{**values, **changes})


def expect_table(aws: StubbedAws, *resources: tuple[str, str]) -> None:
    stack = {"StackName": "training", "ResourceType": "x", "LogicalResourceId": "x", "Timestamp": 0}
    aws.answer(
        "cloudformation",
        "describe_stack_resources",
        {"StackResources": [{**stack, "ResourceStatus": "CREATE_COMPLETE"}]},
        {"PhysicalResourceId": QUEUE},
    )
    status = {"ResourceStatus": "CREATE_COMPLETE", "LastUpdatedTimestamp": 0}
    summaries = [
        {"ResourceType": kind, "LogicalResourceId": name, "PhysicalResourceId": f"id-{name}", **status}
        for kind, name in resources
    ]
    aws.answer("cloudformation", "list_stack_resources", {"StackResourceSummaries": summaries})


TABLES = (("AWS::DynamoDB::Table", "BlockLifecycleState"), ("AWS::DynamoDB::Table", "TrainingJobResumeState"))


def test_the_table_is_that_of_the_resume_in_the_stack_of_the_queue(aws: StubbedAws) -> None:
    expect_table(aws, *TABLES)
    assert resume_table(QUEUE, client=aws.client) == "id-TrainingJobResumeState"


def test_a_stack_without_a_resume_has_none(aws: StubbedAws) -> None:
    expect_table(aws, TABLES[0])
    assert pending_resumes([QUEUE], client=aws.client) == []


def test_a_queue_that_no_stack_has_resumes_nothing(aws: StubbedAws) -> None:
    aws.refuse("cloudformation", "describe_stack_resources", "ValidationError")
    assert read_resume(shown(), client=aws.client) is None


def test_only_jobs_of_the_queues_that_are_still_to_be_submitted_are_pending(aws: StubbedAws) -> None:
    expect_table(aws, *TABLES)
    items = [
        {"id": {"S": "lease"}},
        item("waits"),
        item("is-sent-now", "sending"),
        item("sent", "sent"),
        item("over", "over"),
        item("elsewhere", queue=f"{QUEUE}-of-others"),
    ]
    aws.answer("dynamodb", "scan", {"Items": items}, {"TableName": "id-TrainingJobResumeState"})

    found = pending_resumes([QUEUE], client=aws.client)

    assert [(one.job_id, one.left, one.nodes) for one in found] == [("waits", 2, 3), ("is-sent-now", 2, 3)]


def test_open_queues_are_those_that_accept_jobs(aws: StubbedAws) -> None:
    order = {"priority": 1, "computeEnvironmentOrder": []}
    queues = [
        {"jobQueueName": "q", "jobQueueArn": f"{QUEUE}{state}", "state": state, **order}
        for state in ("DISABLED", "ENABLED")
    ]
    arns = [queue["jobQueueArn"] for queue in queues]
    aws.answer("batch", "describe_job_queues", {"jobQueues": queues}, {"jobQueues": arns})

    assert open_queues([*reversed(arns), *arns], client=aws.client) == {f"{QUEUE}ENABLED"}
    assert open_queues([], client=aws.client) == set()


def test_a_job_of_another_tool_is_not_said_to_have_used_its_resumes() -> None:
    ended = resume(state="over", left=0)
    assert explain_resume(ended, closed=None, has_resumes=False).reason == "no-resumes"
    assert explain_resume(replace(ended, left=1), closed=None, has_resumes=False).reason == "no-resumes-left"


@pytest.mark.parametrize(
    ("tags", "command", "expected"),
    [
        ({}, LAUNCHED, True),
        ({}, ["nextflow"], False),
        ({"ultracluster:resume": "0"}, LAUNCHED, False),
        ({"ultracluster:resume": "1"}, ["nextflow"], True),
        ({"ultracluster:resume": "0", "ultracluster:resume-of": "zero"}, LAUNCHED, True),
    ],
)
def test_a_job_has_resumes_by_its_tag_or_its_launcher(
    tags: dict[str, str], command: list[str], expected: bool
) -> None:
    assert has_resumes({"tags": tags, "container": {"command": command}}) == expected


def test_the_record_of_one_job_is_read_by_its_id(aws: StubbedAws) -> None:
    expect_table(aws, *TABLES)
    key = {"TableName": "id-TrainingJobResumeState", "Key": {"id": {"S": "one"}}}
    aws.answer("dynamodb", "get_item", {"Item": item(state="sent", next={"S": "two"})}, key)

    found = read_resume(shown(), client=aws.client)

    assert found is not None
    assert (found.state, found.next_id, found.pending) == ("sent", "two", False)


@pytest.mark.parametrize(
    ("changes", "closed", "reason", "evidence", "remedy"),
    [
        ({}, CLOSED, "resume-pending", "queue training to open with the next block", "Extend it"),
        ({}, None, "resume-pending", "the function JobResume, which runs every minute", "Nothing to do"),
        ({"after": ("zero",)}, CLOSED, "resume-pending", "the job that follows zero", "Nothing to do"),
        ({"state": "sending"}, None, "resume-pending", "resumes left: 2", "Nothing to do"),
        ({"state": "sent", "next_id": "two"}, None, "resumed", "goes on as two; resumes left: 1", "why two"),
        ({"state": "over", "left": 0}, None, "no-resumes-left", "none of its resumes", "last checkpoint"),
    ],
)
def test_how_an_ended_job_goes_on_is_explained(
    changes: dict[str, Any], closed: Reason | None, reason: str, evidence: str, remedy: str
) -> None:
    explained = explain_resume(resume(**changes), closed=closed)
    assert explained.reason == reason
    assert evidence in explained.evidence
    assert remedy in explained.remedy
