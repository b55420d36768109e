from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.unit.ultracluster.builders import IMAGE, allowed, network, nodes, of_type, only, queue

from ultracluster import CompileCache, MultiNodeJob, SharedFileSystem, TrainingQueue
from ultracluster_rules.findings import FindingsError

pytestmark = pytest.mark.synth

# Neuron devices and EFA interfaces of each type: ECS Developer Guide (Neuron table) and EC2 User Guide (EFA), 2026-10.
DEVICES = {
    "trn1.32xlarge": (16, 8),
    "trn1n.32xlarge": (16, 16),
    "trn2.48xlarge": (16, 16),
    "trn2.3xlarge": (1, 1),
}


def job(stack: cdk.Stack, training: TrainingQueue | None = None, **changes: Any) -> MultiNodeJob:
    given = {"queue": training or queue(stack), "image": IMAGE, "command": ["train.py", "--steps", "10"]}
    return MultiNodeJob(stack, "Pretrain", **given | changes)


def node_properties(stack: cdk.Stack) -> dict[str, Any]:
    return dict(only(stack, "AWS::Batch::JobDefinition")["NodeProperties"])


def container(stack: cdk.Stack) -> dict[str, Any]:
    (node_range,) = node_properties(stack)["NodeRangeProperties"]
    return dict(node_range["Container"])


def environment(stack: cdk.Stack) -> dict[str, Any]:
    return {each["Name"]: each["Value"] for each in container(stack)["Environment"]}


@pytest.mark.parametrize("instance_type", DEVICES)
def test_maps_every_neuron_and_efa_device_by_name(stack: cdk.Stack, instance_type: str) -> None:
    neuron, efa = DEVICES[instance_type]
    job(stack, queue(stack, instance_type=instance_type))
    devices = container(stack)["LinuxParameters"]["Devices"]
    paths = [f"/dev/neuron{index}" for index in range(neuron)]
    paths += [f"/dev/infiniband/uverbs{index}" for index in range(efa)]
    assert [each["HostPath"] for each in devices] == paths
    assert [each["ContainerPath"] for each in devices] == paths
    assert all(set(each["Permissions"]) >= {"READ", "WRITE"} for each in devices)
    assert "Privileged" not in container(stack)


def test_takes_the_whole_node_less_what_the_agent_keeps(stack: cdk.Stack) -> None:
    job(stack, queue(stack, instance_type="trn1.32xlarge"))
    requirements = {each["Type"]: int(each["Value"]) for each in container(stack)["ResourceRequirements"]}
    # 507,821 MiB is what a trn1.32xlarge registers (pytorch/torchx#795); asking for 512 GiB waits for ever.
    assert requirements == {"VCPU": 128, "MEMORY": 507_821}
    assert container(stack)["InstanceType"] == "trn1.32xlarge"


def test_pins_memory_for_efa_and_shares_enough_of_it(stack: cdk.Stack) -> None:
    job(stack)
    limits = {each["Name"]: (each["SoftLimit"], each["HardLimit"]) for each in container(stack)["Ulimits"]}
    assert limits["memlock"] == (-1, -1)
    assert container(stack)["LinuxParameters"]["SharedMemorySize"] == 49152


def test_runs_on_all_nodes_of_the_queue_by_default(stack: cdk.Stack) -> None:
    job(stack)
    properties = node_properties(stack)
    assert (properties["NumNodes"], properties["MainNode"]) == (4, 0)
    # A range without an end is the only one whose number of nodes can be changed at submission.
    assert [each["TargetNodes"] for each in properties["NodeRangeProperties"]] == ["0:"]


def test_runs_on_fewer_nodes_on_request(stack: cdk.Stack) -> None:
    job(stack, node_count=2)
    assert node_properties(stack)["NumNodes"] == 2


@pytest.mark.parametrize("node_count", [0, 5, -1])
def test_rejects_more_nodes_than_the_queue_has(stack: cdk.Stack, node_count: int) -> None:
    with pytest.raises(FindingsError, match=r"UC6101: node_count: .* Allowed: 1 to 4"):
        job(stack, node_count=node_count)


