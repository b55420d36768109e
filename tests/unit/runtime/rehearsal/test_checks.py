"""What a rehearsal says of AWS's answers: of sound ones, and of each that breaks a check, in AWS's words with a remedy."""

import base64
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.unit.runtime.preflight.preflight_cases import NOW, ROLLOUT

from ultracluster_runtime.preflight.check import Outcome, Status
from ultracluster_runtime.preflight.run import run_checks
from ultracluster_runtime.rehearsal.checks import PROBE_CHECKS, REHEARSAL_CHECKS
from ultracluster_runtime.rehearsal.reader import RehearsalReader

CHECKS = (*PROBE_CHECKS, *REHEARSAL_CHECKS)
POLICY = "arn:aws:batch:us-east-2:1:scheduling-policy/p"


def refusal(words: str, code: str = "ClientException") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": words}}, "Any")


# amazon-genomics-cli#209
TYPES = refusal(
    "Error executing request, Exception : Instance type can only be one of [trn2.48xlarge, c5, optimal]"
)
DRY_RUN = refusal("Request would have succeeded, but DryRun flag is set.", "DryRunOperation")


def stack_of(resources: dict[str, str]) -> dict[str, Any]:
    found = [{"ResourceType": kind, "PhysicalResourceId": name} for kind, name in resources.items()]
    return {"StackResourceSummaries": found}


class Aws:
    """Answers by operation; each call is kept."""

    def __init__(self, **changed: Any) -> None:
        environment = {
            "computeEnvironmentName": "ce",
            "status": "VALID",
            "statusReason": "ComputeEnvironment Healthy",
            "computeResources": {
                "instanceTypes": ["trn2.48xlarge"],
                "instanceRole": "arn:role",
                "subnets": ["subnet-1"],
                "launchTemplate": {"launchTemplateId": "lt-1", "version": "1"},
                "ec2Configuration": [{"imageIdOverride": "ami-1"}],
            },
        }
        resources = {
            "AWS::Batch::ComputeEnvironment": "ce",
            "AWS::Batch::JobQueue": "q",
            "AWS::Batch::JobDefinition": "d:1",
            "AWS::Lambda::Function": "life",
        }
        self.answers: dict[str, Any] = {
            "create_compute_environment": TYPES,
            "describe_stacks": {"Stacks": [{"StackStatus": "CREATE_COMPLETE"}]},
            "list_stack_resources": stack_of(resources),
            "describe_compute_environments": {"computeEnvironments": [environment]},
            "describe_job_queues": {
                "jobQueues": [
                    {
                        "jobQueueName": "q",
                        "jobQueueArn": "q",
                        "status": "VALID",
                        "schedulingPolicyArn": POLICY,
                    }
                ]
            },
            "describe_job_definitions": {
                "jobDefinitions": [
                    {
                        "jobDefinitionName": "train",
                        "jobDefinitionArn": "d:1",
                        "status": "ACTIVE",
                        "schedulingPriority": 0,
                    }
                ]
            },
            "describe_scheduling_policies": {
                "schedulingPolicies": [
                    {"fairsharePolicy": {"shareDistribution": [{"shareIdentifier": "red*"}]}}
                ]
            },
            "describe_launch_template_versions": {
                "LaunchTemplateVersions": [
                    {"LaunchTemplateData": {"NetworkInterfaces": [{"DeviceIndex": 0}]}}
                ]
            },
            "run_instances": DRY_RUN,
            "get_function_configuration": {"Handler": "ultracluster_runtime.lifecycle.handler.handler"},
            "invoke": {"LogResult": base64.b64encode(b"START 1\nno such reservation\nEND 1\n").decode()},
            "submit_job": {"jobId": "j"},
            "terminate_job": {},
            "update_compute_environment": {},
        } | changed
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        def call(**parameters: Any) -> Any:
            self.asked.append((name, parameters))
            answer = self.answers[name]
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call

    def get_paginator(self, operation: str) -> Any:
        return SimpleNamespace(paginate=lambda **parameters: [getattr(self, operation)(**parameters)])

    def outcomes(self) -> dict[str, Outcome]:
        reader = RehearsalReader(lambda *_: self, now=NOW, seconds=10)
        return {result.code: result.outcome for result in run_checks(ROLLOUT, reader, checks=CHECKS)}


def failed_stack(*reasons: str) -> dict[str, Any]:
    return {
        "describe_stacks": {"Stacks": [{"StackStatus": "CREATE_FAILED"}]},
        "describe_stack_events": {
            "StackEvents": [
                {
                    "ResourceStatus": "CREATE_FAILED",
                    "ResourceType": "AWS::Any::Thing",
                    "LogicalResourceId": "Thing",
                    "ResourceStatusReason": reason,
                }
                for reason in reasons
            ]
        },
    }


