"""Containers of jobs: devices, memory, volumes, privileges, and settings of EFA and Neuron that the nodes have."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ultracluster_checks.codes import KEPT_IN_S3
from ultracluster_checks.jobs import JobContainer, job_containers
from ultracluster_checks.model.nodes import Nodes, has_all_environments, nodes_of
from ultracluster_checks.model.template import Templates, places
from ultracluster_checks.problem import Problem, Wrong, rule
from ultracluster_spec.container import DEVICES, LIMITS, NO_FABRIC, VOLUMES, WRITTEN
from ultracluster_spec.record import RuleRecord

_EFA_DEVICES: Final = "UC6403"
_EFA: Final = re.compile(r"/dev/infiniband/uverbs(\d{1,3})")
_DEVICE: Final = re.compile(rf"/dev/neuron(\d{{1,3}})|{_EFA.pattern}")
_LIKE_DEVICE: Final = re.compile(r"/dev/(?:neu?ro\w*|infiniband/\w*ver\w*)$")
_DEFAULT_SHARED_MEMORY_MIB: Final = 64  # Docker's default
_UNLIMITED: Final = -1
_MOUNTED: Final = re.compile(r"mount -t lustre .*?(/[\w/-]+)\s*$", re.MULTILINE)
_NEEDED: Final = {"READ", "WRITE"}


def _uses(container: JobContainer, devices: re.Pattern[str]) -> bool:
    return any(devices.fullmatch(each.pattern) for each in container.devices)


@rule(DEVICES, job_containers)
def every_device_is_given(container: JobContainer) -> Iterator[Wrong]:
    """Find multi-node jobs that lack a Neuron or EFA device of their node, and devices that no node has."""
    attached = _attached(container.at.resource.template.templates)
    instance_types, at = container.instance_types, container.at["LinuxParameters"]["Devices"]
    mapped = {device.text for device in container.devices}
    chips = instance_types and all(instance_type.is_neuron for instance_type in instance_types)
    if not chips or None in mapped or not (at.missing or mapped):
        return
    existing = {
        path
        for instance_type in instance_types
        for path in (*instance_type.neuron_devices, *instance_type.efa_devices)
    }
    for device in container.devices:
        path = str(device.text)
        if (_DEVICE.fullmatch(path) or path.startswith("/dev/nvidia")) and path not in existing:
            yield (
                device,
                f"{instance_types[0].name} has no {device.text}",
                _span(instance_types[0].neuron_devices),
            )
    neuron = [instance_type.neuron_devices for instance_type in instance_types]
    efa = [instance_type.efa_devices[: attached.get(instance_type.name)] for instance_type in instance_types]
    for code, kind, devices in ((DEVICES, "Neuron", neuron), (_EFA_DEVICES, "EFA", efa)):
        lacking = min(([path for path in paths if path not in mapped] for paths in devices), key=len)
        if lacking and (container.nodes or 1) > 1:
            of_nodes = f"{len(lacking)} {kind} devices of its nodes, the first {lacking[0]}"
            yield Problem.of(at, code, f"a job over several nodes without {of_nodes}", _span(devices[0]))


def _span(devices: tuple[str, ...]) -> str:
    return f"{devices[0]} to {devices[-1]}" if len(devices) > 1 else devices[0] if devices else "none"


def _known_nodes(templates: Templates) -> list[Nodes]:
    """Return the nodes that jobs run on; none unless templates have the interfaces of all of them."""
    nodes = [each for each in nodes_of(templates) if each.in_batch]
    unknown = any(each.template is None or each.data["NetworkInterfaces"].unknown for each in nodes)
    return nodes if has_all_environments(templates) and not unknown else []


@lru_cache(maxsize=1)
def _attached(templates: Templates) -> dict[str, int]:
    """Return the most EFA interfaces that launch templates attach to nodes of each type; nothing unless all are known."""
    attached: dict[str, int] = {}
    for each in _known_nodes(templates):
        count = len(each.efa_interfaces) + sum(at["InterfaceType"].unknown for at in each.interfaces)
        attached |= {
            instance_type.name: max(attached.get(instance_type.name, 0), count)
            for instance_type in each.types
        }
    return attached


@rule(_EFA_DEVICES)
def efa_devices_are_those_of_the_nodes(templates: Templates) -> Iterator[Wrong]:
    """Find containers with more EFA devices than launch templates attach."""
    counts = [len(each.efa_interfaces) for each in _known_nodes(templates) if each.efa_interfaces]
    attached = _attached(templates)
    for container in job_containers(templates):
        mapped = [each for each in container.devices if _EFA.fullmatch(each.text or "")]
        held = [
            attached[instance_type.name]
            for instance_type in container.instance_types
            if instance_type.name in attached
        ]
        held = held or ([] if attached else counts)
        if held and len(mapped) > max(held):
            got = f"{len(mapped)} EFA devices, and the nodes have {max(held)} EFA interfaces: the container does not start"
            yield mapped[max(held)], got, f"{max(held)} devices, or as many EFA interfaces"


@rule("UC6414", job_containers)
def devices_are_in_place(container: JobContainer) -> Iterator[Wrong]:
    """Find devices of nodes that a container maps read-only, twice, under another path, or that no node has."""
    seen: set[str] = set()
    for device in container.at["LinuxParameters"]["Devices"].items:
        host, inside, rights = device["HostPath"].text, device["ContainerPath"], device["Permissions"]
        twice = host in seen
        if host is not None and (twice or (_LIKE_DEVICE.match(host) and not _DEVICE.fullmatch(host))):
            got = "is mapped twice, and another device not at all" if twice else "is the device of no node"
            yield device["HostPath"], f"{host} {got}", "each device of the node once"
        if not _DEVICE.fullmatch(host or ""):
            continue
        seen.add(str(host))
        if inside.text not in {None, host}:
            yield inside, f"got {inside.text} for {host}", "the path that the device has on the node"
        allowed = [str(right).upper() for right in rights.texts if right is not None]
        if allowed and len(allowed) == len(rights.items) and not {*allowed} >= _NEEDED:
            got = f"got {', '.join(allowed)} for {host}, which cannot be opened so"
            yield rights, got, "READ and WRITE"


@rule("UC6405", job_containers)
def memory_can_be_shared(container: JobContainer) -> Iterator[Wrong]:
    """Find accelerator jobs that keep Docker's default of 64 MiB shared memory."""
    size = container.at["LinuxParameters"]["SharedMemorySize"]
    small = size.missing or (size.number is not None and size.number <= _DEFAULT_SHARED_MEMORY_MIB)
    # One process on one chip shares no memory.
    several = (container.nodes or 2) > 1 or len(container.at["LinuxParameters"]["Devices"].certain) > 1
    if small and several and _uses(container, _DEVICE):
        got = "no size, which is 64 MiB" if size.missing else f"{size.number} MiB"
        wanted = "some GiB, such as a quarter of the memory of the node"
        yield size, f"got {got}; data loaders and collectives of several processes need more", wanted
    kinds = container.at["ResourceRequirements"].items
    asked = [each["Value"].number or 0 for each in kinds if each["Type"].text == "MEMORY"]
    if asked and asked[0] and (size.number or 0) > asked[0]:
        yield size, f"got {size.number} MiB, and the container has {asked[0]}", f"less than {asked[0]}"