def test_rejects_several_nodes_of_a_type_without_efa(stack: cdk.Stack) -> None:
    training = queue(stack, instance_type="trn1.2xlarge", max_nodes=2)
    with pytest.raises(FindingsError, match=r"UC6102: .*trn1.2xlarge has no EFA.*trn1.32xlarge"):
        job(stack, training)


def test_one_node_needs_no_efa(stack: cdk.Stack) -> None:
    job(stack, queue(stack, instance_type="trn1.2xlarge", max_nodes=2), node_count=1)
    assert [each["HostPath"] for each in container(stack)["LinuxParameters"]["Devices"]] == ["/dev/neuron0"]


def test_starts_one_process_per_logical_neuroncore_by_default(stack: cdk.Stack) -> None:
    job(stack)
    assert environment(stack)["UC_PROCESSES_PER_NODE"] == "64"


def test_starts_the_requested_number_of_processes(stack: cdk.Stack) -> None:
    job(stack, processes_per_node=128)
    assert environment(stack)["UC_PROCESSES_PER_NODE"] == "128"


def test_jax_gets_one_process_and_the_devices_of_a_node(stack: cdk.Stack) -> None:
    job(stack, launcher="jax", command=["python3", "train.py"], processes_per_node=1)
    assert environment(stack)["UC_PROCESSES_PER_NODE"] == "1"
    assert environment(stack)["UC_DEVICES_PER_NODE"] == "64"
    assert container(stack)["Command"][2:] == ["jax", "python3", "train.py"]


def test_a_raw_program_only_gets_basic_variables(stack: cdk.Stack) -> None:
    job(stack, launcher="raw", command=["run"])
    assert container(stack)["Command"][2:] == ["raw", "run"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"launcher": "jax", "processes_per_node": 64}, "UC6140"),
        ({"launcher": "raw", "processes_per_node": 2}, "UC6140"),
        ({"launcher": "mpirun"}, r"UC6141: launcher: got 'mpirun'.*torchrun, jax, raw"),
        ({"command": []}, "UC6142"),
    ],
)
def test_rejects_what_a_launcher_cannot_start(stack: cdk.Stack, changes: dict[str, Any], code: str) -> None:
    with pytest.raises(FindingsError, match=code):
        job(stack, **changes)


def test_collectives_use_efa_or_fail(stack: cdk.Stack) -> None:
    job(stack)
    assert environment(stack).items() >= {"FI_PROVIDER": "efa", "FI_EFA_USE_DEVICE_RDMA": "1"}.items()


def test_the_command_comes_after_the_launcher(stack: cdk.Stack) -> None:
    job(stack)
    launcher = ["python3", "/run/ultracluster/launch", "torchrun"]
    assert container(stack)["Command"] == [*launcher, "train.py", "--steps", "10"]


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


def test_rejects_parameters_that_aws_batch_would_not_find(stack: cdk.Stack) -> None:
    with pytest.raises(
        FindingsError, match=r"UC6143: command\[1\]: got 'Ref::steps' in a word that is encoded"
    ):
        job(stack, command=["train.py", "steps is Ref::steps"])


def test_the_environment_is_that_of_awss_own_multi_node_runs(stack: cdk.Stack) -> None:
    # aws-neuron/neuronx-distributed-training, examples/train_setup.sh; Neuron documentation, trn2 tutorials, 2026-08.
    job(stack, environment={"MALLOC_ARENA_MAX": "64"})
    assert environment(stack)["NEURON_RT_EXEC_TIMEOUT"] == "600"
    assert environment(stack)["MALLOC_ARENA_MAX"] == "64"  # what the user sets wins


def test_gpu_jobs_have_no_neuron_variables(stack: cdk.Stack) -> None:
    job(stack, queue(stack, instance_type="p5.48xlarge"))
    assert not [name for name in environment(stack) if name.startswith("NEURON")]