def listed(key: str, **changed: str) -> dict[str, Any]:
    operation = {
        "computeEnvironments": "compute_environments",
        "jobQueues": "job_queues",
        "jobDefinitions": "job_definitions",
    }
    name = f"describe_{operation[key]}"
    (described,) = Aws().answers[name][key]
    return {name: {key: [described | changed]}}


BROKEN: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "a type that AWS Batch does not know": (
        "UC9710",
        {"create_compute_environment": refusal("Instance type can only be one of [c5.large, optimal]")},
        "trn2.48xlarge is not among the 2 types and families that AWS Batch lists in us-east-2",
        "use `launched_by: auto-scaling`",
    ),
    "no list of types": (
        "UC9710",
        {
            "create_compute_environment": refusal(
                "no identity-based policy allows it", "AccessDeniedException"
            )
        },
        "AWS Batch listed no types: AccessDeniedException: no identity-based policy allows it",
        "rehearse again",
    ),
    "a refused definition": (
        "UC9711",
        failed_stack(
            "Resource creation cancelled",
            "Error executing request, Exception : Job definition size 24628 exceeds the maximum size of 24576 bytes",
        ),
        "AWS::Any::Thing Thing: Error executing request, Exception : Job definition size 24628 exceeds",
        "Change what the message names",
    ),
    "a role that may not pass": (
        "UC9711",
        failed_stack(
            "User: u is not authorized to perform: iam:PassRole on resource: arn:aws:iam::1:role/nodes because"
        ),
        "not authorized to perform: iam:PassRole on resource: arn:aws:iam::1:role/nodes",
        "Allow iam:PassRole on arn:aws:iam::1:role/nodes for the role that CloudFormation uses",
    ),
    "a quota of 10 concurrent executions": (
        "UC9711",
        failed_stack("decreases account's UnreservedConcurrentExecution below its minimum value of [10]."),
        "below its minimum value of [10]",
        "--quota-code L-B99A9384",
    ),
    "an environment that is INVALID": (
        "UC9712",
        listed(
            "computeEnvironments",
            status="INVALID",
            statusReason="CLIENT_ERROR - User u is not authorized to perform: ecs:ListClusters",
        ),
        "ce is INVALID: CLIENT_ERROR - User u is not authorized to perform: ecs:ListClusters",
        "Allow ecs:ListClusters",
    ),
    "a queue that is INVALID": (
        "UC9713",
        listed("jobQueues", status="INVALID", statusReason="its environments are INVALID"),
        "q is INVALID: its environments are INVALID",
        "rehearse again",
    ),
    "a definition that is gone": (
        "UC9714",
        listed("jobDefinitions", status="INACTIVE"),
        "train is INACTIVE: no reason",
        "rehearse again",
    ),
    "a launch template that EC2 rejects": (
        "UC9715",
        {"run_instances": refusal("Interface count 17 exceeds the limit", "AttachmentLimitExceeded")},
        "ce: AttachmentLimitExceeded: Interface count 17 exceeds the limit",
        "rehearse again",
    ),
    "a dry run that starts something": (
        "UC9715",
        {"run_instances": {}},
        "ce: no answer to the dry run",
        "rehearse again",
    ),
    "a function that fails": (
        "UC9716",
        {
            "invoke": {
                "FunctionError": "Unhandled",
                "LogResult": base64.b64encode(b"LifecycleError: no").decode(),
            }
        },
        "life: Unhandled: LifecycleError: no",
        "rehearse again",
    ),
    "a function that may not be invoked": (
        "UC9716",
        {
            "invoke": refusal(
                "User: u is not authorized to perform: lambda:InvokeFunction", "AccessDeniedException"
            )
        },
        "life: AccessDeniedException",
        "Allow lambda:InvokeFunction",
    ),
    "a job without a priority": (
        "UC9717",
        {"submit_job": refusal("Either schedulingPriority in job definition or schedulingPriorityOverride")},
        "train without a share: ClientException: Either schedulingPriority in job definition",
        "rehearse again",
    ),
}


def test_sound_answers_pass_every_check() -> None:
    outcomes = Aws().outcomes()

    assert {code: outcome.status for code, outcome in outcomes.items()} == dict.fromkeys(
        outcomes, Status.PASS
    )
    assert outcomes["UC9716"].evidence == "ran: life: no such reservation"
    assert (
        outcomes["UC9717"].evidence == "accepted and cancelled: train without a share, train with share red"
    )


