"""Each ending leads to one new job, whatever fails, is lost or is killed on the way."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.unit.runtime.resume.resume_aws import NOW, QUEUES, ResumeAws, dependent, drained, multi_node

from ultracluster_catalog.names.submission_tags import ARRAY_NODES_VARIABLE
from ultracluster_runtime.functions.clients import ONCE
from ultracluster_runtime.resume.sweep import ResumeError, sweep

pytestmark = pytest.mark.slow  # boto3 needs a second for its clients

MINUTE = timedelta(minutes=1)


class Crash(BaseException):
    """The function is killed."""


def run(aws: ResumeAws, now: datetime = NOW) -> None:
    sweep(QUEUES, aws.clients, now, owner=f"invocation-{len(aws.calls)}")


def run_for(aws: ResumeAws, minutes: int, *, start: datetime = NOW) -> None:
    for minute in range(minutes):
        run(aws, start + minute * MINUTE)


def subjects(aws: ResumeAws) -> list[str]:
    return [str(notice["Subject"]) for notice in aws.published]


def told(aws: ResumeAws) -> list[str]:
    """What people hear, without the reason."""
    return [subject.partition(":")[0] for subject in subjects(aws)]


def test_a_drained_job_is_submitted_again_once() -> None:
    aws = ResumeAws(drained())
    clients = aws.clients
    sweep(QUEUES, clients, NOW, owner="first")
    assert clients.configs.count(ONCE) == 1  # boto3 does not repeat the request either
    run_for(aws, 5, start=NOW + MINUTE)
    (request,) = aws.submitted
    assert request["tags"] == {"ultracluster:resume": "2", "ultracluster:resume-of": "11111111-0000"}
    assert subjects(aws) == [
        "Job pretrain goes on: Capacity Block cr-0123456789abcdef0 ends 2026-12-02 11:30 UTC"
    ]
    assert "goes on as 22222222-0000; 2 of its resumes are left" in aws.published[0]["Message"]


def test_it_waits_while_its_queue_is_closed_and_people_hear_of_both() -> None:
    aws = ResumeAws(drained())
    aws.queue_state = "DISABLED"
    run_for(aws, 3)
    assert aws.submitted == []
    aws.described.clear()  # AWS Batch deletes ended jobs after some days
    aws.queue_state = "ENABLED"
    run_for(aws, 3, start=NOW + timedelta(days=20))
    assert len(aws.submitted) == 1
    assert told(aws) == [
        "Job pretrain waits",
        "Job pretrain goes on",
    ]


def test_it_waits_while_the_environment_of_the_drain_cannot_be_closed() -> None:
    aws = ResumeAws(drained())
    aws.change_environment("UPDATING")
    run_for(aws, 2)
    assert aws.submitted == []
    aws.change_environment("VALID")
    run(aws, NOW + 3 * MINUTE)
    assert len(aws.submitted) == 1


@pytest.mark.parametrize(
    "job",
    [
        drained(statusReason="Essential container in task exited", isTerminated=False),
        drained(statusReason="Stopped with ultracluster jobs stop"),
        drained(arrayProperties={"size": 4}),
        drained(stoppedAt=int((NOW - timedelta(hours=25)).timestamp() * 1000)),
        multi_node("11111111-0000"),
    ],
)
def test_nothing_else_is_submitted_again(job: dict[str, Any]) -> None:
    aws = ResumeAws(job)
    run_for(aws, 2)
    assert (aws.submitted, aws.published) == ([], [])


@pytest.mark.parametrize("tags", [{}, {"ultracluster:resume": "0"}])
def test_a_job_without_resumes_ends_and_people_hear_of_it_once(tags: dict[str, str]) -> None:
    aws = ResumeAws(drained(tags=tags))
    run_for(aws, 3)
    assert aws.submitted == []
    assert told(aws) == ["Job pretrain ended"]
    assert "again: none of its resumes are left." in aws.published[0]["Message"]


def test_resumes_come_from_the_definition_if_the_job_has_none() -> None:
    aws = ResumeAws(drained(tags={}))
    aws.definition_tags = {"ultracluster:resume": "1"}
    run(aws)
    assert aws.submitted[0]["tags"]["ultracluster:resume"] == "0"


def test_a_chain_ends_with_its_last_resume() -> None:
    aws = ResumeAws(drained(tags={"ultracluster:resume": "2"}))
    for minute in range(6):
        run(aws, NOW + minute * MINUTE)
        for job in aws.described.values():
            if job["status"] == "RUNNABLE":
                job |= {
                    key: drained()[key] for key in ("status", "statusReason", "isTerminated", "stoppedAt")
                }
    assert [request["tags"]["ultracluster:resume"] for request in aws.submitted] == ["1", "0"]
    assert aws.submitted[1]["tags"]["ultracluster:resume-of"] == "22222222-0000"


def test_the_children_of_a_multi_node_job_are_asked_for_their_loss() -> None:
    stopped = drained()["stoppedAt"]
    failed = drained(statusReason="Essential container in task exited", isTerminated=False)
    aws = ResumeAws(failed)
    aws.described["11111111-0000#3"] = {
        **multi_node("11111111-0000#3"),
        "statusReason": "Host EC2 (instance i-0123456789abcdef0) terminated.",
        "stoppedAt": stopped - 1,
    }
    run(aws)
    assert len(aws.submitted) == 1
    assert subjects(aws) == ["Job pretrain goes on: node i-0123456789abcdef0 was lost"]


def test_a_refusal_is_reported_once_and_the_job_tried_again() -> None:
    aws = ResumeAws(drained())
    aws.failing = dict.fromkeys({"SubmitJob"}, "denied")
    for minute in range(2):
        with pytest.raises(ResumeError, match="AccessDenied"):
            run(aws, NOW + minute * MINUTE)
    aws.failing = {}
    run_for(aws, 8, start=NOW + 2 * MINUTE)
    assert len(aws.submitted) == 1
    assert subjects(aws)[-1].startswith("Job pretrain goes on")


@pytest.mark.parametrize("fault", ["lost request", "lost answer", "internal error"])
def test_an_unconfirmed_submission_is_looked_up_before_it_is_repeated(fault: str) -> None:
    undisturbed = ResumeAws(drained())
    run(undisturbed)
    aws = ResumeAws(drained())
    aws.faults = {undisturbed.calls.index("SubmitJob"): fault}
    with pytest.raises(ResumeError):
        run(aws)
    aws.faults = {}
    run_for(aws, 4, start=NOW + MINUTE)
    assert len(aws.submitted) == (fault == "lost answer")  # too early to know
    run_for(aws, 4, start=NOW + 5 * MINUTE)
    assert len(aws.submitted) == 1
    assert "goes on as 22222222-0000" in aws.published[-1]["Message"]


def test_a_record_that_was_made_although_its_answer_was_lost_is_left_to_the_next_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    aws = ResumeAws(drained())
    put = aws._PutItem
    monkeypatch.setattr(aws, "_PutItem", lambda asked: put(asked) or put(asked))  # botocore repeats it
    run(aws)
    assert aws.submitted == []
    run(aws, NOW + MINUTE)
    assert len(aws.submitted) == 1


def test_two_invocations_at_once_submit_one_job() -> None:
    aws = ResumeAws(drained())
    aws.items["lease"] = {
        "id": {"S": "lease"},
        "owner": {"S": "another"},
        "until": {"N": str(int(NOW.timestamp()) + 100)},
    }
    run(aws)
    assert aws.submitted == []
    run(aws, NOW + 2 * MINUTE)
    assert len(aws.submitted) == 1


def test_killed_anywhere_the_function_submits_one_job() -> None:
    undisturbed = ResumeAws(drained())
    run(undisturbed)
    for number in range(len(undisturbed.calls)):
        for after in (False, True):
            aws = ResumeAws(drained())
            answer = aws.answer

            def killed(
                model: Any,
                asked: Any,
                *,
                aws: ResumeAws = aws,
                answer: Any = answer,
                number: int = number,
                after: bool = after,
            ) -> Any:
                if len(aws.calls) > number or (len(aws.calls) == number and not after):
                    raise Crash
                result = answer(model, asked)
                if len(aws.calls) > number:
                    raise Crash
                return result

            aws.answer = killed  # type: ignore[method-assign]
            with pytest.raises(Crash):
                run(aws)
            aws.answer = answer  # type: ignore[method-assign]
            run_for(aws, 10, start=NOW + MINUTE)
            assert len(aws.submitted) == 1, f"{undisturbed.calls[number]}, after: {after}"


def test_what_is_stored_is_enough_to_submit_the_job() -> None:
    aws = ResumeAws(drained())
    aws.queue_state = "DISABLED"
    run(aws)
    item = aws.items["11111111-0000"]
    assert json.loads(item["request"]["S"])["jobDefinition"].endswith("pretrain:3")
    assert int(item["expires"]["N"]) == int((NOW + timedelta(days=90)).timestamp())


def test_a_definition_that_a_deployment_replaced_is_followed_to_its_newest_revision() -> None:
    aws = ResumeAws(drained())
    aws.queue_state = "DISABLED"
    run(aws)
    aws.revisions = (9, 10, 4)
    aws.queue_state = "ENABLED"
    run(aws, NOW + MINUTE)
    assert aws.submitted[0]["jobDefinition"].endswith("job-definition/pretrain:10")


@pytest.mark.parametrize("state", ["ENABLED", "DISABLED"])
def test_a_job_whose_definition_was_deregistered_ends_with_a_word(state: str) -> None:
    aws = ResumeAws(drained())
    aws.queue_state = "DISABLED"
    run(aws)
    aws.deregistered = True
    aws.queue_state = state
    for minute in (1, 2):
        run(aws, NOW + minute * MINUTE)
    assert aws.submitted == []
    (item,) = (item for key, item in aws.items.items() if key != "lease")
    assert item["state"] == {"S": "over"}
    assert item["reason"]["S"].endswith("and its job definition is deregistered")
    assert told(aws) == [
        "Job pretrain waits",
        "Job pretrain ended",
    ]
    assert "register the definition" in aws.published[-1]["Message"]


def test_a_job_whose_definition_aws_batch_has_forgotten_ends_with_a_word() -> None:
    aws = ResumeAws(drained())
    aws.forgotten = True
    run(aws)
    assert aws.submitted == []
    assert told(aws) == ["Job pretrain ended"]


def test_throttling_is_tried_again_without_a_word() -> None:
    undisturbed = ResumeAws(drained())
    run(undisturbed)
    aws = ResumeAws(drained())
    aws.faults = {undisturbed.calls.index("SubmitJob"): "throttled"}
    with pytest.raises(ResumeError):
        run(aws)
    aws.faults = {}
    run(aws, NOW + MINUTE)
    assert len(aws.submitted) == 1
    assert told(aws) == ["Job pretrain goes on"]


# Jobs that depend on resumed ones


def test_a_job_that_waited_for_a_resumed_one_is_submitted_again_after_it() -> None:
    aws = ResumeAws(drained(), dependent())
    run_for(aws, 4)
    first, second = aws.submitted
    assert second["jobName"] == "evaluate-resume-99999999"
    assert second["dependsOn"] == [{"jobId": "22222222-0000"}]
    assert second["tags"] == {"ultracluster:resume": "0", "ultracluster:resume-of": "99999999-0000"}
    assert "dependsOn" not in first
    assert subjects(aws)[1] == "Job evaluate goes on: it waited for pretrain, which goes on"


def test_a_job_that_waited_for_two_resumed_ones_names_both() -> None:
    before = drained(), drained("77777777-0000", jobName="prepare")
    aws = ResumeAws(*before, dependent("99999999-0000", *(job["jobId"] for job in before)))
    run_for(aws, 4)
    assert subjects(aws)[-1] == "Job evaluate goes on: it waited for prepare, pretrain, which goes on"


def test_a_chain_of_waiting_jobs_goes_on_in_its_order_whatever_the_order_of_their_endings() -> None:
    aws = ResumeAws(dependent("88888888-0000", "99999999-0000"), dependent(), drained())
    run_for(aws, 5)
    assert [one["jobName"] for one in aws.submitted] == [
        "pretrain-resume-11111111",
        "evaluate-resume-99999999",
        "evaluate-resume-88888888",
    ]
    assert aws.submitted[2]["dependsOn"] == [{"jobId": "33333333-0000"}]


def test_a_waiting_job_waits_for_the_next_block_with_the_job_before_it() -> None:
    aws = ResumeAws(drained(), dependent())
    aws.queue_state = "DISABLED"
    run_for(aws, 3)
    assert aws.submitted == []
    aws.queue_state = "ENABLED"
    run_for(aws, 3, start=NOW + timedelta(days=20))
    assert [one.get("dependsOn") for one in aws.submitted] == [None, [{"jobId": "22222222-0000"}]]


def test_it_follows_a_job_before_it_that_was_resumed_twice() -> None:
    aws = ResumeAws(drained())
    run(aws)
    again = aws.described["22222222-0000"]
    again |= {key: drained()[key] for key in ("status", "statusReason", "isTerminated", "stoppedAt")}
    run(aws, NOW + MINUTE)
    aws.described["99999999-0000"] = dependent()
    run_for(aws, 2, start=NOW + 2 * MINUTE)
    assert aws.submitted[-1]["dependsOn"] == [{"jobId": "33333333-0000"}]


@pytest.mark.parametrize(
    ("before", "others"),
    [
        (drained(tags={}), []),  # no resumes left
        (drained(statusReason="Essential container in task exited", isTerminated=False), []),
        (drained(), [multi_node("55555555-0000", status="FAILED", statusReason="exit 1", stoppedAt=1)]),
    ],
)
def test_a_job_whose_job_before_ended_for_good_is_not_submitted_again(
    before: dict[str, Any], others: list[dict[str, Any]]
) -> None:
    waiting = dependent("99999999-0000", "11111111-0000", *(job["jobId"] for job in others))
    aws = ResumeAws(before, waiting, *others)
    run_for(aws, 3)
    assert all(one["jobName"].startswith("pretrain") for one in aws.submitted)


def test_it_waits_for_jobs_that_still_run_and_no_longer_for_those_that_succeeded() -> None:
    done = multi_node("55555555-0000", status="SUCCEEDED")
    aws = ResumeAws(
        drained(),
        done,
        multi_node("66666666-0000"),
        dependent("99999999-0000", "55555555-0000", "66666666-0000", "11111111-0000"),
    )
    run_for(aws, 3)
    assert aws.submitted[1]["dependsOn"] == [{"jobId": "66666666-0000"}, {"jobId": "22222222-0000"}]


def test_an_array_that_waited_is_submitted_again_whole() -> None:
    aws = ResumeAws(drained(), dependent(arrayProperties={"size": 8}))
    run_for(aws, 3)
    assert aws.submitted[1]["arrayProperties"] == {"size": 8}


def test_an_array_that_ran_after_another_job_goes_on_after_the_loss_of_a_node() -> None:
    node_array = {
        **dependent("11111111-0000", "55555555-0000"),
        "tags": {"ultracluster:resume": "2"},
        "statusReason": "Array Child Job failed",
        "arrayProperties": {"size": 2},
        "container": {"environment": [{"name": ARRAY_NODES_VARIABLE, "value": "2"}]},
    }
    del node_array["nodeProperties"]
    aws = ResumeAws(node_array, multi_node("55555555-0000", status="SUCCEEDED"))
    aws.described["11111111-0000:0"] = drained(
        "11111111-0000:0", statusReason="Host EC2 terminated.", isTerminated=False
    )
    run(aws)
    (request,) = aws.submitted
    assert (request["arrayProperties"], request["tags"]["ultracluster:resume"]) == ({"size": 2}, "1")
    assert "dependsOn" not in request
