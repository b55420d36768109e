"""A container of a job as values: its environment, and what of it the nodes have.

A rollout file, a construct and a template are read into the same value, so that each mistake has one rule and one code. What
only a deployment knows is None, and no rule judges it.
"""

import difflib
import fnmatch
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.neuron.compiler_flags import merge_compiler_flags
from ultracluster_catalog.neuron.neuron import (
    TORCHNEURON_CACHE_VARIABLE,
    VLLM_REMOTE_CACHE_VARIABLE,
    XLA_CACHE_VARIABLE,
    XLA_COMPILER_FLAGS_VARIABLE,
    process_counts,
)
from ultracluster_spec.commands import encode_word
from ultracluster_spec.credentials import shown
from ultracluster_spec.job_definitions import PROCESSES_VARIABLE, check_definition_size
from ultracluster_spec.names import REGION
from ultracluster_spec.neuron import LOGICAL_CORES_VARIABLE, Neuron, field_behind
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.rules import At, Place, rule

DEVICES: Final = "UC6402"
"""Code of Neuron devices that a job lacks."""

JOB_ENVIRONMENT: Final = "UC6416"
"""Code of an environment that does not fit the nodes."""

LIMITS: Final = "UC6406"
NO_FABRIC: Final = "UC6408"
"""Code of EFA devices that are not used."""

PERMISSIONS: Final = "UC6419"
"""Code of roles that may not do what their job needs."""

PROCESSES: Final = "UC6103"
"""Code of a number of processes that a node cannot have."""

TORCHRUN: Final = "UC6144"
"""Code of options with which torchrun does not join the nodes."""

VOLUMES: Final = "UC6417"
"""Code of folders and volumes that do not belong together."""

CORES_VARIABLES: Final = ("NEURON_RT_NUM_CORES", "NEURON_RT_VISIBLE_CORES")
"""Variables that count NeuronCores."""

CORE_SIZE_VARIABLES: Final = (LOGICAL_CORES_VARIABLE, "NEURON_RT_VIRTUAL_CORE_SIZE")
"""Variables with the number of physical cores in a logical one."""

NOTICES_FOLDER: Final = "/run/ultracluster"
"""Folder in which a node tells its jobs of the end of their Capacity Block; the launcher is in it too."""

OWNING_FOLDER: Final = (
    r"/(?:boot(?:/.*)?|proc(?:/.*)?|root(?:/.*)?|home/[^/]+/\.ssh(?:/.*)?"
    r"|dev(?:/(?:k?mem|port|nvme\d.*|sd[a-z].*|xvd[a-z].*|dm-\d.*))?|sys(?:/(?:fs|kernel)(?:/.*)?)?"
    r"|etc(?:/(?:cron|docker|ecs|init|ld\.so\.preload|pam\.d|profile|rc|shadow|ssh|sudoers|systemd).*)?"
    r"|(?:usr/)?lib(?:64)?|(?:usr/)?(?:local/)?s?bin(?:/.*)?|usr(?:/local)?"
    r"|var(?:/lib(?:/(?:amazon|cloud|containerd|docker|ecs)(?:/.*)?)?)?"
    r"|(?:var/)?run(?:/(?:containerd|dbus|docker|ecs|podman|systemd).*)?)?/?"
)
"""Folders and disks of a node by which a container owns it: its programs, its settings, other processes and containers.

https://docs.aws.amazon.com/AmazonECS/latest/developerguide/security-tasks-containers.html,
https://docs.docker.com/engine/security/#docker-daemon-attack-surface (2026-11)
"""

WRITTEN_OBJECTS: Final = re.compile("(?i)cache|checkpoint|output|result|save")
"""Names of variables with a place in S3 that a program writes to."""

WRITTEN: Final = re.compile("CHECKPOINT|CKPT|^(?:RUN|SAVE|OUTPUT|RESULTS?)_DIR$")
"""Names of variables with the folder that a program writes to."""

# Values of AWS's multi-node examples: aws-neuron/neuronx-distributed-training, examples/train_setup.sh (glibc's arenas of
# many threads exhaust the memory of the host), and the tutorials for trn2 of the Neuron documentation, 2026-08, whose pages
# name 30 and 600 seconds as the default: a step that waits for another node takes longer than 30.
_NEURON_DEFAULTS: Final = {"MALLOC_ARENA_MAX": "128", "NEURON_RT_EXEC_TIMEOUT": "600"}

