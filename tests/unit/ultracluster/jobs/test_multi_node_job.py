import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import allowed, of_type, only, queue
from tests.unit.ultracluster.jobs.multi_node_jobs import container, job, node_properties

pytestmark = pytest.mark.synth


def test_runs_on_all_nodes_of_the_queue_by_default(stack: cdk.Stack) -> None:
    job(stack)
    properties = node_properties(stack)
    assert (properties["NumNodes"], properties["MainNode"]) == (4, 0)
    # A range without an end is the only one whose number of nodes can be changed at submission.
    assert [each["TargetNodes"] for each in properties["NodeRangeProperties"]] == ["0:"]


def test_runs_on_fewer_nodes_on_request(stack: cdk.Stack) -> None:
    job(stack, node_count=2)
    assert node_properties(stack)["NumNodes"] == 2


def test_one_node_needs_no_efa(stack: cdk.Stack) -> None:
    job(stack, queue(stack, instance_type="trn1.2xlarge", max_nodes=2), node_count=1)
    assert [each["HostPath"] for each in container(stack)["LinuxParameters"]["Devices"]] == ["/dev/neuron0"]


def test_retries_only_jobs_whose_host_was_lost(stack: cdk.Stack) -> None:
    job(stack, attempts=3)
    assert only(stack, "AWS::Batch::JobDefinition")["RetryStrategy"] == {
        "Attempts": 3,
        "EvaluateOnExit": [
            {"Action": "RETRY", "OnStatusReason": "Host EC2*"},
            {"Action": "EXIT", "OnReason": "*"},
        ],
    }


def test_ends_after_its_timeout(stack: cdk.Stack) -> None:
    job(stack, timeout=cdk.Duration.hours(2))
    assert only(stack, "AWS::Batch::JobDefinition")["Timeout"] == {"AttemptDurationSeconds": 7200}


def test_a_job_can_pull_only_its_own_image(stack: cdk.Stack) -> None:
    job(stack)
    statements = allowed(stack, "What AWS Batch does for the job")
    (pull,) = [each for each in statements if each.get("Sid") == "Pull"]
    assert "123456789012:repository/training" in str(pull["Resource"])
    everything = [each for each in statements if each["Resource"] == "*"]
    assert [each["Action"] for each in everything] == ["ecr:GetAuthorizationToken"]


def test_roles_are_for_tasks_of_this_account_only(stack: cdk.Stack) -> None:
    job(stack)
    trust = [
        each["Properties"]["AssumeRolePolicyDocument"]["Statement"][0]
        for each in of_type(stack, "AWS::IAM::Role")
    ]
    tasks = [each for each in trust if each["Principal"] == {"Service": "ecs-tasks.amazonaws.com"}]
    assert len(tasks) == 2
    assert all(
        each["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
        for each in tasks
    )


def test_the_definition_stays_under_the_size_that_aws_batch_takes(stack: cdk.Stack) -> None:
    job(stack)
    # 24 KiB, AWS Batch User Guide (service quotas), 2026-10.
    assert len(str(only(stack, "AWS::Batch::JobDefinition"))) < 24 * 1024
