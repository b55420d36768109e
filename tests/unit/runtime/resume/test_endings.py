"""Which endings let a job go on, and how it is submitted again."""

from typing import Any

import botocore.session
import pytest
from botocore.validate import validate_parameters
from tests.unit.runtime.resume.resume_aws import (
    DEFINITION,
    DRAINED,
    container,
    definition,
    dependent,
    drained,
    multi_node,
)

from ultracluster_runtime.lifecycle.plan import DRAIN_REASON
from ultracluster_runtime.resume.endings import (
    Ending,
    ending_of,
    failed_dependencies,
    resubmission,
)

SUBMIT_JOB = botocore.session.Session().get_service_model("batch").operation_model("SubmitJob").input_shape
HOST = "Host EC2 (instance i-0e234208f6fc9291f) terminated."
DEFINED = definition(3)


def failed(**changes: Any) -> dict[str, Any]:
    return multi_node(
        "11111111-0000",
        **{"status": "FAILED", "statusReason": "Essential container in task exited", "stoppedAt": 100}
        | changes,
    )


def node(index: int, **changes: Any) -> dict[str, Any]:
    return {"jobId": f"11111111-0000#{index}", "status": "FAILED", "stoppedAt": 100} | changes


@pytest.mark.parametrize(
    ("job", "nodes", "kind"),
    [
        (drained(), [], "drained"),
        (failed(statusReason=HOST), [], "lost"),
        (failed(statusReason="Host EC2 terminated"), [], "lost"),
        (failed(container={"reason": HOST}), [], "lost"),
        (failed(attempts=[{"container": {"reason": HOST}}]), [], "lost"),
        (failed(attempts=[{"container": {}}, {"statusReason": HOST, "container": {}}]), [], "lost"),
        # The main node fails soon after another one was lost.
        (failed(container={"exitCode": 1}), [node(0), node(2, stoppedAt=90, statusReason=HOST)], "lost"),
        # The launcher of the main node misses another one, which AWS Batch still shows as running.
        (failed(container={"exitCode": 112}), [], "lost"),
        (failed(attempts=[{"container": {"exitCode": 112}}]), [], "lost"),
        (failed(), [node(0, container={"exitCode": 112}), node(1)], "lost"),
        (failed(), [node(0), node(1, container={"exitCode": 112})], None),
        # A failure of the program, after which nodes are ended.
        (failed(container={"exitCode": 1}), [node(0), node(1)], None),
        (failed(container={"exitCode": 1}), [node(2, stoppedAt=101, statusReason=HOST)], None),
        (failed(attempts=[{"statusReason": HOST, "container": {}}, {"container": {}}]), [], None),
        # Stopped by a person, also when a node was lost before; by a time limit; for a dependency.
        (failed(isTerminated=True, statusReason="Stopped with ultracluster jobs stop"), [], None),
        (failed(isTerminated=True, statusReason="enough"), [node(1, stoppedAt=9, statusReason=HOST)], None),
        (failed(isCancelled=True, statusReason="CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"), [], None),
        (failed(statusReason="Dependent Job failed"), [], None),
        (failed(statusReason="Job attempt duration exceeded timeout"), [], None),
        (failed(statusReason="the Host EC2 was mentioned"), [], None),
        # Not ended, or well.
        (multi_node("1", statusReason=HOST), [], None),
        (failed(status="SUCCEEDED", statusReason=HOST), [], None),
    ],
)
def test_a_job_goes_on_after_a_drain_or_the_loss_of_a_node_only(
    job: dict[str, Any], nodes: list[dict[str, Any]], kind: str | None
) -> None:
    ending = ending_of(job, nodes)
    assert (ending.kind if ending else None) == kind


@pytest.mark.parametrize("attempt", [{}, {"attempts": [{"container": {"exitCode": 112}}]}])
def test_the_exit_code_of_a_lost_node_is_that_of_our_launcher_only(attempt: dict[str, Any]) -> None:
    foreign = failed(container={"exitCode": 112, "command": ["nextflow"]}, **attempt)
    del foreign["nodeProperties"]
    assert ending_of(foreign, []) is None
    ours = foreign | {"container": {"exitCode": 112, **container()}}
    assert ending_of(ours, []) == Ending(kind="lost", reason="a node was lost")


def child(index: int, **changes: Any) -> dict[str, Any]:
    return {"jobId": f"11111111-0000:{index}", "status": "FAILED", "stoppedAt": 100} | changes


