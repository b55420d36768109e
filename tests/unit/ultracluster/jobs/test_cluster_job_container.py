"""What a container gets of its node: devices, disks and its place in an UltraServer."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_batch as batch
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_ssm as ssm
from tests.unit.ultracluster.builders import (
    IMAGE,
    ZONE,
    block,
    network,
    nodes,
    of_type,
    only,
    queue,
    unpacked,
)
from tests.unit.ultracluster.jobs.defined_jobs import container, container_on, job
from tests.unit.ultracluster.nodes.launch_templates import user_data

from ultracluster import ClusterNetwork, Job, Mount, MultiNodeJob, SharedFileSystem, TrainingQueue
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

# Neuron devices and EFA interfaces of each type: ECS Developer Guide (Neuron table) and EC2 User Guide (EFA), 2026-10.
DEVICES = {
    "trn1.32xlarge": (16, 8),
    "trn1n.32xlarge": (16, 16),
    "trn2.48xlarge": (16, 16),
    "trn2.3xlarge": (1, 1),
}


def test_a_job_on_gpus_requests_all_of_them_and_maps_no_neuron_device(stack: cdk.Stack) -> None:
    found = container_on(stack, instance_type="p5.48xlarge")
    assert {each["Type"]: each["Value"] for each in found["ResourceRequirements"]}["GPU"] == "8"
    paths = [each["HostPath"] for each in found["LinuxParameters"]["Devices"]]
    assert paths == [f"/dev/infiniband/uverbs{index}" for index in range(32)]
    (configuration,) = only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"]["Ec2Configuration"]
    assert configuration["ImageType"] == "ECS_AL2023_NVIDIA"
    assert "export UC_GPUS='8'\n" in user_data(stack)
    assert "wait_for GPU" in unpacked(user_data(stack))


def test_a_job_on_trainium_requests_no_gpu(stack: cdk.Stack) -> None:
    assert {each["Type"] for each in container_on(stack)["ResourceRequirements"]} == {"VCPU", "MEMORY"}
    assert "GPU" not in unpacked(user_data(stack))


def test_scratch_is_on_the_node_and_in_its_containers(stack: cdk.Stack) -> None:
    found = container_on(stack, scratch_path="/scratch")
    assert {"Name": "scratch", "Host": {"SourcePath": "/scratch"}} in found["Volumes"]
    assert {
        "SourceVolume": "scratch",
        "ContainerPath": "/scratch",
        "ReadOnly": False,
    } in found["MountPoints"]
    assert "export UC_SCRATCH_PATH='/scratch'\nexport UC_SCRATCH_DISKS='4'\n" in user_data(stack)


def test_nodes_without_scratch_carry_nothing_of_it(stack: cdk.Stack) -> None:
    found = container_on(stack)
    assert "scratch" not in str(found)
    assert "scratch" not in unpacked(user_data(stack))


def test_a_job_over_an_ultraserver_passes_each_node_its_position(stack: cdk.Stack) -> None:
    found = container_on(stack, instance_type="trn2u.48xlarge")["Environment"]
    assert {"Name": "UC_ULTRASERVER_NODES", "Value": "4"} in found


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


def test_mounts_the_file_system_of_the_nodes(stack: cdk.Stack) -> None:
    cluster = network(stack)
    storage = SharedFileSystem(stack, "FileSystem", network=cluster, mount_path="/lustre")
    group = nodes(stack, network=cluster, file_system=storage)
    job(stack, TrainingQueue(stack, "Queue", nodes=group, max_nodes=1))
    assert container(stack)["Volumes"][0] == {"Name": "file-system", "Host": {"SourcePath": "/lustre"}}
    assert container(stack)["MountPoints"][0]["ContainerPath"] == "/lustre"


def test_secrets_are_arns_in_the_definition_and_readable_by_the_execution_role_only(stack: cdk.Stack) -> None:
    closed = ClusterNetwork(
        stack,
        "Network",
        zone_id=ZONE,
        instance_type="trn2.48xlarge",
        node_count=4,
        endpoints=["secretsmanager"],
    )
    token = secretsmanager.Secret(stack, "Token")
    key = ssm.StringParameter.from_secure_string_parameter_attributes(
        stack, "Key", parameter_name="/team/wandb"
    )
    job = MultiNodeJob(
        stack,
        "Job",
        Job(image=IMAGE, command=("train.py",)),
        queue=queue(stack, network=closed, capacity=block()),
        secrets={
            "WANDB_API_KEY": batch.Secret.from_ssm_parameter(key),
            "HF_TOKEN": batch.Secret.from_secrets_manager(token, "token"),
        },
    )

    definition = only(stack, "AWS::Batch::JobDefinition")
    container = definition["NodeProperties"]["NodeRangeProperties"][0]["Container"]
    assert [each["Name"] for each in container["Secrets"]] == ["HF_TOKEN", "WANDB_API_KEY"]
    assert "parameter/team/wandb" in str(container["Secrets"][1]["ValueFrom"])
    roles = {
        name: stack.get_logical_id(role.node.default_child)  # type: ignore[arg-type] - the L1
        for name, role in {"job": job.role, "execution": job.execution_role}.items()
    }
    reads = {
        name: {
            role
            for policy in of_type(stack, "AWS::IAM::Policy")
            if action in str(policy)
            for role in map(str, policy["Properties"]["Roles"])
        }
        for name, action in {
            "secret": "secretsmanager:GetSecretValue",
            "parameter": "ssm:GetParameters",
        }.items()
    }
    readers = {str({"Ref": roles["execution"]})}
    assert reads == {"secret": readers, "parameter": readers}
    services = [str(each["Properties"]["ServiceName"]) for each in of_type(stack, "AWS::EC2::VPCEndpoint")]
    assert sum("secretsmanager" in each for each in services) == 1
    assert closed.services is not None
    assert "secretsmanager" in closed.services


def test_a_secret_that_nodes_cannot_read_or_that_is_a_variable_too_is_refused(stack: cdk.Stack) -> None:
    token = secretsmanager.Secret.from_secret_name_v2(stack, "Token", "token")
    with pytest.raises(FindingsError) as refused:
        MultiNodeJob(
            stack,
            "Job",
            Job(image=IMAGE, command=("train.py",), environment={"LEVEL": "x"}),
            queue=queue(stack, capacity=block()),
            secrets={
                "LEVEL": batch.Secret.from_secrets_manager(token),
                "A-B": batch.Secret.from_secrets_manager(token),
            },
        )
    assert [each.code for each in refused.value.findings] == ["UC6119", "UC6109", "UC6120", "UC6120"]
    assert "secrets.LEVEL: environment sets 'LEVEL' too" in str(refused.value)


def test_a_container_has_what_its_job_says_of_the_node(stack: cdk.Stack) -> None:
    mounts = (Mount(source="/opt/models", read_only=True), Mount(source="/opt/tools", path="/tools"))
    described = Job(
        image=IMAGE, command=("train.py",), shared_memory_mib=65_536, ulimits={"nofile": 4_096}, mounts=mounts
    )
    MultiNodeJob(stack, "Job", described, queue=queue(stack))
    (node,) = only(stack, "AWS::Batch::JobDefinition")["NodeProperties"]["NodeRangeProperties"]
    found = node["Container"]
    assert found["LinuxParameters"]["SharedMemorySize"] == 65_536
    assert {each["Name"]: each["SoftLimit"] for each in found["Ulimits"]} == {
        "memlock": -1, "stack": 67_108_864, "nofile": 4_096,
    }  # fmt: skip
    sources = {each["Name"]: each["Host"]["SourcePath"] for each in found["Volumes"]}
    seen = {
        each["ContainerPath"]: (sources[each["SourceVolume"]], each["ReadOnly"])
        for each in found["MountPoints"]
    }
    assert seen["/opt/models"] == ("/opt/models", True)
    assert seen["/tools"] == ("/opt/tools", False)


@pytest.mark.parametrize(
    ("source", "read_only", "actions"),
    [
        ("", True, ["ClientMount"]),
        ("", False, ["ClientMount", "ClientWrite", "ClientRootAccess"]),
        ("/access-point/fsap-0123456789abcdef0", True, ["ClientMount"]),
        ("/access-point/fsap-0123456789abcdef0", False, ["ClientMount", "ClientWrite"]),
    ],
)
def test_a_job_mounts_s3_files_with_its_role(
    stack: cdk.Stack, source: str, *, read_only: bool, actions: list[str]
) -> None:
    system = "arn:aws:s3files:us-east-2:123456789012:file-system/fs-0123456789abcdef0"
    mounts = (Mount(source=f"{system}{source}", path="/cache", read_only=read_only),)
    MultiNodeJob(stack, "Job", Job(image=IMAGE, command=("train.py",), mounts=mounts), queue=queue(stack))

    found = container(stack)
    point = {"AccessPointArn": f"{system}{source}"} if source else {}
    volume = {"Name": "mount-1", "S3FilesVolumeConfiguration": {"FileSystemArn": system, **point}}
    assert found["Volumes"][-1] == volume
    assert found["MountPoints"][-1] == {
        "SourceVolume": "mount-1", "ContainerPath": "/cache", "ReadOnly": read_only,
    }  # fmt: skip
    granted = [
        (statement["Action"], statement["Resource"])
        for policy in of_type(stack, "AWS::IAM::Policy")
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if "s3files" in str(statement["Action"])
    ]
    allowed = [f"s3files:{action}" for action in actions]
    assert granted == [(allowed if len(allowed) > 1 else allowed[0], system)]