WITHOUT_EFA: Final = {"FI_PROVIDER": "tcp", "FI_EFA_USE_DEVICE_RDMA": "0"}
"""Variables of a job over several nodes without EFA."""

# Options of torchrun without a value: torch.distributed.run of PyTorch 2.9.
_NO_FILE: Final = {"--no-python", "--run-path", "-m", "--module"}
_TORCHRUN_SWITCHES: Final = {"--standalone", "--virtual-local-rank", "--", *_NO_FILE}
# Programs before a script in the habit of a shell or of another launcher.
_PROGRAM: Final = re.compile(
    r"(?:.*/)?(?:python[0-9.]*|(?:ba|da|z)?sh|env)|torchrun|accelerate|deepspeed|mpi(?:run|exec)|neuron_parallel_compile|srun|uv"
)
_PROCESSES_VARIABLES: Final = (PROCESSES_VARIABLE, "NPROC_PER_NODE", "PET_NPROC_PER_NODE")

# Sizes in the definition of one of our jobs, or a little more: without what a job determines; of the program with
# which the children of an array meet; of each variable; and of each device.
_FIXED_BYTES: Final = 2_400
_RENDEZVOUS_BYTES: Final = 6_600
_VARIABLE_BYTES: Final = 24
_DEVICE_BYTES: Final = 112