@pytest.mark.parametrize(
    ("children", "kind"),
    [
        ([child(0, statusReason=DRAINED, isTerminated=True), child(1, isTerminated=True)], "drained"),
        ([child(0, container={"exitCode": 112}), child(1, statusReason=HOST)], "lost"),
        ([child(0), child(1, container={"exitCode": 112})], "lost"),
        ([child(0, container={"exitCode": 1}), child(1, container={"exitCode": 1})], None),
        # A person stopped one child, and the others lost it.
        ([child(0, container={"exitCode": 112}), child(1, isTerminated=True, statusReason="enough")], None),
    ],
)
def test_an_array_that_is_one_job_ends_as_its_children_did(
    children: list[dict[str, Any]], kind: str | None
) -> None:
    array = failed(statusReason="Array Child Job failed", arrayProperties={"size": 2}, container=container())
    del array["nodeProperties"]
    ending = ending_of(array, children)
    assert (ending.kind if ending else None) == kind
    assert resubmission(array, {}, left=0)["arrayProperties"] == {"size": 2}


def test_the_reason_names_the_node() -> None:
    ending = ending_of(failed(statusReason=HOST), [])
    assert ending is not None
    assert ending.reason == "node i-0e234208f6fc9291f was lost"


def test_the_reason_of_a_drain_is_the_one_that_the_life_cycle_gives() -> None:
    assert DRAINED.startswith(DRAIN_REASON)


def test_a_job_is_submitted_again_as_it_was_with_one_resume_less() -> None:
    assert resubmission(drained(), DEFINED, left=2) == {
        "jobName": "pretrain-resume-11111111",
        "jobQueue": drained()["jobQueue"],
        "jobDefinition": DEFINITION,
        "tags": {"ultracluster:resume": "2", "ultracluster:resume-of": "11111111-0000"},
    }


def test_the_name_of_a_chain_does_not_grow() -> None:
    again = resubmission(drained(jobName="pretrain-resume-00000000"), DEFINED, left=2)
    assert again["jobName"] == "pretrain-resume-11111111"
    longest = resubmission(drained(jobName="x" * 128), DEFINED, left=2)["jobName"]
    assert (len(longest), longest[-16:]) == (128, "-resume-11111111")


def test_a_job_on_one_node_keeps_its_overrides() -> None:
    job = {
        "jobId": "11111111-0000",
        "jobName": "tune",
        "jobQueue": "q",
        "jobDefinition": "d",
        "container": {"command": ["a", "b"], "environment": []},
    }
    assert resubmission(job, {"containerProperties": {"command": ["a"]}}, left=0)["containerOverrides"] == {
        "command": ["a", "b"]
    }
    assert "containerOverrides" not in resubmission(
        job, {"containerProperties": {"command": ["a", "b"]}}, left=0
    )


@pytest.mark.parametrize(
    ("changes", "after"),
    [
        ({}, ("11111111-0000",)),
        ({"startedAt": 5}, ()),  # it ran: its end is its own
        ({"status": "PENDING"}, ()),
        ({"isTerminated": True}, ()),
        ({"isCancelled": True}, ()),
        ({"dependsOn": []}, ()),
    ],
)
def test_a_job_that_never_started_ended_with_the_jobs_that_it_waited_for(
    changes: dict[str, Any], after: tuple[str, ...]
) -> None:
    assert failed_dependencies(dependent() | changes) == after


def test_a_job_is_submitted_again_after_other_jobs_and_as_the_array_that_it_was() -> None:
    again = resubmission(
        dependent(arrayProperties={"size": 8}), DEFINED, left=0, after=("11111111-0000", "33333333-0000")
    )
    assert again["dependsOn"] == [{"jobId": "11111111-0000"}, {"jobId": "33333333-0000"}]
    assert again["arrayProperties"] == {"size": 8}


