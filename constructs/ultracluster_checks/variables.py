"""Environment variables of jobs: their names, what their libraries take, and the cores that they count."""

import difflib
import re
from collections.abc import Iterator
from typing import Final

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.neuron.neuron import XLA_CACHE_VARIABLE
from ultracluster_checks.codes import DEVICES, JOB_ENVIRONMENT
from ultracluster_checks.jobs import JOB_DEFINITION, JobContainer, job_containers
from ultracluster_checks.model.template import Property, Resource
from ultracluster_checks.problem import Problem, Wrong, placed, rule
from ultracluster_checks.state import BUCKET
from ultracluster_rules.findings import quote
from ultracluster_rules.job_definitions import VARIABLE

_SWITCH: Final = "0|1|true|false|on|off|yes|no"
_POSITIVE: Final = r"[1-9]\d*"
_PORT: Final = r"[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5]"
_OFF: Final = "0|false|off|no"
_MAIN: Final = "the address of the main node, set by the command of the job"
# Names, the form of values that are of use, what others do, and what is right. libfabric fi_efa(7) and fabric(7); NCCL user guide, environment
# variables; Neuron runtime configuration; PyTorch elastic launch; PJRT plug-ins of JAX and PyTorch/XLA; Open MPI FAQ (2026-11).
_VALUES: Final = (
    ("FI_EFA_USE_DEVICE_RDMA FI_EFA_FORK_SAFE FI_EFA_USE_HUGE_PAGE RDMAV_FORK_SAFE NEURON_RT_STOCHASTIC_ROUNDING_EN XLA_USE_BF16 XLA_DOWNCAST_BF16", _SWITCH, "which is no switch", "0 or 1"),
    ("NCCL_DEBUG", "version|warn|info|abort|trace", "a level that NCCL does not have", "WARN or INFO"),
    ("FI_LOG_LEVEL", "warn|trace|info|debug", "a level that libfabric does not have", "warn or info"),
    ("NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_NVLS_DISABLE", _OFF, "so that GPUs of one node do not reach each other directly", "0"),
    ("CUDA_LAUNCH_BLOCKING", _OFF, "so that each kernel waits for the one before", "0"),
    ("PJRT_DEVICE", "neuron|cuda|gpu", "so that the accelerators of the node are not used", "NEURON or CUDA"),
    ("JAX_PLATFORMS", "(?!cpu$).*", "so that the accelerators of the node are not used", "no value, or the platform of the accelerators"),
    ("NEURON_RT_EXEC_TIMEOUT", r"[3-9]\d|[1-9]\d{2,}", "below the default of 30 seconds, in which the first step waits for other nodes", "30 or more"),
    ("OMP_NUM_THREADS WORLD_SIZE NNODES NPROC_PER_NODE NCCL_MIN_NCHANNELS NCCL_NSOCKS_PERTHREAD MALLOC_ARENA_MAX", _POSITIVE, "which is no number above 0", "a number above 0"),
    ("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS NCCL_BUFFSIZE NCCL_TIMEOUT", r"\d+", "which is no number", "a number"),
    ("MASTER_PORT", _PORT, "which is no port", "1 to 65,535"),
    (XLA_CACHE_VARIABLE, r"(s3://|/|\$).*", "which is a folder of the container without s3://", "s3:// and the bucket, or an absolute path"),
    ("OMPI_MCA_pml", "cm|\\^ob1|.*cm.*", "with which Open MPI does not use libfabric", "cm"),
    ("OMPI_MCA_btl", r"\^.*|.*ofi.*|self|vader,self|self,vader", "with which Open MPI uses TCP", "^tcp"),
)  # fmt: skip
# The same, of jobs over several nodes only.
_BETWEEN_NODES: Final = (
    ("FI_EFA_USE_DEVICE_RDMA", f"(?!({_OFF})$).*", "which takes the direct path between chips and EFA away", "1"),
    ("MASTER_ADDR NEURON_RT_ROOT_COMM_ID", r"(?!127\.|localhost|0\.0\.0\.0|::1).*", "which is another host on each node", _MAIN),
    ("CCOM_SOCKET_IFNAME GLOO_SOCKET_IFNAME NCCL_SOCKET_IFNAME", "(?!(lo|docker0|ecs-eth0)$).*", "an interface that does not reach other nodes", "eth0"),
    ("NCCL_NET", "(?!socket$).*", "with which NCCL uses TCP beside EFA", "no value, or the plug-in for libfabric"),
    ("NCCL_NET_PLUGIN", "(?!none$).*", "without which NCCL does not use libfabric", "no value, or aws-ofi"),
    ("I_MPI_FABRICS", ".*ofi.*", "with which Intel MPI does not use libfabric", "shm:ofi"),
    ("I_MPI_OFI_PROVIDER", "efa.*", "with which Intel MPI does not use EFA", "efa"),
)  # fmt: skip
_CORES: Final = ("NEURON_RT_NUM_CORES", "NEURON_RT_VISIBLE_CORES")
_CORE_SIZES: Final = ("NEURON_LOGICAL_NC_CONFIG", "NEURON_RT_VIRTUAL_CORE_SIZE")
_COMPILER: Final = ("NEURON_CC_FLAGS", "NEURON_PLATFORM_TARGET_OVERRIDE", "XLA_FLAGS")
_ACCELERATED: Final = {"PJRT_DEVICE", "JAX_PLATFORMS"}
_KNOWN: Final = {name for names, *_ in (*_VALUES, *_BETWEEN_NODES) for name in names.split()} | {
    *_CORES, *_CORE_SIZES, *_COMPILER,
    "CUDA_VISIBLE_DEVICES", "FI_EFA_ENABLE_SHM_TRANSFER", "FI_EFA_SET_CUDA_SYNC_MEMOPS", "FI_LOG_LEVEL",
    "FI_PROVIDER", "NCCL_ALGO", "NCCL_CROSS_NIC", "NCCL_DEBUG_SUBSYS", "NCCL_MAX_NCHANNELS",
    "NCCL_NET_GDR_LEVEL", "NCCL_PROTO", "NCCL_TOPO_FILE", "NCCL_TUNER_PLUGIN", "NEURON_CC_FLAGS",
    "NEURON_FUSE_SOFTMAX", "NEURON_PJRT_PROCESSES_NUM_DEVICES", "NEURON_PJRT_PROCESS_INDEX",
    "NEURON_PLATFORM_TARGET_OVERRIDE", "NEURON_RT_LOG_LEVEL", "OFI_NCCL_PROTOCOL",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_BLOCKING_WAIT", "XLA_FLAGS", "XLA_IR_DEBUG",
    "XLA_HLO_DEBUG",
}  # fmt: skip
_FAMILIES: Final = re.compile(
    "CCOM_|CUDA_|FI_|GLOO_|I_MPI_|MALLOC_ARENA|MASTER_|NCCL_|NEURON_|OFI_|OMPI_MCA_|PJRT_|TORCH_NCCL_|XLA_"
)
_ALIKE: Final = 0.94
# All ranks of a job agree on them; the main node knows its own address.
_SHARED: Final = {"FI_PROVIDER", "FI_EFA_USE_DEVICE_RDMA", "NCCL_NET", "NEURON_RT_NUM_CORES", *_CORE_SIZES}
_OF_MAIN: Final = {"MASTER_ADDR", "MASTER_PORT", "NEURON_RT_ROOT_COMM_ID"}
# Options of the Neuron compiler: the family of chips, and the size of logical cores.
_TARGET: Final = re.compile(r"--target[= ](inf[12]|trn[123]n?)")
_CORE_SIZE: Final = re.compile(r"--l(?:nc|ogical-nc-config)[= ](\d+)")
_RANGE: Final = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")