@rule(LIMITS, job_containers)
def memory_can_be_locked(container: JobContainer) -> Iterator[Wrong]:
    """Find EFA jobs whose memlock limit keeps EFA from registering their memory."""
    limits = container.at["Ulimits"]
    locked = [limit for limit in limits.items if limit["Name"].text == "memlock"]
    known = limits.missing or isinstance(limits.value, list)
    if not _uses(container, _EFA) or not known or any(limit["Name"].text is None for limit in limits.items):
        return
    if not locked:
        yield limits, "no limit for memlock, which is 64 KiB", "memlock with -1 for both limits"
    for at in (limit["HardLimit"] for limit in locked):
        if at.number not in {None, _UNLIMITED}:
            yield at, f"got {at.number}", "-1, which is no limit"


@rule(NO_FABRIC, nodes_of)
def user_data_keeps_the_fabric(nodes: Nodes) -> Iterator[Wrong]:
    """Find user data of EFA nodes that selects another fabric."""
    data = nodes.data["UserData"]
    found = re.search(r"\bFI_PROVIDER=['\"]?(\w+)", data.pattern) if nodes.efa_interfaces else None
    if found and found[1] != "efa":
        yield data, f"got FI_PROVIDER={found[1]}, so that the EFA interfaces are not used", "efa"


@rule(VOLUMES, job_containers)
def volumes_are_of_the_file_system(container: JobContainer) -> Iterator[Wrong]:
    """Find volumes that are not where the nodes mount the file system."""
    volumes = container.at["Volumes"]
    templates = container.at.resource.template.templates
    paths = [each["Host"]["SourcePath"] for each in volumes.items]
    kinds = [at.text for at in places(templates, "FSx::FileSystem", "FileSystemType")]
    judged = "LUSTRE" in kinds and all(each.text is not None for each in paths)
    for nodes in nodes_of(templates) if judged and paths else ():
        mounted = _MOUNTED.search(nodes.data["UserData"].pattern)
        if mounted and not any(str(each.text).startswith(mounted[1]) for each in paths):
            got = f"got {paths[0].text}, and the nodes mount the file system at {mounted[1]}"
            yield paths[0], got, mounted[1]


