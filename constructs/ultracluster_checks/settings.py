"""Settings of a container or launch template that are unsafe whatever else a template has."""

import re
from collections.abc import Iterator
from posixpath import normpath
from typing import Final

from ultracluster_checks.model.template import CONTAINER, Templates, places
from ultracluster_checks.problem import Problem, Wrong, rule
from ultracluster_spec.container import OWNING_FOLDER
from ultracluster_spec.findings import Severity, quote
from ultracluster_spec.record import RuleRecord

_OWNS_NODE: Final = "UC6410"
_JOB_DEFINITION: Final = "Batch::JobDefinition"
_DISKS: Final = r"/dev/(k?mem|port|nvme\d.*|sd[a-z].*|xvd[a-z].*|dm-\d.*)"
_TASKS: Final = (
    "EcsProperties.TaskProperties.*",
    "NodeProperties.NodeRangeProperties.*.EcsProperties.TaskProperties.*",
)
_POWERS: Final = "all|sys_admin|sys_module|sys_rawio|dac_read_search"
# Code, types, path, form of unsafe values in lower case, empty for a missing one, what that does, and what is safe. From the controls of AWS Security Hub CSPM and the
# guides of the services (2026-11): https://docs.aws.amazon.com/securityhub/latest/userguide/securityhub-controls-reference.html
_SETTINGS: Final = (
    (_OWNS_NODE, CONTAINER, "Privileged", "true", "the container has root access to the node", "false, and the devices it needs by name"),
    (_OWNS_NODE, CONTAINER, "Volumes.*.Host.SourcePath", OWNING_FOLDER, "the container mounts a folder of the system, or its socket, which gives it control of the node", "directories made for jobs"),
    *((_OWNS_NODE, _JOB_DEFINITION, f"{task}.Volumes.*.Host.SourcePath", OWNING_FOLDER, "the container mounts a folder of the system, or its socket, which gives it control of the node", "directories made for jobs") for task in _TASKS),
    *((_OWNS_NODE, _JOB_DEFINITION, f"{task}.PidMode", "host", "the container sees and ends every process of the node, and reads its disk through them", "task") for task in _TASKS),
    *((_OWNS_NODE, _JOB_DEFINITION, f"{task}.IpcMode", "host", "the container reads the shared memory of every program of the node", "task") for task in _TASKS),
    (_OWNS_NODE, CONTAINER, "LinuxParameters.Devices.*.HostPath", _DISKS, "the container reads and writes the disk or the memory of the node", "the devices that it needs, such as /dev/neuron0"),
    (_OWNS_NODE, CONTAINER, "LinuxParameters.Capabilities.Add.*", _POWERS, "with this the container controls the node", "no such capability"),
    *(("UC6401", CONTAINER, path, "/dev/infiniband", "libfabric finds no EFA device there and silently falls back to TCP", "the devices /dev/infiniband/uverbs0 onwards, one each") for path in ("LinuxParameters.Devices.*.HostPath", "Volumes.*.Host.SourcePath")),
    ("UC4226", "EC2::LaunchTemplate", "LaunchTemplateData.BlockDeviceMappings.*.Ebs.DeleteOnTermination", "false", "each node that ends leaves its volume, which is billed", "true"),
)  # fmt: skip


@rule()
def settings_are_safe(templates: Templates) -> Iterator[Wrong]:
    """Find settings of one resource that are unsafe whatever else a template has."""
    for code, types, path, unsafe, problem, allowed in _SETTINGS:
        for at in places(templates, types, path):
            value = "" if at.missing else at.text
            if value and value.startswith("/"):
                value = normpath(value)
            if value is not None and re.fullmatch(unsafe, value.lower()):
                got = problem if at.missing else f"got {quote(at.text)}: {problem}"
                yield Problem.of(at, code, got, allowed)


RECORDS: Final = (
    RuleRecord(
        "UC4226",
        "The volumes of a node are deleted with it.",
        severity=Severity.WARNING,
        remedy="Set DeleteOnTermination to true, and keep data in S3 or a file system.",
        source="Amazon EC2 user guide, preserve data when an instance is terminated, 2026-11.",
    ),
    RuleRecord(
        "UC6401",
        "A job gets its EFA devices one by one, not as their directory.",
        remedy="Map /dev/infiniband/uverbs0 onwards, one device each.",
        source="aws-samples/aws-do-eks 63: with the folder, libfabric found no EFA device and used TCP.",
    ),
    RuleRecord(
        "UC6410",
        "A job's container does not own its node.",
        remedy="Name the devices that the job needs, and folders that are made for it.",
        source="Amazon ECS developer guide, security.",
        example="Job: {Type: AWS::Batch::JobDefinition, Properties: {ContainerProperties: {Privileged: false}}}",
    ),
)
