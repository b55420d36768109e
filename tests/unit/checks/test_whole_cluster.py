"""Resources that work together: edits of the quick start's stacks that break what joins them, and that do not."""

from typing import Any

from tests.unit.checks.whole_cluster import findings_after

JOB = "JobDefinition/NodeProperties/NodeRangeProperties/0/Container"
DEVICES = f"{JOB}/LinuxParameters/Devices"


def variable(name: str, value: str) -> dict[str, Any]:
    return {f"{JOB}/Environment/+": {"Name": name, "Value": value}}


def test_read_only_devices_are_one_finding() -> None:
    found = findings_after("Cluster", {f"{DEVICES}/{index}/Permissions": ["READ"] for index in range(16)})

    assert len(found) == 1
    assert "15 more like it" in found[0]