@rule(JOB_ENVIRONMENT, job_containers)
def variables_are_known(container: JobContainer) -> Iterator[Wrong]:
    """Find variables that are given twice or set by AWS Batch, and misspelt names of libraries' variables."""
    values: dict[str, Property] = {}
    for pair in container.at["Environment"].items:
        name, value = pair["Name"].text, pair["Value"]
        if name is None:
            continue
        if name.startswith("AWS_BATCH"):
            yield from placed(pair["Name"], VARIABLE.check(name))
        first = values.setdefault(name, value)
        if first.text is not None and value.text is not None and first.text != value.text:
            yield value, f"{name} is given twice, as {quote(first.text)} and {quote(value.text)}", "one value"
    for name, value in container.environment.items():
        near = difflib.get_close_matches(name, _KNOWN, 1, _ALIKE) if _FAMILIES.match(name) else []
        if near and name not in _KNOWN and near[0] not in values:
            yield value, f"nothing reads {name}", near[0]


@rule(JOB_ENVIRONMENT, job_containers)
def values_are_of_use(container: JobContainer) -> Iterator[Wrong]:
    """Find values that the libraries refuse, that leave accelerators idle, or that separate the nodes of a job."""
    accelerated = container.devices or any(each.is_neuron or each.gpus for each in container.machines)
    several = container.nodes is None or container.nodes > 1
    for names, form, problem, allowed in (*_VALUES, *(_BETWEEN_NODES if several else ())):
        for name in names.split():
            at = container.environment.get(name)
            if at is None or at.text is None or re.fullmatch(form, at.text, re.IGNORECASE):
                continue
            if accelerated or name not in _ACCELERATED:
                yield at, f"{name}: got {quote(at.text)}, {problem}", allowed
    cache = container.environment.get(XLA_CACHE_VARIABLE)
    in_bucket = cache is not None and any(target.type == BUCKET for target in cache.targets)
    if cache is not None and in_bucket and cache.pattern.startswith("${"):
        yield cache, f"got {cache.pattern}, a folder of the container without s3://", "s3:// and the bucket"


