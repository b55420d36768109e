"""Settings that are unsafe or wasteful in a resource of their own."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates

OWNING = (
    *("/", "/proc/1/root", "/proc", "/var/lib/docker", "/var/lib/docker/overlay2", "/var/lib/ecs/data", "/var/run", "/run/docker.sock"),
    *("/run/containerd/containerd.sock", "/etc", "/etc/cron.d", "/etc/ssh/", "/sys/fs/cgroup", "/sys/kernel/debug", "/dev", "/dev/nvme0n1p1"),
    *("/root/keys", "/home/ec2-user/.ssh", "/boot", "/usr/bin", "/bin", "/usr/local/bin", "/fsx/../etc", "/var//lib/./cloud"),
)  # fmt: skip
MADE = (
    *("/fsx", "/scratch/data", "/run/ultracluster", "/dev/neuron", "/dev/infiniband", "/etc/pki", "/etc/localtime", "/var/log", "/opt/models"),
    *("/procedures", "/rooted", "/sys/class", "/var/lib/model-cache"),
)  # fmt: skip

BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC6410", "Batch::JobDefinition", {"ContainerProperties": {"Volumes": [{"Host": {"SourcePath": "/var/run/docker.sock"}}]}}),
    ("UC6410", "Batch::JobDefinition", {"NodeProperties": {"NodeRangeProperties": [{"Container": {"Privileged": True}}]}}),
    ("UC6410", "Batch::JobDefinition", {"EcsProperties": {"TaskProperties": [{"Containers": [{"Privileged": True}]}]}}),
    *(("UC6410", "Batch::JobDefinition", {"ContainerProperties": {"Volumes": [{"Host": {"SourcePath": path}}]}}) for path in OWNING),
    ("UC6410", "Batch::JobDefinition", {"ContainerProperties": {"LinuxParameters": {"Devices": [{"HostPath": "/dev/nvme0n1"}]}}}),
    ("UC6410", "Batch::JobDefinition", {"EcsProperties": {"TaskProperties": [{"PidMode": "host"}]}}),
    ("UC6410", "Batch::JobDefinition", {"EcsProperties": {"TaskProperties": [{"IpcMode": "host"}]}}),
    ("UC6410", "Batch::JobDefinition", {"NodeProperties": {"NodeRangeProperties": [{"EcsProperties": {"TaskProperties": [{"PidMode": "host"}]}}]}}),
    ("UC6410", "Batch::JobDefinition", {"EcsProperties": {"TaskProperties": [{"Volumes": [{"Host": {"SourcePath": "/"}}]}]}}),
)  # fmt: skip
KEPT: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC6410", "Batch::JobDefinition", {"ContainerProperties": {"Volumes": [{"Host": {"SourcePath": "/var/data"}}]}}),
    *(("UC6410", "Batch::JobDefinition", {"ContainerProperties": {"Volumes": [{"Host": {"SourcePath": path}}]}}) for path in MADE),
    ("UC6410", "Batch::JobDefinition", {"ContainerProperties": {"LinuxParameters": {"Devices": [{"HostPath": "/dev/neuron0"}]}}}),
    ("UC6410", "Batch::JobDefinition", {"EcsProperties": {"TaskProperties": [{"PidMode": "task"}]}}),
)  # fmt: skip


def codes(kind: str, properties: dict[str, Any]) -> set[str]:
    body = {"Resources": {"It": {"Type": f"AWS::{kind}", "Properties": properties}}}
    return {each.code for each in check_templates([Source(name="it", body=body)]).findings}


@pytest.mark.parametrize(("code", "kind", "properties"), BROKEN)
def test_an_unsafe_setting_breaks_the_rule(code: str, kind: str, properties: dict[str, Any]) -> None:
    assert code in codes(kind, properties)


@pytest.mark.parametrize(("code", "kind", "properties"), KEPT)
def test_a_safe_or_unknown_setting_keeps_the_rule(code: str, kind: str, properties: dict[str, Any]) -> None:
    assert code not in codes(kind, properties)
