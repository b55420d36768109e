"""Rules for containers: devices, shared and locked memory, the fabric, privileges."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates


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