_FEW_FILES: Final = 4096
_SWITCH: Final = "0|1|true|false|on|off|yes|no"
_POSITIVE: Final = r"[1-9]\d*"
_PORT: Final = r"(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])"
_OFF: Final = "0|false|off|no"
_NOT_LOCAL: Final = r"(?!127\.|localhost|0\.0\.0\.0|\[?::)"
_INTERFACES: Final = r"(?!(?:=?(?:lo|docker\d+|ecs-eth0|veth\w*|br-\w+)(?:,|$))+$).+"
_LIBRARY: Final = r"(?:/[^\s:]*/|/)?[^\s:/]+\.so[\d.]*"
_CORE_RANGES: Final = r"\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*"
_MAIN: Final = "the address of the main node, set by the command of the job"
# Names, the form of values that are of use, what others do, and what is right. libfabric fi_efa(7) and fabric(7); NCCL user guide, environment
# variables; Neuron runtime configuration; PyTorch elastic launch; PJRT plug-ins of JAX and PyTorch/XLA; Open MPI FAQ; execvp(3); ld.so(8) (2026-11).
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
    ("NEURON_RT_NUM_CORES NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS NCCL_BUFFSIZE NCCL_TIMEOUT", r"\d+", "which is no number", "a number"),
    ("NEURON_RT_VISIBLE_CORES", _CORE_RANGES, "which names no cores", "numbers and ranges, such as 0-31"),
    ("MASTER_PORT", _PORT, "which is no port", "1 to 65,535"),
    ("AWS_REGION AWS_DEFAULT_REGION", REGION.pattern, "which is no Region", "no value: the job has its Region, or another one, such as us-east-2"),
    ("PATH", r"(?:.*:)?(?:/usr)?(?:/local)?/bin/?(?::.*)?", "which replaces the PATH of the image, so that its programs are not found", "no value, or a list with /usr/bin"),
    ("LD_PRELOAD", rf"{_LIBRARY}(?:[\s:]+{_LIBRARY})*", "which is no library", "no value, or libraries, such as /usr/lib/libexample.so"),
    (XLA_CACHE_VARIABLE, r"s3://[a-z0-9].*|/.*|\$.*", "which is a folder of the container without s3://", "s3:// and the bucket, or an absolute path"),
    (f"{TORCHNEURON_CACHE_VARIABLE} {VLLM_REMOTE_CACHE_VARIABLE}", r"/.*|\$.*", "which is no folder", "an absolute path"),
    ("OMPI_MCA_pml", "cm|\\^ob1|.*cm.*", "with which Open MPI does not use libfabric", "cm"),
    ("OMPI_MCA_btl", r"\^.*|.*ofi.*|self|vader,self|self,vader", "with which Open MPI uses TCP", "^tcp"),
)  # fmt: skip
# The same, of jobs over several nodes only.
_BETWEEN_NODES: Final = (
    ("MASTER_ADDR", f"{_NOT_LOCAL}.+", "which is another host on each node", _MAIN),
    ("NEURON_RT_ROOT_COMM_ID", rf"{_NOT_LOCAL}.+:{_PORT}", "which is another host on each node, or no address with a port", _MAIN),
    ("CCOM_SOCKET_IFNAME GLOO_SOCKET_IFNAME NCCL_SOCKET_IFNAME TP_SOCKET_IFNAME", _INTERFACES, "an interface that does not reach other nodes", "eth0"),
    ("RANK LOCAL_RANK GROUP_RANK NODE_RANK PET_NODE_RANK JAX_PROCESS_ID NEURON_PJRT_PROCESS_INDEX OMPI_COMM_WORLD_RANK", r"(?!)", "the same on every node, where each process has its own", "no value: what starts the processes sets it"),
)  # fmt: skip
# The same, of nodes with EFA.
_OVER_EFA: Final = (
    ("FI_EFA_USE_DEVICE_RDMA", f"(?!({_OFF})$).*", "which takes the direct path between chips and EFA away", "1"),
    ("NCCL_NET", "(?!socket$).*", "with which NCCL uses TCP beside EFA", "no value, or the plug-in for libfabric"),
    ("NCCL_NET_PLUGIN", "(?!none$).*", "without which NCCL does not use libfabric", "no value, or aws-ofi"),
    ("I_MPI_FABRICS", ".*ofi.*", "with which Intel MPI does not use libfabric", "shm:ofi"),
    ("I_MPI_OFI_PROVIDER", "efa.*", "with which Intel MPI does not use EFA", "efa"),
)  # fmt: skip
_COMPILER: Final = (XLA_COMPILER_FLAGS_VARIABLE, "NEURON_PLATFORM_TARGET_OVERRIDE", "XLA_FLAGS")
_ACCELERATED: Final = {"PJRT_DEVICE", "JAX_PLATFORMS"}
_KNOWN: Final = {name for names, *_ in (*_VALUES, *_BETWEEN_NODES, *_OVER_EFA) for name in names.split()} | {
    *CORE_SIZE_VARIABLES, *_COMPILER,
    "CUDA_VISIBLE_DEVICES", "FI_EFA_ENABLE_SHM_TRANSFER", "FI_EFA_SET_CUDA_SYNC_MEMOPS", "FI_PROVIDER",
    "NCCL_ALGO", "NCCL_CROSS_NIC", "NCCL_DEBUG_SUBSYS", "NCCL_MAX_NCHANNELS", "NCCL_NET_GDR_LEVEL", "NCCL_PROTO",
    "NCCL_TOPO_FILE", "NCCL_TUNER_PLUGIN", "NEURON_EXTRACT_GRAPHS_ONLY", "NEURON_FUSE_SOFTMAX",
    "NEURON_PJRT_PROCESSES_NUM_DEVICES", "NEURON_RT_INSPECT_ENABLE", "NEURON_RT_LOG_LEVEL",
    "NEURON_RT_LOG_LOCATION", "NEURON_RT_STOCHASTIC_ROUNDING_SEED", "OFI_NCCL_PROTOCOL",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_BLOCKING_WAIT", "XLA_IR_DEBUG", "XLA_HLO_DEBUG",
}  # fmt: skip
# How alike a name must be to one of these to be a slip of the pen: names of other programs are alike by chance.
_ALIKE: Final = 0.94
_ALIKE_OF_NEURON: Final = 0.9
# Options of the Neuron compiler: the family of chips, and the size of logical cores.
_TARGET: Final = re.compile(r"--target[= ](inf[12]|trn[123]n?)")
_CORE_SIZE: Final = re.compile(r"--l(?:nc|ogical-nc-config)[= ](\d+)")
_RANGE: Final = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")
_NEURON_DEVICE: Final = re.compile(r"/dev/neuron\d+")
_EFA_DEVICE: Final = re.compile(r"/dev/infiniband/uverbs\d{1,3}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Container:
    """A container of a job, as far as it is known before a deployment."""

    environment: Mapping[str, str | None]
    """Variables; None for a value that is not known."""

    node_count: int | None
    """Number of nodes of the job, each with one such container; None if not known."""

    instance_types: tuple[InstanceType, ...]
    """Types that its nodes can have; empty if not known."""

    devices: tuple[str | None, ...] | None
    """Devices of the node that it maps, None for one that is not known; None if it is not known how many."""

    privileged: bool = False
    """Whether it sees devices without mapping them, or may do so. Default: no."""

    folders: Mapping[str, bool] | None = field(default_factory=dict)
    """Folders that it mounts, and whether each is read only; None if not known. Default: none."""

    objects: Mapping[str, tuple[str, ...]] | None = None
    """Objects in S3 that the job may read (s3:GetObject) and write (s3:PutObject), as BUCKET/KEY with wildcards. Default: not
    known, as in a template, where references and keys count, and in a construct, whose role may get more."""

    command: tuple[str | None, ...] = ()
    """Words that its user gives to the launcher; None for one that is not known. Default: none."""

    launcher: str = "raw"
    """What starts the command: torchrun takes its first words as options. Default: nothing of ours."""

    processes: int | None = None
    """Number of processes that a setting chooses on each node. Default: not known."""

    processes_place: Place = ("processes_per_node",)
    """The setting that chooses them. Default: that of a job."""

    image: str = ""
    """Its image. Default: not known."""

    secrets: Mapping[str, str] = field(default_factory=dict)
    """ARNs of secrets by the variables that hold them. Default: none."""

    ulimits: Mapping[str, int | None] = field(default_factory=dict)
    """Soft limits of its processes by name; None for one that is not known. Default: none."""

    meets: bool = False
    """Whether it starts with the program with which the children of an array meet. Default: no."""

    @property
    def on_several_nodes(self) -> bool:
        """Whether the job may have several nodes."""
        return self.node_count is None or self.node_count > 1

    @property
    def uses_efa(self) -> bool:
        """Whether it maps devices of EFA."""
        return any(_EFA_DEVICE.fullmatch(path or "") for path in self.devices or ())

    @property
    def torchrun_options(self) -> list[tuple[int, str, str]]:
        """Options of torchrun in its command, also in one for a shell: place of the word, name and value."""
        return [option for options, _ in self._torchrun_calls() for option in options]

    @property
    def torchrun_programs(self) -> Iterator[tuple[int, str]]:
        """Words that torchrun starts as files of Python, with their places; none in a text for a shell."""
        plain = self.launcher == "torchrun" or "torchrun" in self.command
        for options, program in self._torchrun_calls() if plain else ():
            if program is not None and _NO_FILE.isdisjoint(name for _, name, _ in options):
                yield program

    def _torchrun_calls(self) -> Iterator[tuple[list[tuple[int, str, str]], tuple[int, str] | None]]:
        texts = [(place, word) for place, text in enumerate(self.command) for word in (text or "").split()]
        starts = [
            number for number, (_, word) in enumerate(texts, 1) if word.rpartition("/")[2] == "torchrun"
        ]
        for start in [0] if self.launcher == "torchrun" else starts:
            words, options = iter(texts[start:]), []
            program = None
            for place, word in words:
                name, equals, value = word.replace("_", "-").partition("=")
                if not name.startswith("-"):
                    program = place, word
                    break
                if not equals and name not in _TORCHRUN_SWITCHES:
                    value = next(words, (0, ""))[1]
                options.append((place, name, word.partition("=")[2] if equals else value))
            yield options, program

    @property
    def core_size(self) -> int | None:
        """How many physical cores a variable joins to a logical one; None without such a variable."""
        sizes = [self.environment[name] for name in CORE_SIZE_VARIABLES if name in self.environment]
        return int(sizes[0][:9]) if sizes and sizes[0] and sizes[0].isdecimal() else None


def job_environment(
    neuron: Neuron, instance_type: InstanceType, *, given: Mapping[str, str], cache: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment of a job: given variables win, except that compiler flags are merged.

    Args:
        neuron: Its Neuron settings.
        instance_type: Type of its nodes.
        given: Variables of its user, and those that its kind sets in their place.
        cache: Variables of its compile cache.
    """
    merged = {
        "FI_PROVIDER": "efa",
        "FI_EFA_USE_DEVICE_RDMA": "1",
        **(_NEURON_DEFAULTS if instance_type.is_neuron else {}),
        **cache,
        **neuron.variables(),
        **given,
    }
    flags = [
        cache.get(XLA_COMPILER_FLAGS_VARIABLE, ""),
        *neuron.flags(),
        given.get(XLA_COMPILER_FLAGS_VARIABLE, ""),
    ]
    if text := merge_compiler_flags(flags):
        merged[XLA_COMPILER_FLAGS_VARIABLE] = text
    return merged


def folders_of_jobs(file_system: str | None, scratch: str | None) -> dict[str, bool]:
    """Return the folders that every job mounts, and whether each is read only; None is not mounted."""
    return {path: False for path in (file_system, scratch) if path is not None} | {NOTICES_FOLDER: True}


def setting_behind(place: Place, given: Mapping[str, str]) -> Place:
    """Return the setting of a job that a place in its container comes from; `given` are variables of its user."""
    name = str(place[-1])
    setting = None if name in given else field_behind(name)
    return place if setting is None else ("neuron", setting)


@rule(JOB_ENVIRONMENT)
def names_are_read(container: Container) -> Iterator[At]:
    """A variable whose name is almost that of a library's is that variable."""
    for name in container.environment.keys() - _KNOWN:
        upper = name.upper()
        alike = _ALIKE_OF_NEURON if upper.startswith("NEURON") else _ALIKE
        near = [upper] if upper in _KNOWN else difflib.get_close_matches(upper, _KNOWN, 1, alike)
        if near:
            yield At(("environment", name), "nothing reads it", near[0])


@rule(JOB_ENVIRONMENT)
def values_are_of_use(container: Container) -> Iterator[At]:
    """A value is one that its library takes, uses the accelerators, and is right on every node."""
    accelerated = container.devices or any(each.is_neuron or each.gpus for each in container.instance_types)
    # For an unknown type, only the mapped devices show whether it has EFA.
    over_efa = (
        any(each.efa_interfaces for each in container.instance_types)
        if container.instance_types
        else container.uses_efa or container.privileged
    )
    forms = [*_VALUES]
    if container.on_several_nodes:
        forms += [*_BETWEEN_NODES, *(_OVER_EFA if over_efa else ())]
    for names, form, problem, allowed in forms:
        for name in names.split():
            text = container.environment.get(name)
            if text is None or re.fullmatch(form, text, re.IGNORECASE):
                continue
            if accelerated or name not in _ACCELERATED:
                yield At(("environment", name), f"got {shown(text)}, {problem}", allowed)


@rule(JOB_ENVIRONMENT)
def values_fit_the_chips(container: Container) -> Iterator[At]:
    """Numbers and sizes of cores, and targets of the compiler, are those of the chips."""
    chips = [instance_type for instance_type in container.instance_types if instance_type.is_neuron]
    for name, text in (
        container.environment.items() if chips and len(chips) == len(container.instance_types) else ()
    ):
        misfit = _misfit(name, text, chips, container.core_size) if text is not None else None
        if misfit is not None:
            yield At(("environment", name), f"got {shown(text)}, {misfit[0]}", misfit[1])


def _misfit(name: str, text: str, chips: list[InstanceType], size: int | None) -> tuple[str, str] | None:
    """Return the requirement of a variable that the chips do not meet, and what they offer."""
    # Only what none of the types has is wrong: nothing says which of them the job gets.
    grouped = any(_joins_cores(each) for each in chips)
    if name in CORES_VARIABLES:
        joined = 2 if grouped and size == 2 else 1  # noqa: PLR2004 - the only size beside 1
        most = max(each.neuron_cores // (joined if _joins_cores(each) else 1) for each in chips)
        counted = range(1, most + 1) if name == CORES_VARIABLES[0] else range(most)
        if any(int(number[:9]) not in counted for number in re.findall(r"\d+", text)):
            cores = "cores" if joined == 1 else "logical cores of two"
            return f"and a node has {most} {cores}", f"{counted[0]} to {counted[-1]}"
    if name in _COMPILER:
        target = _TARGET.search(f"--target={text}" if name == "NEURON_PLATFORM_TARGET_OVERRIDE" else text)
        if target and not any(each.name.startswith(target[1][:4]) for each in chips):
            return f"and the chips are those of {chips[0].name}", chips[0].name.partition(".")[0]
    option = _CORE_SIZE.search(text) if name in _COMPILER else None
    chosen = option[1] if option else text if name in CORE_SIZE_VARIABLES else None
    if chosen is not None and chosen not in ({"1", "2"} if grouped else {"1"}):
        return "a size of logical cores that the chips do not have", "1 or 2" if grouped else "1"
    return None


def _joins_cores(instance_type: InstanceType) -> bool:
    """Whether its chips can join two cores to a logical one."""
    return instance_type.neuron_cores != instance_type.logical_neuron_cores


@rule(JOB_ENVIRONMENT)
def programs_are_compiled_for_the_cores(container: Container) -> Iterator[At]:
    """Programs are compiled for the size of cores that they run with."""
    flags, size = container.environment.get(XLA_COMPILER_FLAGS_VARIABLE), container.core_size
    compiled = _CORE_SIZE.search(flags or "")
    if compiled and size and int(compiled[1][:9]) != size:
        got = f"programs are compiled for {compiled[1]} and run with {size} cores in one"
        yield At(("environment", XLA_COMPILER_FLAGS_VARIABLE), got, f"{size}")


@rule(JOB_ENVIRONMENT)
def cores_are_those_of_the_devices(container: Container) -> Iterator[At]:
    """A container counts the cores that its Neuron devices have."""
    paths = container.devices
    if paths is None or None in paths or container.privileged:
        return
    mapped = {path for path in paths if _NEURON_DEVICE.fullmatch(path or "")}
    for name in (each for each in CORES_VARIABLES if each in container.environment):
        text, at = container.environment[name], ("environment", name)
        wanted = _counted(name, text)
        if not mapped:
            counted = shown(text) if text is not None else "some"
            yield At(
                at,
                f"counts {counted} Neuron cores, and no device is mapped",
                "the devices from /dev/neuron0",
                code=DEVICES,
            )
        for instance_type in container.instance_types[:1] if mapped and wanted else ():
            if instance_type.is_neuron and wanted and wanted <= instance_type.neuron_cores:
                joined = (
                    container.core_size or instance_type.neuron_cores // instance_type.logical_neuron_cores
                )
                held = len(mapped) * instance_type.neuron_cores // len(instance_type.neuron_devices) // joined
                if wanted > held or (1 < wanted < held and mapped == {*instance_type.neuron_devices}):
                    yield At(at, f"got {wanted} cores, and the devices have {held}", str(held))


def _counted(name: str, text: str | None) -> int | None:
    """Return how many cores a variable counts: a number, or those in a list of ranges."""
    if name == CORES_VARIABLES[0]:
        return int(text[:9]) if text and text.isdecimal() else None
    parts = [_RANGE.fullmatch(part.strip()) for part in (text or "x").split(",")]
    return None if None in parts else sum(int(one[2] or one[1]) - int(one[1]) + 1 for one in parts if one)


@rule(PROCESSES)
def processes_fit_the_cores(container: Container) -> Iterator[At]:
    """A node has a core for each process, and collectives over as many processes."""
    instance_types = [instance_type for instance_type in container.instance_types if instance_type.is_neuron]
    for place, count in _processes(container) if len(instance_types) == len(container.instance_types) else ():
        misfits = [
            _misfit_of_processes(count, instance_type, container.core_size)
            for instance_type in instance_types
        ]
        if misfits and misfits[0] and None not in misfits:
            yield At(place, *misfits[0])


def _processes(container: Container) -> Iterator[tuple[Place, int]]:
    """Yield the numbers of processes that settings, variables and torchrun choose, with their places."""
    if container.processes is not None:
        yield container.processes_place, container.processes
    for name in _PROCESSES_VARIABLES:
        text = container.environment.get(name)
        if text and text.isdecimal():
            yield ("environment", name), int(text[:9])
    for place, name, text in container.torchrun_options:
        if name == "--nproc-per-node" and text.isdecimal():
            yield ("command", place), int(text[:9])


def _misfit_of_processes(count: int, instance_type: InstanceType, size: int | None) -> tuple[str, str] | None:
    """Return why a node cannot have some processes, and how many it can have."""
    cores, counts = instance_type.logical_neuron_cores, process_counts(instance_type)
    if size in {1, 2} and _joins_cores(instance_type):
        cores, counts = instance_type.neuron_cores // size, process_counts(instance_type, size)
    if count > cores:
        return f"got {count} processes, but {instance_type.name} has {cores} NeuronCores" + (
            " of two each" if cores < instance_type.neuron_cores else ""
        ), f"1 to {cores}"
    if counts and count not in counts:
        named = f"{', '.join(map(str, counts[:-1]))} or {counts[-1]}"
        return (
            f"got {count} processes, over which collectives on {instance_type.name} are not supported",
            named,
        )
    return None


@rule(TORCHRUN)
def torchrun_joins_the_nodes(container: Container) -> Iterator[At]:
    """The processes that torchrun starts on the nodes of a job are one group."""
    options = container.torchrun_options if container.on_several_nodes else []
    several = f"{container.node_count} nodes" if container.node_count else "several nodes"
    for place, name, text in options:
        local = name in {"--rdzv-endpoint", "--master-addr"} and not re.match(_NOT_LOCAL, text, re.IGNORECASE)
        fewer = (
            name == "--nnodes"
            and text.isdecimal()
            and int(text[:9]) != (container.node_count or int(text[:9]))
        )
        alone = name == "--nnodes" and text == "1"
        if name == "--standalone" or local or fewer or alone or (name == "--node-rank" and text.isdecimal()):
            got = f"got {shown(f'{name}={text}' if text else name)} in a job over {several}: they do not find each other"
            yield At(
                ("command", place),
                got,
                "options that are right on every node",
                "Use the launcher torchrun, which sets them",
            )


@rule("UC6145")
def torchrun_starts_python(container: Container) -> Iterator[At]:
    """Torchrun starts a file or a module of Python, not a program before it."""
    for place, word in container.torchrun_programs:
        if _PROGRAM.fullmatch(word):
            remedy = (
                f"Leave out {shown(word)}"
                if "python" in word or word == "torchrun"
                else "Use the launcher raw"
            )
            got = f"got {shown(word)}, which torchrun would open as a file of Python on every node"
            yield At(("command", place), got, "a file such as train.py, or -m and a module", remedy)


@rule(JOB_ENVIRONMENT)
def gpus_are_visible(container: Container) -> Iterator[At]:
    """A job over several nodes uses all GPUs of its nodes, which no other job can use."""
    name = "CUDA_VISIBLE_DEVICES"
    text = container.environment.get(name)
    gpus = min((instance_type.gpus for instance_type in container.instance_types), default=0)
    if text is None or "GPU-" in text or container.node_count == 1:
        return
    idle = gpus - sum(part.strip().isdigit() for part in text.split(","))
    if idle > 0:
        got = f"got {shown(text)}: {idle} of {gpus} GPUs of each node stay idle"
        yield At(("environment", name), got, "all, or no value")


@rule(NO_FABRIC)
def fabric_is_efa(container: Container) -> Iterator[At]:
    """A job with EFA devices uses them."""
    provider = container.environment.get("FI_PROVIDER")
    if provider not in {None, "efa"} and container.uses_efa:
        got = f"got {shown(provider)}, so that the EFA devices are not used"
        yield At(("environment", "FI_PROVIDER"), got, "efa")


@rule(LIMITS)
def limits_let_all_ranks_meet(container: Container) -> Iterator[At]:
    """Processes may lock the memory that EFA registers, and connect to all ranks."""
    locked, files = (container.ulimits.get(name) for name in ("memlock", "nofile"))
    if container.uses_efa and locked not in {None, -1}:
        yield At(("ulimits", "memlock"), f"got {locked}", "-1, which is no limit")
    if container.on_several_nodes and files is not None and 0 <= files < _FEW_FILES:
        got = f"got {files}: processes with connections to all ranks need more open files"
        yield At(("ulimits", "nofile"), got, "65,536 or more")


@rule(VOLUMES)
def checkpoints_are_kept(container: Container) -> Iterator[At]:
    """Checkpoints are written to a folder that outlives the container, where there is one."""
    folders = container.folders
    for name, text in container.environment.items() if folders else ():
        if not folders or text is None or not text.startswith("/") or not WRITTEN.search(name):
            continue
        around = [path for path in folders if f"{text}/".startswith(f"{path.rstrip('/')}/")]
        if not around:
            got = f"got {shown(text)}, which is in no volume and ends with the container"
            writable = [path for path, is_read_only in folders.items() if not is_read_only]
            yield At(("environment", name), got, f"a folder in {' or '.join(writable or folders)}")
        elif any(folders[path] for path in around):
            yield At(("environment", name), f"got {shown(text)}, which nothing can write", "another folder")


@rule(PERMISSIONS)
def objects_may_be_used(container: Container) -> Iterator[At]:
    """A job may use the objects in S3 that its environment names."""
    for name, text in container.environment.items() if container.objects is not None else ():
        bucket, _, key = (text or "").removeprefix("s3://").partition("/")
        if container.objects is None or not bucket or not (text or "").startswith("s3://"):
            continue
        actions = ("s3:PutObject",) if WRITTEN_OBJECTS.search(name) else ("s3:GetObject", "s3:PutObject")
        usable = [pattern for action in actions for pattern in container.objects.get(action, ())]
        paths = (f"{bucket}/{key}", f"{bucket}/{key.rstrip('/')}/x")
        if not any(fnmatch.fnmatchcase(path, pattern) for path in paths for pattern in usable):
            got = f"names {bucket}, and the job may not use {' or '.join(actions)} there"
            yield At(("environment", name), got, "a bucket of the cluster, or one in `permissions`")


@rule()
def definition_is_small_enough(container: Container) -> Iterator[At]:
    """The definition of a job of ours, with all that is added to it, is one that AWS Batch takes."""
    command = sum(_bytes(encode_word(word or "")) + 1 for word in container.command)
    named = [*container.environment.items(), *container.secrets.items()]
    variables = {name: _bytes(name) + _bytes(text or "") + _VARIABLE_BYTES for name, text in named}
    size = _FIXED_BYTES + len(container.image) + (_RENDEZVOUS_BYTES if container.meets else 0)
    size += _DEVICE_BYTES * len(container.devices or ()) + command + sum(variables.values())
    largest = max(variables, key=lambda name: variables[name], default="")
    kind = "secrets" if largest in container.secrets else "environment"
    place = ("command",) if command > variables.get(largest, 0) else (kind, largest)
    yield from (At.of(place, finding) for finding in check_definition_size(size))


def _bytes(text: str) -> int:
    return len(json.dumps(text))


CONTAINER_RULES: Final = (
    names_are_read,
    values_are_of_use,
    values_fit_the_chips,
    programs_are_compiled_for_the_cores,
    cores_are_those_of_the_devices,
    processes_fit_the_cores,
    torchrun_joins_the_nodes,
    torchrun_starts_python,
    gpus_are_visible,
    fabric_is_efa,
    limits_let_all_ranks_meet,
    checkpoints_are_kept,
)
"""Rules about a container of a job."""

JOB_RULES: Final = (*CONTAINER_RULES, objects_may_be_used, definition_is_small_enough)
"""Rules about the container of a job of ours; a template tells its size and the permissions of its role exactly."""

RECORDS: Final = (
    RuleRecord(
        "UC6103",
        "A job starts a number of processes that its node has NeuronCores and collectives for.",
        remedy="Start one process for each logical NeuronCore, which is the default: 64 on a trn2.48xlarge, 32 on a trn1.32xlarge; set `neuron: {logical_nc_config: 1}` for 128.",
        source='Neuron documentation, logical NeuronCore configuration, 2026-10; the runtime\'s "Unsupported topology", https://github.com/huggingface/optimum-neuron/issues/619, 2024-06.',
        in_templates=True,
    ),
    RuleRecord(
        "UC6144",
        "The processes that torchrun starts on the nodes of a job are one group.",
        remedy="Leave out --standalone, and a number, rank or address of nodes that is right on one of them only: the launcher torchrun sets them.",
        source="https://docs.pytorch.org/docs/stable/elastic/run.html: --standalone starts a local rendezvous, and the options for it are not used.",
        in_templates=True,
    ),
    RuleRecord(
        "UC6145",
        "Torchrun starts a file or a module of Python.",
        remedy="Leave out python, torchrun or another launcher before the script: the launcher torchrun starts Python itself. Use the launcher raw for other programs.",
        source="https://docs.pytorch.org/docs/stable/elastic/run.html: --no-python is what skips python before the training script.",
        in_templates=True,
    ),
    RuleRecord(
        "UC6402",
        "A job over several nodes gets every Neuron device of its nodes, and no other.",
        remedy="Map /dev/neuron0 onwards, as many as the type has chips.",
        source="Neuron documentation, containers (2026-08-21); DescribeInstanceTypes as moto 5.2.5 ships it.",
        in_templates=True,
    ),
    RuleRecord(
        "UC6406",
        "A job with EFA may lock all of its memory.",
        remedy="Set the ulimit memlock with -1 for both values.",
        source="EC2 user guide, get started with EFA: memory is registered with the interface.",
        in_templates=True,
    ),
    RuleRecord(
        "UC6408",
        "A job with EFA devices uses them.",
        remedy="Set FI_PROVIDER to efa, or leave it out.",
        source="Neuron documentation, EFA environment variables (2026-08-21).",
        in_templates=True,
    ),
    RuleRecord(
        "UC6416",
        "The environment of a job fits EFA and the chips of its nodes.",
        remedy="Use a value that the nodes have, or leave the variable out.",
        source="AWS Neuron documentation, runtime configuration and EFA, 2026-08; EC2 user guide, EFA.",
        in_templates=True,
    ),
    RuleRecord(
        "UC6417",
        "A mount point is of a volume of its container.",
        remedy="Name a volume of the container.",
        source="AWS Batch API Reference, MountPoint, 2026-11.",
        in_templates=True,
    ),
    RuleRecord(
        "UC6419",
        "The roles of a job may use the buckets of its environment, pull its image and write its logs.",
        remedy="Allow s3:GetObject and s3:PutObject on the objects of the bucket.",
        source="Amazon S3 user guide, policies and permissions, 2026-11.",
        in_templates=True,
    ),
)