def test_uses_the_compile_cache_and_keeps_the_users_compiler_flags(stack: cdk.Stack) -> None:
    cache = CompileCache(stack, "Cache")
    job(stack, compile_cache=cache, environment={"NEURON_CC_FLAGS": "--model-type transformer", "SEED": "1"})
    assert environment(stack)["NEURON_CC_FLAGS"] == "--retry_failed_compilation --model-type transformer"
    assert environment(stack)["NEURON_COMPILE_CACHE_URL"] == stack.resolve(cache.url)
    assert environment(stack)["SEED"] == "1"


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({"AWS_BATCH_JOB_NODE_INDEX": "0"}, "UC6109"),
        ({"UC_PROCESSES_PER_NODE": "1"}, "UC6109"),
        ({"UC_DEVICES_PER_NODE": "1"}, "UC6109"),
        ({"NEURON_CC_FLAGS": "--cache_dir=s3://elsewhere"}, "UC6010"),
    ],
)
def test_rejects_variables_that_would_break_the_job(
    stack: cdk.Stack, environment: dict[str, str], code: str
) -> None:
    with pytest.raises(FindingsError, match=code):
        job(stack, environment=environment)


def test_mounts_the_file_system_of_the_nodes(stack: cdk.Stack) -> None:
    cluster = network(stack)
    storage = SharedFileSystem(stack, "FileSystem", network=cluster, mount_path="/lustre")
    group = nodes(stack, network=cluster, file_system=storage)
    job(stack, TrainingQueue(stack, "Queue", nodes=group, max_nodes=1))
    assert container(stack)["Volumes"][0] == {"Name": "file-system", "Host": {"SourcePath": "/lustre"}}
    assert container(stack)["MountPoints"][0]["ContainerPath"] == "/lustre"


def test_reads_notices_to_the_node_but_cannot_write_them(stack: cdk.Stack) -> None:
    job(stack)
    assert container(stack)["Volumes"] == [{"Name": "orders", "Host": {"SourcePath": "/run/ultracluster"}}]
    assert container(stack)["MountPoints"] == [
        {"SourceVolume": "orders", "ContainerPath": "/run/ultracluster", "ReadOnly": True}
    ]


def test_retries_only_jobs_whose_host_was_lost(stack: cdk.Stack) -> None:
    job(stack, attempts=3)
    assert only(stack, "AWS::Batch::JobDefinition")["RetryStrategy"] == {
        "Attempts": 3,
        "EvaluateOnExit": [
            {"Action": "RETRY", "OnStatusReason": "Host EC2*"},
            {"Action": "RETRY", "OnExitCode": "112"},  # the launcher's, for a lost node
            {"Action": "EXIT", "OnReason": "*"},
        ],
    }


@pytest.mark.parametrize("attempts", [0, 11])
def test_rejects_attempts_that_aws_batch_refuses(stack: cdk.Stack, attempts: int) -> None:
    with pytest.raises(FindingsError, match="UC6104"):
        job(stack, attempts=attempts)


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


def test_warns_of_an_image_that_private_nodes_cannot_pull(stack: cdk.Stack) -> None:
    job(stack, image="public.ecr.aws/neuron/pytorch-training-neuronx:2.9.0")
    assertions.Annotations.from_stack(stack).has_warning(
        "/Test/Pretrain",
        assertions.Match.string_like_regexp(r"imageNotInEcr|is not in Amazon ECR"),
    )


def test_an_image_in_ecr_raises_no_warning(stack: cdk.Stack) -> None:
    job(stack)
    assert assertions.Annotations.from_stack(stack).find_warning("*", assertions.Match.any_value()) == []


def test_the_definition_stays_under_the_size_that_aws_batch_takes(stack: cdk.Stack) -> None:
    job(stack)
    # 24 KiB, AWS Batch User Guide (service quotas), 2026-10.
    assert len(str(only(stack, "AWS::Batch::JobDefinition"))) < 24 * 1024
