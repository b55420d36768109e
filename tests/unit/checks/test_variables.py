"""Environment variables of jobs and tasks."""

from typing import Any

import pytest
from tests.unit.checks.edits import JOB, codes_after

from ultracluster_checks import Source, check_templates

_ALL = f"{JOB}/Environment/+"


def variable(name: str, value: Any) -> dict[str, Any]:
    return {_ALL: {"Name": name, "Value": value}}


BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC6416", "batch-efa", variable("FI_EFA_USE_DEVICE_RDMAS", "1")),
    ("UC6416", "batch-efa", variable("NEURON_RT_NUM_CORE", "32")),
    ("UC6416", "batch-efa", variable("NEURON_RT_NUM_CORES", "16")),
    ("UC6416", "batch-efa", variable("NEURON_RT_VISIBLE_CORES", "0-7")),
    ("UC6416", "batch-efa", variable("NEURON_RT_EXEC_TIMEOUT", "29")),
    ("UC6416", "batch-efa", variable("NCCL_DEBUG", "LOUD")),
    ("UC6416", "batch-efa", variable("PJRT_DEVICE", "CPU")),
    ("UC6416", "batch-efa", {f"{JOB}/Environment/2/Value": "--lnc=2", **variable("NEURON_LOGICAL_NC_CONFIG", "1")}),
)  # fmt: skip
KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("batch-efa", variable("NEURON_RT_NUM_CORES", "32")),
    ("batch-efa", variable("NEURON_RT_NUM_CORES", "1")),
    ("batch-efa", variable("NEURON_RT_NUM_CORES", {"Ref": "AWS::StackName"})),
    ("batch-efa", variable("NEURON_RT_VISIBLE_CORES", "0-15,16-31")),
    ("batch-efa", variable("NEURON_RT_EXEC_TIMEOUT", "30")),
    ("batch-efa", variable("NCCL_DEBUG", "info")),
    ("batch-efa", variable("PJRT_DEVICE", "NEURON")),
    ("batch-efa", variable("FI_OWN_SETTING", "1")),
    ("batch-efa", variable("RUN_NUMBER", "0")),
)


@pytest.mark.parametrize(("code", "base", "edits"), BROKEN)
def test_a_variable_that_nothing_reads_or_takes_is_found(
    foreign: dict[str, Source], code: str, base: str, edits: dict[str, Any]
) -> None:
    assert codes_after(foreign, base, edits) == [code]


@pytest.mark.parametrize(("base", "edits"), KEPT, ids=str)
def test_a_variable_that_is_taken_has_no_finding(
    foreign: dict[str, Source], base: str, edits: dict[str, Any]
) -> None:
    assert codes_after(foreign, base, edits) == []


def task(instance_type: str, *devices: str, **variables: str) -> list[str]:
    """Return the codes of a task on one type of instance, with its devices and variables."""
    container = {
        "Image": "serve:1",
        "Environment": [{"Name": name, "Value": value} for name, value in variables.items()],
        "LinuxParameters": {"Devices": [{"HostPath": each} for each in devices], "SharedMemorySize": 1024},
    }
    data = {"InstanceType": instance_type, "MetadataOptions": {"HttpTokens": "required"}}
    owner = {"LaunchTemplate": {"LaunchTemplateId": {"Ref": "Nodes"}}}
    resources = {
        "Nodes": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}},
        "Group": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": owner},
        "Serve": {"Type": "AWS::ECS::TaskDefinition", "Properties": {"ContainerDefinitions": [container]}},
    }
    report = check_templates([Source(name="it", body={"Resources": resources})])
    return sorted(each.finding.code for each in report.problems if each.place.resource.logical_id == "Serve")


def test_gpus_that_a_job_over_several_nodes_hides_stay_idle() -> None:
    for shown, found in (("0,1,2,3,4,5,6,7", False), ("0", True)):
        container = {
            "InstanceType": "p5.48xlarge",
            "Environment": [{"Name": "CUDA_VISIBLE_DEVICES", "Value": shown}],
        }
        nodes = {"NumNodes": 2, "NodeRangeProperties": [{"TargetNodes": "0:", "Container": container}]}
        job = {"Type": "AWS::Batch::JobDefinition", "Properties": {"NodeProperties": nodes}}
        report = check_templates([Source(name="it", body={"Resources": {"Job": job}})])
        assert ("UC6416" in {each.code for each in report.findings}) is found


def test_a_cache_in_a_bucket_has_its_scheme() -> None:
    for address, found in (("s3://${Runs}/cache", False), ("${Runs}/cache", True)):
        container = {"Environment": [{"Name": "NEURON_COMPILE_CACHE_URL", "Value": {"Fn::Sub": address}}]}
        job = {"Type": "AWS::Batch::JobDefinition", "Properties": {"ContainerProperties": container}}
        body = {"Resources": {"Job": job, "Runs": {"Type": "AWS::S3::Bucket"}}}
        report = check_templates([Source(name="it", body=body)])
        assert ("UC6416" in {each.code for each in report.findings}) is found