@pytest.mark.parametrize("case", BROKEN)
def test_every_check_has_a_case_that_breaks_it(case: str) -> None:
    code, changed, evidence, remedy = BROKEN[case]

    outcome = Aws(**changed).outcomes()[code]

    assert outcome.status is Status.FAIL
    assert evidence in outcome.evidence
    assert remedy in outcome.remedy


def test_the_cases_break_every_check() -> None:
    assert {code for code, *_ in BROKEN.values()} == {check.code for check in CHECKS}


def test_a_consequence_of_a_failure_is_not_named() -> None:
    _, changed, _, _ = BROKEN["a refused definition"]

    assert "cancelled" not in Aws(**changed).outcomes()["UC9711"].evidence


def test_a_dry_run_that_ends_at_the_placeholder_shows_nothing() -> None:
    words = refusal(
        "The capacity reservation ID 'cr-0' does not exist", "InvalidCapacityReservationId.NotFound"
    )

    outcome = Aws(run_instances=words).outcomes()["UC9715"]

    assert outcome.status is Status.WARN
    assert outcome.evidence.startswith("could not be shown for ce, because EC2 ends at the reservation")
    assert "The capacity reservation ID 'cr-0' does not exist" in outcome.evidence
    assert "as soon as it is bought" in outcome.remedy


def test_a_dry_run_names_the_subnet_at_each_interface() -> None:
    aws = Aws()
    aws.outcomes()

    (request,) = [parameters for name, parameters in aws.asked if name == "run_instances"]
    assert request["DryRun"] is True
    assert request["NetworkInterfaces"] == [{"DeviceIndex": 0, "SubnetId": "subnet-1"}]
    assert "SubnetId" not in request


def test_a_dry_run_asks_for_the_launch_template_of_an_auto_scaling_group() -> None:
    resources = {"AWS::Batch::ComputeEnvironment": "ce", "AWS::AutoScaling::AutoScalingGroup": "group"}
    group = {
        "AutoScalingGroupName": "group",
        "LaunchTemplate": {"LaunchTemplateId": "lt-2", "Version": "3"},
        "VPCZoneIdentifier": "subnet-2,subnet-3",
    }
    aws = Aws(
        list_stack_resources=stack_of(resources),
        describe_compute_environments={
            "computeEnvironments": [{"computeEnvironmentName": "ce", "status": "VALID"}]  # unmanaged
        },
        describe_auto_scaling_groups={"AutoScalingGroups": [group]},
    )

    assert aws.outcomes()["UC9715"].status is Status.PASS
    (request,) = [parameters for name, parameters in aws.asked if name == "run_instances"]
    assert request["LaunchTemplate"] == {"LaunchTemplateId": "lt-2", "Version": "3"}
    assert request["NetworkInterfaces"] == [{"DeviceIndex": 0, "SubnetId": "subnet-2"}]
    assert "InstanceType" not in request  # the template has it


def test_no_job_is_submitted_to_an_environment_that_cannot_be_disabled() -> None:
    aws = Aws(update_compute_environment=refusal("Cannot update, resource is being modified"))

    outcome = aws.outcomes()["UC9717"]

    assert outcome.status is Status.FAIL
    assert "could not be disabled, and no job was submitted" in outcome.evidence
    assert "submit_job" not in [name for name, _ in aws.asked]


def test_every_job_that_was_accepted_is_cancelled() -> None:
    aws = Aws()
    aws.outcomes()

    names = [name for name, _ in aws.asked]
    assert names.count("submit_job") == 2
    assert names.index("update_compute_environment") < names.index("submit_job")
    assert "terminate_job" in names


def test_without_resources_there_is_nothing_to_check() -> None:
    outcomes = Aws(list_stack_resources=refusal("Stack does not exist", "ValidationError")).outcomes()

    skipped = {code for code, outcome in outcomes.items() if outcome.status is Status.SKIP}
    assert skipped == {"UC9712", "UC9713", "UC9714", "UC9715", "UC9716", "UC9717"}


def test_batch_needs_no_type_that_an_auto_scaling_group_starts() -> None:
    (cluster,) = ROLLOUT.clusters
    grouped = replace(cluster, capacity=replace(cluster.capacity, launched_by="auto-scaling"))
    reader = RehearsalReader(lambda *_: Aws(), now=NOW, seconds=10)

    (result,) = run_checks(replace(ROLLOUT, clusters=(grouped,)), reader, checks=PROBE_CHECKS)

    assert result.outcome.status is Status.SKIP


def test_functions_that_act_on_what_invoked_them_are_left_alone() -> None:
    aws = Aws(get_function_configuration={"Handler": "ultracluster_runtime.functions.close_queues.handler"})

    assert aws.outcomes()["UC9716"].status is Status.SKIP
    assert "invoke" not in [name for name, _ in aws.asked]
