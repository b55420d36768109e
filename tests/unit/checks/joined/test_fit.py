"""Jobs that do not fit the nodes of their queues."""

from typing import Any

import pytest
from tests.unit.checks.joined.whole_cluster import DROP, codes_after, findings_after

JOB = "JobDefinition/NodeProperties/NodeRangeProperties/0/Container"
DEVICES = f"{JOB}/LinuxParameters/Devices"
FARGATE = {
    "Type": "AWS::Batch::ComputeEnvironment",
    "Properties": {"ComputeResources": {"Type": "FARGATE", "MaxvCpus": 4}},
}
SECOND = {"Order": 2, "ComputeEnvironment": {"Ref": "Small"}}


def variable(name: str, value: str) -> dict[str, Any]:
    return {f"{JOB}/Environment/+": {"Name": name, "Value": value}}


BROKEN: list[tuple[str, str, dict[str, Any]]] = [
    ("UC6414", "Cluster", {f"{DEVICES}/0/Permissions": ["READ"]}),
    ("UC6414", "Cluster", {f"{DEVICES}/20/ContainerPath": "/dev/infiniband/uverbs9"}),
    (
        "UC6403",
        "Cluster",
        {f"LaunchTemplate/LaunchTemplateData/NetworkInterfaces/{place}": DROP for place in (15, 14)},
    ),
    ("UC6415", "Cluster", {f"{JOB}/InstanceType": "trn1.32xlarge"}),
    ("UC6404", "Cluster", {"JobDefinition/NodeProperties/NodeRangeProperties/0/TargetNodes": "3:0"}),
    ("UC6404", "Cluster", {"JobDefinition/NodeProperties/NodeRangeProperties/0/TargetNodes": "0-3"}),
    ("UC6404", "Cluster", {"JobDefinition/NodeProperties/NumNodes": 0}),
    ("UC6109", "Cluster", variable("AWS_BATCH_JOB_NUM_NODES", "4")),
    ("UC6416", "Cluster", variable("FI_PROVIDER", "tcp")),
    ("UC6416", "Cluster", {f"{JOB}/Environment/2/Value": "0"}),
    ("UC6416", "Cluster", variable("NEURON_RT_ROOT_COMM_ID", "127.0.0.1:62182")),
    ("UC6416", "Cluster", variable("MASTER_ADDR", "localhost")),
    ("UC6416", "Cluster", variable("CCOM_SOCKET_IFNAME", "lo")),
    ("UC6416", "Cluster", variable("NEURON_LOGICAL_NC_CONFIG", "4")),
    ("UC6416", "Cluster", variable("NEURON_RT_NUM_CORES", "256")),
    ("UC6416", "Cluster", variable("NEURON_RT_VISIBLE_CORES", "0-255")),
    ("UC6416", "Cluster", {f"{JOB}/Environment/7/Value": "0"}),
    ("UC6417", "Cluster", {f"{JOB}/MountPoints/+": {"SourceVolume": "nowhere", "ContainerPath": "/data"}}),
    ("UC6418", "Cluster", {"/Resources/Small": FARGATE, "JobQueue/ComputeEnvironmentOrder/+": SECOND}),
    ("UC6418", "Cluster", {"JobDefinition/PlatformCapabilities": ["FARGATE"]}),
    ("UC6416", "Cluster", {f"{JOB}/Environment/5/Value": "--target=trn1"}),
    ("UC6416", "Cluster", {f"{JOB}/Environment/5/Value": "--lnc=4"}),
    ("UC6419", "Cluster", {f"{JOB}/JobRoleArn": DROP}),
    ("UC6419", "Cluster", {"Role:ClusterpretrainExecutionRole/Policies/0/PolicyDocument/Statement/0": DROP}),
    ("UC6419", "Cluster", {"Role:ClusterpretrainExecutionRole/Policies/0/PolicyDocument/Statement/2": DROP}),
    ("UC6419", "Cluster", {"Policy:ClusterpretrainRole/PolicyDocument/Statement/1": DROP}),
]
KEPT: list[dict[str, Any]] = [
    {f"{JOB}/Environment/5/Value": "--target=trn2 --lnc=1"},
    {f"{DEVICES}/0/Permissions": ["READ", "WRITE"]},
    {f"{DEVICES}/0/Permissions": DROP},
    variable("NEURON_LOGICAL_NC_CONFIG", "1"),
    variable("NEURON_RT_NUM_CORES", "64"),
    variable("NEURON_RT_VISIBLE_CORES", "0-63"),
    variable("MASTER_ADDR", "main"),
    variable("FI_PROVIDER", "efa"),
    {"JobDefinition/NodeProperties/NodeRangeProperties/0/TargetNodes": ":"},
]


@pytest.mark.parametrize(("code", "stack", "edits"), BROKEN)
def test_edit_breaks_the_rule(code: str, stack: str, edits: dict[str, Any]) -> None:
    assert code in codes_after(stack, edits)


@pytest.mark.parametrize("edits", KEPT, ids=str)
def test_jobs_that_fit_have_no_finding(edits: dict[str, Any]) -> None:
    assert codes_after("Cluster", edits) == []


def test_read_only_devices_are_one_finding() -> None:
    found = findings_after("Cluster", {f"{DEVICES}/{index}/Permissions": ["READ"] for index in range(16)})

    assert len(found) == 1
    assert "15 more like it" in found[0]
