import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import of_type, queue
from tests.unit.ultracluster.jobs.defined_jobs import container, environment, job

pytestmark = pytest.mark.slow


def test_one_node_needs_no_efa(stack: cdk.Stack) -> None:
    job(stack, queue(stack, instance_type="trn1.2xlarge", max_nodes=2), nodes=1)
    assert [each["HostPath"] for each in container(stack)["LinuxParameters"]["Devices"]] == ["/dev/neuron0"]


def test_words_that_a_shell_would_change_are_encoded(stack: cdk.Stack) -> None:
    # AWS's Neuron images run `eval "$@"` (aws-neuron/deep-learning-containers, start_with_right_hostname.sh, 2026-08).
    job(stack, command=["train.py", "two words", "Ref::steps", f"s3://{cdk.Aws.ACCOUNT_ID}-data"])
    assert container(stack)["Command"][3:] == [
        "train.py",
        "base64:dHdvIHdvcmRz",
        "Ref::steps",
        {
            "Fn::Join": [
                "",
                [
                    "base64:",
                    {"Fn::Base64": {"Fn::Join": ["", ["s3://", {"Ref": "AWS::AccountId"}, "-data"]]}},
                ],
            ]
        },
    ]


def test_the_environment_is_that_of_awss_own_multi_node_runs(stack: cdk.Stack) -> None:
    # aws-neuron/neuronx-distributed-training, examples/train_setup.sh; Neuron documentation, trn2 tutorials, 2026-08.
    job(stack, environment={"MALLOC_ARENA_MAX": "64"})
    assert environment(stack)["NEURON_RT_EXEC_TIMEOUT"] == "600"
    assert environment(stack)["MALLOC_ARENA_MAX"] == "64"  # what the user sets wins


def test_gpu_jobs_have_no_neuron_variables(stack: cdk.Stack) -> None:
    job(stack, queue(stack, instance_type="p5.48xlarge"))
    assert not [name for name in environment(stack) if name.startswith("NEURON")]


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
