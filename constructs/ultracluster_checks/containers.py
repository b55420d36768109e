"""Containers of jobs: devices, memory, volumes, privileges, and settings of EFA and Neuron that the nodes have."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.neuron.neuron import XLA_CACHE_VARIABLE
from ultracluster_checks.codes import DEVICES, JOB_ENVIRONMENT
from ultracluster_checks.jobs import JobContainer, containers_on_nodes, job_containers
from ultracluster_checks.model.nodes import Nodes, nodes_of
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.problem import Problem, Wrong, placed, rule
from ultracluster_rules.findings import quote
from ultracluster_rules.job_definitions import VARIABLE

_EFA_FOLDER: Final = "/dev/infiniband"
_EFA: Final = re.compile(r"/dev/infiniband/uverbs(\d{1,3})")
_DEVICE: Final = re.compile(rf"/dev/neuron(\d{{1,3}})|{_EFA.pattern}")
_LIKE_DEVICE: Final = re.compile(r"/dev/(?:neu?ro\w*|infiniband/\w*ver\w*)$")
_FEW_FILES: Final = 4096
_DEFAULT_SHARED_MEMORY_MIB: Final = 64  # Docker's default
_UNLIMITED: Final = -1
_NEEDED: Final = {"READ", "WRITE"}
_COMPILING: Final = {"NEURON_CC_FLAGS", "NEURON_PLATFORM_TARGET_OVERRIDE", "XLA_FLAGS"}
# Targets of the Neuron compiler: the family of chips, and the size of logical cores.
_COMPILED_FOR: Final = re.compile(r"--target[= ](inf[12]|trn[123]n?)")
_CORES: Final = re.compile(r"--l(?:nc|ogical-nc-config)[= ](\d+)")
_LOGICAL: Final = ("NEURON_LOGICAL_NC_CONFIG", "NEURON_RT_VIRTUAL_CORE_SIZE")
_MOST_PORT: Final = 65_535
_POSITIVE: Final = {"MALLOC_ARENA_MAX", "NEURON_RT_EXEC_TIMEOUT"}
_OTHER_HOST: Final = re.compile(r"(?:127\.|localhost|0\.0\.0\.0|::1)")
_SHARED: Final = {"FI_PROVIDER", "FI_EFA_USE_DEVICE_RDMA", "MASTER_ADDR", "MASTER_PORT", "NCCL_NET", "NEURON_LOGICAL_NC_CONFIG", "NEURON_RT_NUM_CORES", "NEURON_RT_ROOT_COMM_ID", "NEURON_RT_VIRTUAL_CORE_SIZE"}  # fmt: skip
_OF_ONE: Final = {"MASTER_ADDR", "MASTER_PORT", "NEURON_RT_ROOT_COMM_ID"}  # the main node knows its own
_MAIN: Final = "the address of the main node, set by the command of the job"
# Variables of multi-node jobs, values that separate their nodes, and the reason.
_BETWEEN_NODES: Final = (
    ({"FI_EFA_USE_DEVICE_RDMA"}, re.compile("(?i)(?:0|false|off|no)$"), "which takes the direct path between chips and EFA away", "1"),
    ({"MASTER_ADDR", "NEURON_RT_ROOT_COMM_ID"}, _OTHER_HOST, "which is another host on each node", _MAIN),
    (
        {"CCOM_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"},
        re.compile("(?:lo|docker0|ecs-eth0)$"),
        "an interface that does not reach other nodes",
        "eth0",
    ),
    ({"NCCL_NET"}, re.compile("(?i)socket$"), "with which NCCL uses TCP beside EFA", "no value, or the plug-in for libfabric"),
    ({"NCCL_NET_PLUGIN"}, re.compile("none$"), "without which NCCL does not use libfabric", "no value, or aws-ofi"),
    ({"I_MPI_FABRICS"}, re.compile("(?!.*ofi)"), "with which Intel MPI does not use libfabric", "shm:ofi"),
    ({"I_MPI_OFI_PROVIDER"}, re.compile("(?!efa)"), "with which Intel MPI does not use EFA", "efa"),
)  # fmt: skip


def _uses(container: JobContainer, devices: re.Pattern[str]) -> bool:
    return any(devices.fullmatch(each.pattern) for each in container.devices)


@rule("UC6401", containers_on_nodes)
def efa_devices_are_named(container: JobContainer) -> Iterator[Wrong]:
    """Find containers that mount the folder of the EFA devices instead of mapping the devices."""
    for device in container.at["LinuxParameters"]["Devices"].items:
        for at in (device["HostPath"], device["ContainerPath"]):
            if (at.text or "").rstrip("/") == _EFA_FOLDER:
                got = f"got {_EFA_FOLDER}, where libfabric finds no EFA device and silently falls back to TCP"
                yield at, got, f"{_EFA_FOLDER}/uverbs0 onwards, one each"
                break
    for source in (volume["Host"]["SourcePath"] for volume in container.at["Volumes"].items):
        if (source.text or "").rstrip("/") == _EFA_FOLDER:
            got = f"got {_EFA_FOLDER} as a volume, which does not let the container open the devices"
            yield source, got, f"the devices {_EFA_FOLDER}/uverbs0 onwards, one each"


@rule(DEVICES, containers_on_nodes)
def every_device_is_given(container: JobContainer) -> Iterator[Wrong]:
    """Find multi-node jobs that lack a Neuron or EFA device of their node, and devices that no node has."""
    machines, at = container.machines, container.at["LinuxParameters"]["Devices"]
    given = {device.text for device in container.devices}
    chips = machines and all(machine.is_neuron for machine in machines)
    if not chips or None in given or not (at.missing or given):
        return
    for device in container.devices:
        known = any(device.text in (*machine.neuron_devices, *machine.efa_devices) for machine in machines)
        if _DEVICE.fullmatch(str(device.text)) and not known:
            yield device, f"{machines[0].name} has no {device.text}", _span(machines[0].neuron_devices)
    for code, what, devices in (
        (DEVICES, "Neuron", [machine.neuron_devices for machine in machines]),
        ("UC6403", "EFA", [machine.efa_devices for machine in machines]),
    ):
        lacking = min(([path for path in each if path not in given] for each in devices), key=len)
        if lacking and (container.nodes or 1) > 1:
            got = f"a job over several nodes without {len(lacking)} {what} devices of its nodes, the first {lacking[0]}"
            yield Problem.of(at, code, got, _span(devices[0]))


def _span(devices: tuple[str, ...]) -> str:
    return f"{devices[0]} to {devices[-1]}" if len(devices) > 1 else devices[0] if devices else "none"


@rule("UC6403")
def efa_devices_are_at_the_nodes(templates: Templates) -> Iterator[Wrong]:
    """Find EFA devices of containers that the launch templates of their nodes do not attach."""
    nodes = [each for each in nodes_of(templates) if each.in_batch]
    if any(each.template is None or each.data["NetworkInterfaces"].unknown for each in nodes):
        return
    attached: dict[str, int] = {}
    for each in nodes:
        count = len(each.efa_interfaces) + sum(at["InterfaceType"].unknown for at in each.interfaces)
        attached |= {machine.name: max(attached.get(machine.name, 0), count) for machine in each.types}
    anywhere = [len(each.efa_interfaces) for each in nodes if each.efa_interfaces] if not attached else []
    for container in job_containers(templates):
        held = [
            attached[machine.name] for machine in container.machines if machine.name in attached
        ] or anywhere
        asked = [each for each in container.devices if (each.text or "").startswith(f"{_EFA_FOLDER}/uverbs")]
        if held and len(asked) > max(held):
            got = f"{len(asked)} EFA devices, and the nodes have {max(held)} EFA interfaces: the container does not start"
            yield asked[max(held)], got, f"{max(held)} devices, or as many EFA interfaces"


@rule("UC6403")
def gpu_nodes_give_their_efa_devices(templates: Templates) -> Iterator[Wrong]:
    """Find multi-node jobs on GPU nodes that lack EFA devices which the launch template attaches."""
    nodes = [each for each in nodes_of(templates) if each.in_batch]
    fabric = [each for each in nodes if each.efa_interfaces]
    gpus = bool(fabric) and all(each.types and all(one.gpus for one in each.types) for each in fabric)
    somewhere = min((len(each.efa_interfaces) for each in fabric), default=0)
    everywhere = somewhere if len(fabric) == len(nodes) else 0
    for container in job_containers(templates) if gpus and somewhere else ():
        paths, at = [each.text for each in container.devices], container.at["LinuxParameters"]["Devices"]
        given = sum(bool(_EFA.fullmatch(path or "")) for path in paths)
        attached = somewhere if given else everywhere
        if (
            (container.nodes or 1) > 1
            and None not in paths
            and (at.missing or isinstance(at.value, list))
            and given < attached
        ):
            got = f"{given} EFA devices, and the nodes have {attached} EFA interfaces"
            yield at, got, f"{_EFA_FOLDER}/uverbs0 to {_EFA_FOLDER}/uverbs{attached - 1}"


@rule("UC6414", containers_on_nodes)
def devices_are_in_place(container: JobContainer) -> Iterator[Wrong]:
    """Find devices of nodes that a container maps read-only, twice, under another path, or that no node has."""
    seen: set[str] = set()
    for device in container.at["LinuxParameters"]["Devices"].items:
        host, inside, rights = device["HostPath"].text, device["ContainerPath"], device["Permissions"]
        if host is not None and (host in seen or (_LIKE_DEVICE.match(host) and not _DEVICE.fullmatch(host))):
            got = (
                "is mapped twice, and another device not at all"
                if host in seen
                else "is the device of no node"
            )
            yield device["HostPath"], f"{host} {got}", "each device of the node once"
        if not _DEVICE.fullmatch(host or ""):
            continue
        seen.add(str(host))
        if inside.text not in {None, host}:
            yield inside, f"got {inside.text} for {host}", "the path that the device has on the node"
        given = [str(each).upper() for each in rights.texts if each is not None]
        if given and len(given) == len(rights.items) and not {*given} >= _NEEDED:
            got = f"got {', '.join(given)} for {host}, which cannot be opened so"
            yield rights, got, "READ and WRITE"


@rule("UC6405", containers_on_nodes)
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


@rule("UC6406", containers_on_nodes)
def memory_can_be_locked(container: JobContainer) -> Iterator[Wrong]:
    """Find EFA jobs whose memlock limit keeps EFA from registering their memory."""
    limits = container.at["Ulimits"]
    locked = [limit for limit in limits.items if limit["Name"].text == "memlock"]
    known = limits.missing or isinstance(limits.value, list)
    if not _uses(container, _EFA) or not known or any(limit["Name"].text is None for limit in limits.items):
        return
    if not locked:
        yield limits, "no limit for memlock, which is 64 KiB", "memlock with -1 for both limits"
    for at in (limit[name] for limit in locked for name in ("SoftLimit", "HardLimit")):
        if at.number not in {None, _UNLIMITED}:
            yield at, f"got {at.number}", "-1, which is no limit"
    for limit in limits.items if (container.nodes or 2) > 1 else ():
        soft = limit["SoftLimit"]
        if limit["Name"].text == "nofile" and 0 <= (soft.number or _FEW_FILES) < _FEW_FILES:
            got = f"got {soft.number}: processes with connections to all ranks need more open files"
            yield Problem.of(soft, "UC6406", got, "65,536 or more")


@rule("UC6408", containers_on_nodes)
def fabric_is_efa(container: JobContainer) -> Iterator[Wrong]:
    """Find EFA jobs whose environment selects another fabric."""
    provider = container.environment.get("FI_PROVIDER")
    if provider is not None and provider.text not in {None, "efa"} and _uses(container, _EFA):
        yield provider, f"got {quote(provider.text)}, so that the EFA devices are not used", "efa"


@rule(JOB_ENVIRONMENT, containers_on_nodes)
def variables_fit_the_nodes(container: JobContainer) -> Iterator[Wrong]:
    """Find variables that are given twice, are set by AWS Batch, or that the fabric or the chips do not have."""
    seen: dict[str, Property] = {}
    for pair in container.at["Environment"].items:
        name, value = pair["Name"].text, pair["Value"]
        if name is None:
            continue
        if name.startswith("AWS_BATCH"):
            yield from placed(pair["Name"], VARIABLE.check(name))
        first = seen.setdefault(name, value)
        if first.text is not None and value.text is not None and first.text != value.text:
            yield value, f"{name} is given twice, as {quote(first.text)} and {quote(value.text)}", "one value"
    for name, at in container.environment.items():
        unfit = _unfit(name, at.text, container) if at.text is not None else None
        if unfit is not None:
            yield at, f"{name}: got {quote(at.text)}, {unfit[0]}", unfit[1]


@rule(JOB_ENVIRONMENT, "AWS::Batch::JobDefinition")
def nodes_of_a_job_agree(job: Resource) -> Iterator[Wrong]:
    """Find variables on which all ranks of a job must agree, and that differ between its node ranges."""
    first: dict[str, Property] = {}
    parts = [part["Container"] for part in job["NodeProperties"]["NodeRangeProperties"].items]
    images = [part["Image"] for part in parts]
    for image in images[1:]:
        same = image.pattern.rpartition(":")[0] == images[0].pattern.rpartition(":")[0]
        if same and image.pattern != images[0].pattern:
            got = f"got {image.pattern}, and other nodes of the job have {images[0].pattern}"
            yield image, got, images[0].pattern
    for part in parts:
        for pair in part["Environment"].items:
            name, value = pair["Name"].text or "", pair["Value"]
            other = first.setdefault(name, value)
            if name in _SHARED and value.text and other.text and value.text != other.text:
                got = f"{name}: got {quote(value.text)}, and other nodes of the job have {quote(other.text)}"
                yield value, got, other.text
    for part in parts:
        own = {pair["Name"].text for pair in part["Environment"].items}
        lacking = sorted(_SHARED & first.keys() - _OF_ONE - own) if None not in own else []
        if lacking and isinstance(part["Environment"].value, list):
            yield (
                part["Environment"],
                f"no {', '.join(lacking)}, which other nodes of the job have",
                "the same",
            )


@rule("UC6408", nodes_of)
def user_data_keeps_the_fabric(nodes: Nodes) -> Iterator[Wrong]:
    """Find user data of EFA nodes that selects another fabric."""
    data = nodes.data["UserData"]
    found = re.search(r"\bFI_PROVIDER=['\"]?(\w+)", data.pattern) if nodes.efa_interfaces else None
    if found and found[1] != "efa":
        yield data, f"got FI_PROVIDER={found[1]}, so that the EFA interfaces are not used", "efa"


def _unfit(name: str, text: str, container: JobContainer) -> tuple[str, str] | None:
    """Return the problem of a variable's value, and the allowed values."""
    if container.nodes is None or container.nodes > 1:
        for names, wrong, problem, allowed in _BETWEEN_NODES:
            if name in names and wrong.match(text):
                return problem, allowed
    if name in _POSITIVE and (not text.isdigit() or int(text[:9]) == 0):
        return "which is no positive number", "a number above 0"
    if name == "MASTER_PORT" and not (text.isdigit() and 0 < int(text[:9]) <= _MOST_PORT):
        return "which is no port", f"1 to {_MOST_PORT:,}"
    if name == XLA_CACHE_VARIABLE and not text.startswith(("s3://", "/", "$")):
        return "which is a folder of the container without s3://", "s3:// and the bucket, or an absolute path"
    chips = [machine for machine in container.machines if machine.is_neuron]
    if "NUM_CORES" in name or "VISIBLE_CORES" in name:
        sizes = [container.environment[each].text for each in _LOGICAL if each in container.environment]
        if sizes == ["2"] and all(each.neuron_cores == 2 * each.logical_neuron_cores for each in chips):
            most = max((each.logical_neuron_cores for each in chips), default=0)
            counted = range(1, most + 1) if "NUM" in name else range(most)
            if chips and any(int(each[:9]) not in counted for each in re.findall(r"\d+", text)):
                return f"and a node has {most} logical cores of two", f"{counted[0]} to {counted[-1]}"
    return _not_of(chips, name, text) if chips and len(chips) == len(container.machines) else None