@rule(JOB_ENVIRONMENT, job_containers)
def values_fit_the_chips(container: JobContainer) -> Iterator[Wrong]:
    """Find numbers and sizes of cores and compiler targets that the chips of the nodes do not have."""
    chips = [machine for machine in container.machines if machine.is_neuron]
    for name, at in container.environment.items() if chips and len(chips) == len(container.machines) else ():
        wrong = _misfit(name, at.text, chips, _core_size(container)) if at.text is not None else None
        if wrong is not None:
            yield at, f"{name}: got {quote(at.text)}, {wrong[0]}", wrong[1]


def _misfit(name: str, text: str, chips: list[InstanceType], size: int | None) -> tuple[str, str] | None:
    """Return the requirement of a variable that the chips do not meet, and what they offer."""
    grouped = all(each.neuron_cores != each.logical_neuron_cores for each in chips)
    if name in _CORES:
        joined = 2 if grouped and size == 2 else 1  # noqa: PLR2004 - the only size beside 1
        most = max(each.neuron_cores for each in chips) // joined
        counted = range(1, most + 1) if name == _CORES[0] else range(most)
        if any(int(number[:9]) not in counted for number in re.findall(r"\d+", text)):
            cores = "cores" if joined == 1 else "logical cores of two"
            return f"and a node has {most} {cores}", f"{counted[0]} to {counted[-1]}"
    if name in _COMPILER:
        target = _TARGET.search(f"--target={text}" if name == "NEURON_PLATFORM_TARGET_OVERRIDE" else text)
        if target and not any(each.name.startswith(target[1][:4]) for each in chips):
            return f"and the chips are those of {chips[0].name}", chips[0].name.partition(".")[0]
    option = _CORE_SIZE.search(text) if name in _COMPILER else None
    chosen = option[1] if option else text if name in _CORE_SIZES else None
    if chosen is not None and chosen not in ({"1", "2"} if grouped else {"1"}):
        return "a size of logical cores that the chips do not have", "1 or 2" if grouped else "1"
    return None


def _core_size(container: JobContainer) -> int | None:
    """Return how many physical cores a variable joins to a logical one."""
    sizes = [container.environment[name].number for name in _CORE_SIZES if name in container.environment]
    return sizes[0] if sizes else None