def test_what_the_first_submission_set_is_kept_and_what_aws_batch_sets_is_not() -> None:
    requirements = [{"type": "VCPU", "value": "96"}, {"type": "MEMORY", "value": "4096"}]
    ran = container(
        instanceType="trn1.32xlarge",
        resourceRequirements=[*requirements, {"type": "GPU", "value": "1"}],
        command=["other.py"],
        environment=[
            {"name": "AWS_BATCH_JOB_ID", "value": "1"},
            {"name": "SEED", "value": "7"},
            {"name": "SAME", "value": "as before"},
        ],
    )
    retry = {"attempts": 4, "evaluateOnExit": [{"onExitCode": "9", "action": "RETRY"}]}
    job = drained(
        retryStrategy=retry,
        timeout={"attemptDurationSeconds": 600},
        shareIdentifier="research",
        schedulingPriority=7,
        parameters={"steps": "9"},
        tags={"ultracluster:resume": "3", "team": "vision", "aws:x": "y"},
        propagateTags=True,
        consumableResourceProperties={
            "consumableResourceList": [{"consumableResource": "seat", "quantity": 1}]
        },
        nodeProperties={
            "numNodes": 2,
            "mainNode": 0,
            "nodeRangeProperties": [
                {"targetNodes": "0:1", "container": ran, "instanceTypes": ["trn1.32xlarge"]}
            ],
        },
    )
    defined = DEFINED | {
        "retryStrategy": {"attempts": 3, "evaluateOnExit": []},
        "nodeProperties": {
            "numNodes": 4,
            "mainNode": 0,
            "nodeRangeProperties": [
                {
                    "targetNodes": "0:",
                    "container": container(
                        resourceRequirements=[
                            {"type": "MEMORY", "value": "4096"},
                            {"type": "VCPU", "value": "192"},
                        ],
                        environment=[{"name": "SAME", "value": "as before"}],
                    ),
                    "instanceTypes": ["trn2.48xlarge"],
                }
            ],
        },
    }

    request = resubmission(job, defined, left=1)

    assert request["nodeOverrides"] == {
        "numNodes": 2,
        "nodePropertyOverrides": [
            {
                "targetNodes": "0:",
                "instanceTypes": ["trn1.32xlarge"],
                "containerOverrides": {
                    "command": ["other.py"],
                    "environment": [{"name": "SEED", "value": "7"}],
                    "instanceType": "trn1.32xlarge",
                    "resourceRequirements": [{"type": "VCPU", "value": "96"}, {"type": "GPU", "value": "1"}],
                },
            }
        ],
    }
    kept = ("retryStrategy", "timeout", "shareIdentifier", "parameters", "propagateTags")
    assert {member: request[member] for member in kept} == {member: job[member] for member in kept}
    assert request["schedulingPriorityOverride"] == 7
    assert request["tags"]["team"] == "vision"
    assert "aws:x" not in request["tags"]
    validate_parameters(request, SUBMIT_JOB)


def test_what_the_definition_says_is_not_repeated() -> None:
    requirements = [{"type": "VCPU", "value": "4"}, {"type": "MEMORY", "value": "2048"}]
    ran = container(vcpus=4, memory=2048, resourceRequirements=requirements, environment=[])
    defined = container(vcpus=4, memory=2048)
    job = drained(container=ran, retryStrategy={"attempts": 3, "evaluateOnExit": []})
    del job["nodeProperties"]
    request = resubmission(
        job, {"containerProperties": defined, "retryStrategy": {"attempts": 3}, "tags": {}}, left=0
    )
    assert {"containerOverrides", "retryStrategy"}.isdisjoint(request)


@pytest.mark.parametrize(("asked", "kept"), [("4.0", []), ("8", [{"type": "VCPU", "value": "8"}])])
def test_deprecated_members_count_as_requirements(asked: str, kept: list[dict[str, str]]) -> None:
    job = drained(container=container(resourceRequirements=[{"type": "VCPU", "value": asked}]))
    del job["nodeProperties"]
    request = resubmission(job, {"containerProperties": container(vcpus=4)}, left=0)
    assert request.get("containerOverrides", {}).get("resourceRequirements", []) == kept


def test_a_task_with_several_containers_keeps_the_overrides_of_each() -> None:
    def task(command: str, value: str) -> dict[str, Any]:
        train = {"name": "train", "command": [command], "environment": [{"name": "LR", "value": value}]}
        return {"taskProperties": [{"containers": [train, {"name": "logs", "command": ["fluentbit"]}]}]}

    job = drained(ecsProperties=task("other.py", "2"))
    del job["nodeProperties"]
    request = resubmission(job, {"ecsProperties": task("train.py", "1")}, left=0)
    changes = {"name": "train", "command": ["other.py"], "environment": [{"name": "LR", "value": "2"}]}
    assert request["ecsPropertiesOverride"] == {"taskProperties": [{"containers": [changes]}]}
    validate_parameters(request, SUBMIT_JOB)