def _not_of(chips: list[InstanceType], name: str, text: str) -> tuple[str, str] | None:
    """Return the requirement of a variable that the chips do not meet, and what they offer."""
    most = max(each.neuron_cores for each in chips)
    counted = {"NEURON_RT_NUM_CORES": range(1, most + 1), "NEURON_RT_VISIBLE_CORES": range(most)}.get(name)
    if counted and any(int(each[:9]) not in counted for each in re.findall(r"\d+", text)):
        return f"and a node has {most} cores", f"{counted[0]} to {counted[-1]}"
    target = _COMPILED_FOR.search(f"--target={text}" if name == "NEURON_PLATFORM_TARGET_OVERRIDE" else text)
    if target and name in _COMPILING and not any(each.name.startswith(target[1][:4]) for each in chips):
        return f"and the chips are those of {chips[0].name}", chips[0].name.partition(".")[0]
    cores = _CORES.search(text) if name in _COMPILING else None
    size = cores[1] if cores else text if name in _LOGICAL else None
    grouped = all(each.neuron_cores != each.logical_neuron_cores for each in chips)
    if size is not None and size not in ({"1", "2"} if grouped else {"1"}):
        return "a size of logical cores that the chips do not have", "1 or 2" if grouped else "1"
    return None


@rule("UC6417", job_containers)
def mounts_are_of_a_volume(container: JobContainer) -> Iterator[Wrong]:
    """Find mount points without their volume, and volumes that are not where the nodes mount the file system."""
    volumes = container.at["Volumes"]
    names = {each["Name"].text for each in volumes.items}
    for source in (each["SourceVolume"] for each in container.at["MountPoints"].items):
        if source.text is not None and source.text not in names and not volumes.unknown and None not in names:
            allowed = ", ".join(sorted(map(str, names))) or "a volume"
            yield source, f"got {quote(source.text)}, which is no volume of the container", allowed
    templates = container.at.resource.template.templates
    paths = [each["Host"]["SourcePath"] for each in volumes.items]
    lustre = any(
        each["FileSystemType"].text == "LUSTRE" for each in templates.of_type("AWS::FSx::FileSystem")
    )
    for nodes in (
        nodes_of(templates) if lustre and paths and all(each.text is not None for each in paths) else ()
    ):
        mounted = re.search(
            r"mount -t lustre .*?(/[\w/-]+)\s*$", nodes.data["UserData"].pattern, re.MULTILINE
        )
        if mounted and not any(str(each.text).startswith(mounted[1]) for each in paths):
            got = f"got {paths[0].text}, and the nodes mount the file system at {mounted[1]}"
            yield paths[0], got, mounted[1]
