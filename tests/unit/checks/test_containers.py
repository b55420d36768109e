"""Rules for containers: devices, shared and locked memory, the fabric, privileges."""

from typing import Any

import pytest
from tests.unit.checks.edits import JOB, codes_after

from ultracluster_checks import Source, check_templates


def _checkpoints(path: str) -> dict[str, Any]:
    return {
        f"{JOB}/Volumes": [{"Name": "fsx", "Host": {"SourcePath": "/fsx"}}],
        f"{JOB}/MountPoints": [{"SourceVolume": "fsx", "ContainerPath": "/fsx"}],
        f"{JOB}/Environment/+": {"Name": "CHECKPOINT_DIR", "Value": path},
    }


SHARED = {"Name": "fsx", "Host": {"SourcePath": "/fsx"}}

BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC6401", "batch-efa", {f"{JOB}/LinuxParameters/Devices/16/HostPath": "/dev/infiniband/"}),
    (
        "UC6401",
        "batch-efa",
        {f"{JOB}/Volumes": [{"Name": "efa", "Host": {"SourcePath": "/dev/infiniband"}}]},
    ),
    ("UC6417", "batch-efa", _checkpoints("/checkpoints")),
    ("UC6405", "batch-efa", {f"{JOB}/LinuxParameters/SharedMemorySize": 64}),
    ("UC6406", "batch-efa", {f"{JOB}/Ulimits/0/SoftLimit": 65536}),
    ("UC6406", "batch-efa", {f"{JOB}/Ulimits/+": {"Name": "nofile", "SoftLimit": 4095, "HardLimit": 65536}}),
    ("UC6414", "batch-efa", {f"{JOB}/LinuxParameters/Devices/3/HostPath": "/dev/neuron2"}),
    ("UC6414", "batch-efa", {f"{JOB}/LinuxParameters/Devices/3/HostPath": "/dev/neron3"}),
    ("UC6408", "batch-efa", {f"{JOB}/Environment/0/Value": "sockets"}),
    ("UC6402", "batch-efa", {f"{JOB}/LinuxParameters/Devices/+": {"HostPath": "/dev/nvidia0"}}),
    ("UC6417", "batch-efa", {f"{JOB}/Volumes": [SHARED]}),
    ("UC6417", "batch-efa", _checkpoints("/fsx/checkpoints") | {f"{JOB}/MountPoints/0/ReadOnly": True}),
    (
        "UC6410",
        "batch-efa",
        {f"{JOB}/Volumes": [{"Name": "run", "Host": {"SourcePath": "/var/run/docker.sock"}}]},
    ),
)

KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("batch-efa", _checkpoints("/fsx/checkpoints")),
    ("batch-efa", {f"{JOB}/LinuxParameters/SharedMemorySize": 65}),
    ("batch-efa", {f"{JOB}/Ulimits/+": {"Name": "nofile", "SoftLimit": 4096, "HardLimit": 65536}}),
)


@pytest.mark.parametrize(
    ("code", "base", "edits"), BROKEN, ids=lambda value: value if isinstance(value, str) else ""
)
def test_edit_breaks_the_rule(
    foreign: dict[str, Source], code: str, base: str, edits: dict[str, Any]
) -> None:
    assert code in codes_after(foreign, base, edits)


@pytest.mark.parametrize(("base", "edits"), KEPT, ids=str)
def test_edit_within_the_rules_breaks_none(
    foreign: dict[str, Source], base: str, edits: dict[str, Any]
) -> None:
    assert codes_after(foreign, base, edits) == []


def test_node_ranges_of_a_job_agree_on_the_port_of_the_leader() -> None:
    for port, found in (("41000", False), ("41001", True)):
        ranges = [
            {"TargetNodes": nodes, "Container": {"Environment": [{"Name": "MASTER_PORT", "Value": value}]}}
            for nodes, value in (("0", "41000"), ("1:3", port))
        ]
        properties = {"NodeProperties": {"NumNodes": 4, "NodeRangeProperties": ranges}}
        body = {"Resources": {"Job": {"Type": "AWS::Batch::JobDefinition", "Properties": properties}}}
        report = check_templates([Source(name="job", body=body)])
        assert ("UC6416" in [problem.finding.code for problem in report.problems]) is found


@pytest.mark.parametrize(
    ("second", "found"),
    [
        ({"Image": "train:2", "Environment": [{"Name": "FI_PROVIDER", "Value": "efa"}]}, True),
        ({"Image": "train:1", "Environment": []}, True),
        ({"Image": "train:1", "Environment": [{"Name": "FI_PROVIDER", "Value": "efa"}]}, False),
        ({"Image": "scheduler:1", "Environment": [{"Name": "FI_PROVIDER", "Value": "efa"}]}, False),
    ],
)
def test_node_ranges_of_a_job_agree_on_image_and_fabric(second: dict[str, Any], *, found: bool) -> None:
    first = {"Image": "train:1", "Environment": [{"Name": "FI_PROVIDER", "Value": "efa"}]}
    ranges = [{"TargetNodes": nodes, "Container": each} for nodes, each in (("0", first), ("1", second))]
    properties = {"NodeProperties": {"NumNodes": 2, "NodeRangeProperties": ranges}}
    body = {"Resources": {"Job": {"Type": "AWS::Batch::JobDefinition", "Properties": properties}}}
    report = check_templates([Source(name="job", body=body)])
    assert ("UC6416" in {each.code for each in report.findings}) is found
