"""Containers of jobs: devices, shared memory, locked memory and privileges."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_checks.jobs import JobContainer, job_containers
from ultracluster_checks.problem import Problem
from ultracluster_checks.shared_rules import EVERY_EFA_DEVICE
from ultracluster_checks.template import Property, Templates
from ultracluster_rules.findings import quote

_EFA_FOLDER: Final = "/dev/infiniband"
_NEURON: Final = re.compile(r"/dev/neuron(\d{1,3})")
_EFA: Final = re.compile(r"/dev/infiniband/uverbs(\d{1,3})")
_DEFAULT_SHARED_MEMORY_MIB: Final = 64  # Docker's default
_UNLIMITED: Final = -1


def efa_devices_are_named(templates: Templates) -> Iterator[Problem]:
    """Find containers that mount the folder of the EFA devices instead of mapping the devices."""
    for container in job_containers(templates):
        for device in container.at["LinuxParameters"]["Devices"].items:
            for name in ("HostPath", "ContainerPath"):
                if (device[name].text or "").rstrip("/") == _EFA_FOLDER:
                    yield Problem.of(
                        device[name],
                        "UC6401",
                        f"got {_EFA_FOLDER}, where libfabric finds no EFA device and silently falls back to TCP",
                        f"{_EFA_FOLDER}/uverbs0 onwards, one each",
                    )
                    break
        for volume in container.at["Volumes"].items:
            source = volume["Host"]["SourcePath"]
            if (source.text or "").rstrip("/") == _EFA_FOLDER:
                yield Problem.of(
                    source,
                    "UC6401",
                    f"got {_EFA_FOLDER} as a volume, which does not let the container open the devices",
                    f"the devices {_EFA_FOLDER}/uverbs0 onwards, one each",
                )


def every_device_is_given(templates: Templates) -> Iterator[Problem]:
    """Find multi-node jobs that lack a Neuron or EFA device of their node, and devices that no node has."""
    for container in job_containers(templates):
        machines = [machine for machine in container.machines if machine.is_neuron]
        at = container.at["LinuxParameters"]["Devices"]
        paths = [device["HostPath"].text for device in at.items]
        if not machines or len(machines) < len(container.machines) or None in paths:
            continue
        if not at.missing and not at.items:
            continue
        given = {path for path in paths if path is not None}
        for device in at.items:
            path = str(device["HostPath"].text)
            if _numbered(path) and not any(path in _devices(machine) for machine in machines):
                yield Problem.of(
                    device["HostPath"],
                    "UC6402",
                    f"{machines[0].name} has no {path}",
                    _span(machines[0].neuron_devices),
                )
        if container.nodes is not None and container.nodes > 1:
            yield from _lacking(at, given, machines)


def _lacking(at: Property, given: set[str], machines: list[InstanceType]) -> Iterator[Problem]:
    for code, what, devices in (
        ("UC6402", "Neuron", [machine.neuron_devices for machine in machines]),
        (EVERY_EFA_DEVICE, "EFA", [machine.efa_devices for machine in machines]),
    ):
        lacking = min(([path for path in each if path not in given] for each in devices), key=len)
        if lacking:
            yield Problem.of(
                at,
                code,
                f"a job over several nodes without {len(lacking)} {what} devices of its nodes, the first {lacking[0]}",
                _span(devices[0]),
            )


def _numbered(path: str) -> bool:
    return bool(_NEURON.fullmatch(path) or _EFA.fullmatch(path))


def _devices(machine: InstanceType) -> tuple[str, ...]:
    return (*machine.neuron_devices, *machine.efa_devices)


def _span(devices: tuple[str, ...]) -> str:
    return f"{devices[0]} to {devices[-1]}" if len(devices) > 1 else devices[0] if devices else "none"


def _uses_chips(container: JobContainer) -> bool:
    devices = container.at["LinuxParameters"]["Devices"].items
    return any(_numbered(device["HostPath"].pattern) for device in devices)


def _uses_efa(container: JobContainer) -> bool:
    devices = container.at["LinuxParameters"]["Devices"].items
    return any(_EFA.fullmatch(device["HostPath"].pattern) for device in devices)


def memory_can_be_shared(templates: Templates) -> Iterator[Problem]:
    """Find accelerator jobs that keep Docker's default of 64 MiB shared memory."""
    for container in job_containers(templates):
        size = container.at["LinuxParameters"]["SharedMemorySize"]
        small = size.missing or (size.number is not None and size.number <= _DEFAULT_SHARED_MEMORY_MIB)
        if small and _uses_chips(container):
            got = "no size, which is 64 MiB" if size.missing else f"{size.number} MiB"
            yield Problem.of(
                size,
                "UC6405",
                f"got {got}; data loaders and collectives of several processes need more",
                "some GiB, such as a quarter of the memory of the node",
            )


def memory_can_be_locked(templates: Templates) -> Iterator[Problem]:
    """Find EFA jobs whose memlock limit keeps EFA from registering their memory."""
    for container in job_containers(templates):
        limits = container.at["Ulimits"]
        if not _uses_efa(container) or (not limits.missing and not isinstance(limits.value, list)):
            continue
        locked = [limit for limit in limits.items if limit["Name"].text == "memlock"]
        if any(limit["Name"].text is None for limit in limits.items):
            continue
        if not locked:
            yield Problem.of(
                limits, "UC6406", "no limit for memlock, which is 64 KiB", "memlock with -1 for both limits"
            )
        for limit in locked:
            for name in ("SoftLimit", "HardLimit"):
                if limit[name].number is not None and limit[name].number != _UNLIMITED:
                    yield Problem.of(
                        limit[name], "UC6406", f"got {limit[name].number}", "-1, which is no limit"
                    )


def fabric_is_efa(templates: Templates) -> Iterator[Problem]:
    """Find EFA jobs whose environment selects another fabric."""
    for container in job_containers(templates):
        provider = container.environment.get("FI_PROVIDER")
        if provider is not None and provider.text not in {None, "efa"} and _uses_efa(container):
            yield Problem.of(
                provider, "UC6408", f"got {quote(provider.text)}, so that the EFA devices are not used", "efa"
            )


def containers_are_not_privileged(templates: Templates) -> Iterator[Problem]:
    """Find privileged containers, and those that mount system folders or the Docker socket of their node."""
    for container in job_containers(templates):
        privileged = container.at["Privileged"]
        if privileged.flag:
            yield Problem.of(
                privileged,
                "UC6410",
                "the container has root access to the node",
                "false, and the devices it needs by name",
            )
        for volume in container.at["Volumes"].items:
            source = volume["Host"]["SourcePath"]
            if source.text in {"/", "/etc", "/var", "/var/run", "/run", "/var/run/docker.sock", "/run/docker.sock", "/root", "/proc", "/sys"}:  # fmt: skip
                yield Problem.of(
                    source,
                    "UC6410",
                    f"the container mounts {source.text}, which gives it control of the node",
                    "directories made for jobs",
                )
