"""Environment variables of jobs and tasks: their names, what their libraries take, and the cores that they count."""

import difflib
import re
from collections.abc import Iterator
from typing import Final

from ultracluster_catalog.neuron.neuron import XLA_CACHE_VARIABLE
from ultracluster_checks.codes import DEVICES, JOB_ENVIRONMENT
from ultracluster_checks.jobs import JobContainer, containers_on_nodes
from ultracluster_checks.model.template import Property
from ultracluster_checks.problem import Problem, Wrong, rule
from ultracluster_checks.state import BUCKET
from ultracluster_rules.findings import quote

_SWITCH: Final = "0|1|true|false|on|off|yes|no"
_POSITIVE: Final = r"[1-9]\d*"
_OFF: Final = "0|false|off|no"
# Names, the values that are of use, and what others do. libfabric fi_efa(7) and fabric(7); NCCL user guide, environment variables; Neuron
# runtime configuration; PyTorch elastic launch; PJRT plug-ins of JAX and PyTorch/XLA; Open MPI FAQ (2026-11).
_VALUES: Final = (
    ("FI_EFA_USE_DEVICE_RDMA FI_EFA_FORK_SAFE FI_EFA_USE_HUGE_PAGE RDMAV_FORK_SAFE NEURON_RT_STOCHASTIC_ROUNDING_EN XLA_USE_BF16 XLA_DOWNCAST_BF16", _SWITCH, "which is no switch"),
    ("NCCL_DEBUG", "version|warn|info|abort|trace", "a level that NCCL does not have"),
    ("FI_LOG_LEVEL", "warn|trace|info|debug", "a level that libfabric does not have"),
    ("NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_NVLS_DISABLE", _OFF, "so that GPUs of one node do not reach each other directly"),
    ("CUDA_LAUNCH_BLOCKING", _OFF, "so that each kernel waits for the one before"),
    ("PJRT_DEVICE", "neuron|cuda|gpu", "so that the accelerators of the node are not used"),
    ("JAX_PLATFORMS", "(?!cpu$).*", "so that the accelerators of the node are not used"),
    ("NEURON_RT_EXEC_TIMEOUT", r"[3-9]\d|\d{3,}", "below the default of 30 seconds, in which the first step waits for other nodes"),
    ("OMP_NUM_THREADS WORLD_SIZE NNODES NPROC_PER_NODE NCCL_MIN_NCHANNELS NCCL_NSOCKS_PERTHREAD", _POSITIVE, "which is no number above 0"),
    ("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS NCCL_BUFFSIZE NCCL_TIMEOUT", r"\d+", "which is no number"),
    ("OMPI_MCA_pml", "cm|\\^ob1|.*cm.*", "with which Open MPI does not use libfabric"),
    ("OMPI_MCA_btl", r"\^.*|.*ofi.*|self|vader,self|self,vader", "with which Open MPI uses TCP"),
)  # fmt: skip
_ALLOWED: Final = {
    name: (re.compile(form, re.IGNORECASE), got) for names, form, got in _VALUES for name in names.split()
}
_KNOWN: Final = frozenset(
    ["CCOM_SOCKET_IFNAME", "CUDA_VISIBLE_DEVICES", "FI_EFA_ENABLE_SHM_TRANSFER", "FI_EFA_SET_CUDA_SYNC_MEMOPS", "FI_LOG_LEVEL", "FI_PROVIDER", "GLOO_SOCKET_IFNAME", "I_MPI_FABRICS", "I_MPI_OFI_PROVIDER", "MALLOC_ARENA_MAX", "MASTER_ADDR", "MASTER_PORT", "NCCL_ALGO", "NCCL_CROSS_NIC", "NCCL_DEBUG_SUBSYS", "NCCL_MAX_NCHANNELS", "NCCL_NET", "NCCL_NET_GDR_LEVEL", "NCCL_NET_PLUGIN", "NCCL_PROTO", "NCCL_SOCKET_IFNAME", "NCCL_TOPO_FILE", "NCCL_TUNER_PLUGIN", "NEURON_CC_FLAGS", "NEURON_COMPILE_CACHE_URL", "NEURON_FUSE_SOFTMAX", "NEURON_LOGICAL_NC_CONFIG", "NEURON_PJRT_PROCESSES_NUM_DEVICES", "NEURON_PJRT_PROCESS_INDEX", "NEURON_PLATFORM_TARGET_OVERRIDE", "NEURON_RT_LOG_LEVEL", "NEURON_RT_NUM_CORES", "NEURON_RT_ROOT_COMM_ID", "NEURON_RT_VIRTUAL_CORE_SIZE", "NEURON_RT_VISIBLE_CORES", "OFI_NCCL_PROTOCOL", "TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_BLOCKING_WAIT", "XLA_FLAGS", "XLA_IR_DEBUG", "XLA_HLO_DEBUG"]
) | _ALLOWED.keys()  # fmt: skip
_FAMILIES: Final = re.compile(
    "CCOM_|CUDA_|FI_|GLOO_|I_MPI_|MALLOC_ARENA|MASTER_|NCCL_|NEURON_|OFI_|OMPI_MCA_|PJRT_|TORCH_NCCL_|XLA_"
)
_ALIKE: Final = 0.94
_CORES: Final = ("NEURON_RT_NUM_CORES", "NEURON_RT_VISIBLE_CORES")
_LOGICAL: Final = ("NEURON_LOGICAL_NC_CONFIG", "NEURON_RT_VIRTUAL_CORE_SIZE")
_COMPILED: Final = re.compile(r"--l(?:nc|ogical-nc-config)[= ](\d+)")
_RANGE: Final = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")


