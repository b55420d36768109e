"""What differs between machines: GPUs and Neuron devices, instance-store disks, types that a user describes."""

import dataclasses
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.unit.ultracluster.builders import IMAGE, ZONE, network, nodes, only, queue, unpacked
from tests.unit.ultracluster.nodes.test_node_group import user_data

import ultracluster as uc
from ultracluster.nodes.user_data import boot_script
from ultracluster_rules.findings import FindingsError
from ultracluster_rules.machines import get_instance_type

pytestmark = pytest.mark.synth

OWN = dataclasses.replace(get_instance_type("trn2.48xlarge"), name="trn9.48xlarge", vcpus=256)


def container(stack: cdk.Stack, **changes: Any) -> dict[str, Any]:
    uc.MultiNodeJob(stack, "Job", queue=queue(stack, **changes), image=IMAGE, command=["train.py"])
    (node_range,) = only(stack, "AWS::Batch::JobDefinition")["NodeProperties"]["NodeRangeProperties"]
    return dict(node_range["Container"])


def test_a_job_on_gpus_asks_for_all_of_them_and_maps_no_neuron_device(stack: cdk.Stack) -> None:
    found = container(stack, instance_type="p5.48xlarge")
    assert {each["Type"]: each["Value"] for each in found["ResourceRequirements"]}["GPU"] == "8"
    paths = [each["HostPath"] for each in found["LinuxParameters"]["Devices"]]
    assert paths == [f"/dev/infiniband/uverbs{index}" for index in range(32)]
    (configuration,) = only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"]["Ec2Configuration"]
    assert configuration["ImageType"] == "ECS_AL2023_NVIDIA"
    assert "export UC_GPUS='8'\n" in user_data(stack)
    assert "wait_for GPU" in unpacked(user_data(stack))


def test_a_job_on_trainium_asks_for_no_gpu(stack: cdk.Stack) -> None:
    assert {each["Type"] for each in container(stack)["ResourceRequirements"]} == {"VCPU", "MEMORY"}
    assert "GPU" not in unpacked(user_data(stack))


def test_scratch_is_on_the_node_and_in_its_containers(stack: cdk.Stack) -> None:
    found = container(stack, scratch_path="/scratch")
    assert {"Name": "scratch", "Host": {"SourcePath": "/scratch"}} in found["Volumes"]
    assert {
        "SourceVolume": "scratch",
        "ContainerPath": "/scratch",
        "ReadOnly": False,
    } in found["MountPoints"]
    assert "export UC_SCRATCH_PATH='/scratch'\nexport UC_SCRATCH_DISKS='4'\n" in user_data(stack)


def test_nodes_without_scratch_carry_nothing_of_it(stack: cdk.Stack) -> None:
    found = container(stack)
    assert "scratch" not in str(found)
    assert "scratch" not in unpacked(user_data(stack))


def test_rejects_scratch_that_a_type_cannot_have(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match="UC4026") as caught:
        nodes(stack, instance_type="inf2.48xlarge", scratch_path="/var")
    assert [finding.code for finding in caught.value.findings] == ["UC4026", "UC4027"]


def test_parts_of_the_boot_script_run_before_it_says_that_it_is_ready() -> None:
    script = boot_script(["node-gpus.sh", "node-scratch.sh"])
    assert script.startswith(boot_script([]).rpartition('say "ready"')[0])
    assert script.index("wait_for GPU") < script.index("\nmount_scratch\n") < script.index('say "ready"')
    assert script.endswith(boot_script([])[-20:])


def test_a_type_that_a_user_describes_is_taken_wherever_a_name_is(stack: cdk.Stack) -> None:
    cluster = uc.UltraCluster(
        stack,
        "Cluster",
        instance_type=OWN,
        node_count=4,
        image_id="ami-0123456789abcdef0",
        network=network(stack, instance_type=OWN),
    )
    resources = only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"]
    assert (resources["InstanceTypes"], resources["MaxvCpus"]) == (["trn9.48xlarge"], 4 * 256)
    assert cluster.nodes.instance_type is OWN
    assert cluster.network.zone_id == ZONE
    assertions.Annotations.from_stack(stack).has_warning("*", assertions.Match.string_like_regexp("UC4024"))


def test_a_type_of_the_catalogue_brings_no_warning_of_its_figures(stack: cdk.Stack) -> None:
    nodes(stack)
    assertions.Annotations.from_stack(stack).has_no_warning(
        "*", assertions.Match.string_like_regexp("UC4024")
    )


def test_a_job_over_an_ultraserver_passes_each_node_its_position(stack: cdk.Stack) -> None:
    script = container(stack, instance_type="trn2u.48xlarge")["Command"][2]
    assert (
        script.index("MASTER_ADDR=") < script.index("\nultraserver_place\n") < script.index("exec torchrun")
    )


def test_a_job_on_other_types_does_not_mention_ultraservers(stack: cdk.Stack) -> None:
    assert "ULTRASERVER" not in container(stack)["Command"][2]


def test_rejects_three_nodes_of_an_ultraserver(stack: cdk.Stack) -> None:
    given = queue(stack, instance_type="trn2u.48xlarge")
    with pytest.raises(FindingsError, match="UC4028"):
        uc.MultiNodeJob(stack, "Job", queue=given, image=IMAGE, command=["train.py"], node_count=3)


def test_several_nodes_without_efa_must_be_requested(stack: cdk.Stack) -> None:
    given = queue(stack, instance_type="trn1.2xlarge")
    with pytest.raises(FindingsError, match="UC6102"):
        uc.MultiNodeJob(stack, "Refused", queue=given, image=IMAGE, command=["train.py"], node_count=2)
    uc.MultiNodeJob(
        stack, "Job", queue=given, image=IMAGE, command=["train.py"], node_count=2, without_efa=True
    )
    (node_range,) = only(stack, "AWS::Batch::JobDefinition")["NodeProperties"]["NodeRangeProperties"]
    variables = {each["Name"]: each["Value"] for each in node_range["Container"]["Environment"]}
    assert variables["FI_PROVIDER"] == "tcp"