@rule(JOB_ENVIRONMENT, job_containers)
def cores_are_those_of_the_devices(container: JobContainer) -> Iterator[Wrong]:
    """Find containers that count other cores than their Neuron devices have, or compile for another size of cores."""
    variables, size = container.environment, _core_size(container)
    at = container.at["LinuxParameters"]["Devices"]
    flags = variables.get("NEURON_CC_FLAGS")
    compiled = _CORE_SIZE.search(flags.text or "") if flags is not None else None
    if flags is not None and compiled and size and int(compiled[1]) != size:
        got = f"programs are compiled for {compiled[1]} and run with {size} cores in one"
        yield flags, got, f"{size}"
    paths = [each.text for each in container.devices]
    known = None not in paths and (at.missing or isinstance(at.value, list))
    mapped = {path for path in paths if re.fullmatch(r"/dev/neuron\d+", path or "")}
    for name, cores in variables.items() if known and container.at["Privileged"].off else ():
        wanted = _count(name, cores) if name in _CORES else None
        if name in _CORES and not mapped:
            got = f"the environment counts {cores.pattern} Neuron cores, and no device is mapped"
            yield Problem.of(at, DEVICES, got, "the devices from /dev/neuron0")
        for machine in container.machines[:1] if mapped and wanted else ():
            if machine.is_neuron and wanted:
                joined = size or machine.neuron_cores // machine.logical_neuron_cores
                held = len(mapped) * machine.neuron_cores // len(machine.neuron_devices) // joined
                if wanted > held or (1 < wanted < held and mapped == {*machine.neuron_devices}):
                    yield cores, f"got {wanted} cores, and the devices have {held}", str(held)


def _count(name: str, at: Property) -> int | None:
    """Return how many cores a variable counts: a number, or those in a list of ranges."""
    if name == _CORES[0]:
        return at.number
    parts = [_RANGE.fullmatch(part.strip()) for part in (at.text or "x").split(",")]
    return None if None in parts else sum(int(one[2] or one[1]) - int(one[1]) + 1 for one in parts if one)


@rule(JOB_ENVIRONMENT, job_containers)
def gpus_are_visible(container: JobContainer) -> Iterator[Wrong]:
    """Find multi-node jobs that hide GPUs of their nodes, which no other job can use."""
    at = container.environment.get("CUDA_VISIBLE_DEVICES")
    gpus = min((machine.gpus for machine in container.machines), default=0)
    if at is None or at.text is None or "GPU-" in at.text or container.nodes == 1:
        return
    idle = gpus - sum(part.strip().isdigit() for part in at.text.split(","))
    if idle > 0:
        yield at, f"got {quote(at.text)}: {idle} of {gpus} GPUs of each node stay idle", "all, or no value"


@rule(JOB_ENVIRONMENT, JOB_DEFINITION)
def nodes_of_a_job_agree(job: Resource) -> Iterator[Wrong]:
    """Find images and variables on which all ranks of a job must agree, and that differ between its node ranges."""
    containers = [part["Container"] for part in job["NodeProperties"]["NodeRangeProperties"].items]
    images = [container["Image"] for container in containers]
    for image in images[1:]:
        same = image.pattern.rpartition(":")[0] == images[0].pattern.rpartition(":")[0]
        if same and image.pattern != images[0].pattern:
            got = f"got {image.pattern}, and other nodes of the job have {images[0].pattern}"
            yield image, got, images[0].pattern
    environments = [JobContainer(container, None, ()).environment for container in containers]
    values = {name: value for each in reversed(environments) for name, value in each.items()}
    for container, environment in zip(containers, environments, strict=True):
        for name in sorted((_SHARED | _OF_MAIN) & environment.keys()):
            value, other = environment[name], values[name]
            if value.text and other.text and value.text != other.text:
                got = f"{name}: got {quote(value.text)}, and other nodes of the job have {quote(other.text)}"
                yield value, got, other.text
        at, lacking = container["Environment"], sorted(_SHARED & values.keys() - environment.keys())
        if lacking and isinstance(at.value, list) and all(pair["Name"].text for pair in at.items):
            yield at, f"no {', '.join(lacking)}, which other nodes of the job have", "the same"