@rule(KEPT_IN_S3, job_containers)
def checkpoints_are_exported(container: JobContainer) -> Iterator[Wrong]:
    """Find checkpoints on a file system in a folder that nothing exports to S3, though others are or it is not replicated."""
    templates = container.at.resource.template.templates
    exported = _exported_folders(templates)
    if exported is None:
        return
    volumes = {each["Name"].text: each["Host"]["SourcePath"].text for each in container.at["Volumes"].items}
    roots = {
        found[1]
        for nodes in nodes_of(templates)
        if (found := _MOUNTED.search(nodes.data["UserData"].pattern))
    }
    for name, at in container.environment.items():
        for mount in container.at["MountPoints"].items if WRITTEN.search(name) and at.text else ():
            inside, host = mount["ContainerPath"].text, volumes.get(mount["SourceVolume"].text)
            if not inside or not host or not str(at.text).startswith(inside):
                continue
            path = host + str(at.text)[len(inside) :]
            for root in roots:
                if path.startswith(root) and not f"{path[len(root) :]}/".startswith(exported):
                    got = f"{name}: got {at.text}, which no association exports: it is lost with the file system"
                    yield at, got, "a folder of an association with AutoExportPolicy"


def _exported_folders(templates: Templates) -> tuple[str, ...] | None:
    """Return the folders of the only Lustre file system that are exported to S3; None if they are unknown or none is needed."""
    systems = [
        each for each in templates.of_type("AWS::FSx::FileSystem") if each["FileSystemType"].text == "LUSTRE"
    ]
    links = list(templates.of_type("AWS::FSx::DataRepositoryAssociation"))
    lustre = [each["LustreConfiguration"] for each in systems]
    scratch = [
        (each["DeploymentType"].text or "").startswith("SCRATCH") and each["ExportPath"].missing
        for each in lustre
    ]
    if (
        len(systems) != 1
        or not (links or scratch[0])
        or any(each["FileSystemPath"].unknown for each in links)
    ):
        return None
    exports = [each["FileSystemPath"] for each in links if not each["S3"]["AutoExportPolicy"].missing]
    return tuple((at.text or "/").rstrip("/") + "/" for at in exports)


@rule(VOLUMES, job_containers)
def volumes_are_mounted(container: JobContainer) -> Iterator[Wrong]:
    """Find volumes that a container does not mount, so that their files are not there."""
    mounts = container.at["MountPoints"]
    known = mounts.missing or isinstance(mounts.value, list)
    mounted = {each["SourceVolume"].text for each in mounts.items}
    for name in (each["Name"] for each in container.at["Volumes"].items if known and None not in mounted):
        if name.text is not None and name.text not in mounted:
            yield mounts, f"the volume {name.text} is not mounted", f"a mount point of {name.text}"


@rule("UC6163", job_containers)
def files_are_mounted_by_a_role(container: JobContainer) -> Iterator[Wrong]:
    """Find S3 Files of a job without a role, with which AWS Batch would mount them."""
    for volume in (each["S3FilesVolumeConfiguration"] for each in container.at["Volumes"].items):
        if not volume.missing and not volume.unknown and container.at["JobRoleArn"].missing:
            yield volume, "S3 Files of a job without a role", "JobRoleArn, a role with s3files:ClientMount"


RECORDS: Final = (
    RuleRecord(
        "UC6163",
        "A job with a volume of S3 Files has a role.",
        remedy="Set JobRoleArn, a role that may s3files:ClientMount, and s3files:ClientWrite to write.",
        source="https://docs.aws.amazon.com/batch/latest/userguide/s3files-volumes.html, as of 2026-10; botocore 1.44.5, ECS S3FilesVolumeConfiguration: a task role is required.",
    ),
    RuleRecord(
        "UC6403",
        "A job over several nodes gets every EFA device of its nodes.",
        remedy="Map /dev/infiniband/uverbs0 onwards, one for each EFA interface of the type.",
        source="aws/sagemaker-training-toolkit 241: without the devices, jobs fall back to TCP in silence.",
    ),
    RuleRecord(
        "UC6405",
        "A job on chips has more shared memory than Docker's 64 MiB.",
        remedy="Set SharedMemorySize, in MiB.",
        source="Docker's default of 64 MiB for /dev/shm; Netflix/metaflow 2692.",
    ),
    RuleRecord(
        "UC6414",
        "A container gets the devices of its node under their own paths, to read and to write.",
        remedy="Use the path of the host, with READ and WRITE.",
        source="Amazon ECS API Reference, Device, 2026-11; AWS Batch user guide, EFA, 2026-11.",
    ),
)