@rule(JOB_ENVIRONMENT, containers_on_nodes)
def variables_are_known(container: JobContainer) -> Iterator[Wrong]:
    """Find misspelt names of libraries' variables, and values that the libraries refuse or that leave accelerators idle."""
    variables = container.environment
    for name, at in variables.items():
        near = difflib.get_close_matches(name, _KNOWN, 1, _ALIKE) if _FAMILIES.match(name) else []
        if near and name not in _KNOWN and near[0] not in variables:
            yield at, f"nothing reads {name}", near[0]
        form, got = _ALLOWED.get(name, (None, ""))
        accelerated = container.devices or any(each.is_neuron or each.gpus for each in container.machines)
        idle = name not in {"PJRT_DEVICE", "JAX_PLATFORMS"} or accelerated
        if form is not None and at.text is not None and idle and not form.fullmatch(at.text):
            yield at, f"{name}: got {quote(at.text)}, {got}", form.pattern
    cache = variables.get(XLA_CACHE_VARIABLE)
    if (
        cache is not None
        and cache.pattern.startswith("${")
        and any(each.type == BUCKET for each in cache.targets)
    ):
        yield cache, f"got {cache.pattern}, a folder of the container without s3://", "s3:// and the bucket"


@rule(JOB_ENVIRONMENT, containers_on_nodes)
def cores_are_those_of_the_chips(container: JobContainer) -> Iterator[Wrong]:
    """Find containers that count other cores than the Neuron devices that they map have, or compile for another size of cores."""
    variables, at = container.environment, container.at["LinuxParameters"]["Devices"]
    counts = {name: variables[name] for name in _CORES if name in variables}
    sizes = [variables[name].number for name in _LOGICAL if name in variables]
    flags = variables.get("NEURON_CC_FLAGS")
    compiled = _COMPILED.search(flags.text or "") if flags is not None else None
    if flags is not None and compiled and sizes and sizes[0] and int(compiled[1]) != sizes[0]:
        yield (
            flags,
            f"programs are compiled for {compiled[1]} and run with {sizes[0]} cores in one",
            f"{sizes[0]}",
        )
    paths = [each.text for each in container.devices]
    known = None not in paths and (at.missing or isinstance(at.value, list))
    if not counts or not known or not container.at["Privileged"].off:
        return
    given = {path for path in paths if re.fullmatch(r"/dev/neuron\d+", path or "")}
    for name, counted in counts.items():
        wanted = _count(name, counted)
        if not given:
            got = f"the environment counts {counted.pattern} Neuron cores, and no device is mapped"
            yield Problem.of(at, DEVICES, got, "the devices from /dev/neuron0")
        for machine in container.machines[:1] if given and wanted else ():
            if machine.is_neuron and wanted:
                size = next(filter(None, sizes), machine.neuron_cores // machine.logical_neuron_cores)
                held = len(given) * machine.neuron_cores // len(machine.neuron_devices) // size
                if wanted > held or (1 < wanted < held and given == {*machine.neuron_devices}):
                    yield counted, f"got {wanted} cores, and the devices have {held}", str(held)


@rule(JOB_ENVIRONMENT, containers_on_nodes)
def gpus_are_visible(container: JobContainer) -> Iterator[Wrong]:
    """Find multi-node jobs that hide GPUs of their nodes, which no other job can use."""
    at, gpus = (
        container.environment.get("CUDA_VISIBLE_DEVICES"),
        min((one.gpus for one in container.machines), default=0),
    )
    if at is not None and at.text is not None and (container.nodes or 2) > 1 and gpus:
        shown = [each for each in at.text.split(",") if each.strip().lstrip("-").isdigit() and int(each) >= 0]
        if len(shown) < gpus and "GPU-" not in at.text:
            yield (
                at,
                f"got {quote(at.text)}: {gpus - len(shown)} of {gpus} GPUs of each node stay idle",
                "all, or no value",
            )


def _count(name: str, at: Property) -> int | None:
    """Return how many cores a variable counts: a number, or those in a list of ranges."""
    if name == _CORES[0]:
        return at.number
    parts = [_RANGE.fullmatch(part.strip()) for part in (at.text or "x").split(",")]
    return None if None in parts else sum(int(one[2] or one[1]) - int(one[1]) + 1 for one in parts if one)
