"""A job of a cluster: an AWS Batch job definition of one of four kinds, its permissions, gates and Neuron settings."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_spec.bounds import Between, Checked, Form, Known, NotEmpty
from ultracluster_spec.container import OWNING_FOLDER, PROCESSES, Container
from ultracluster_spec.credentials import credential, names_credential, shown
from ultracluster_spec.did_you_mean import suggestion
from ultracluster_spec.findings import Finding, Severity, is_number_token, quote
from ultracluster_spec.grants import HARMLESS_POLICIES, POWERFUL_POLICIES, forbidden, is_named, powers
from ultracluster_spec.instance_type import COMPILE_TYPE
from ultracluster_spec.job_definitions import (
    ARRAY_SIZE,
    ATTEMPTS,
    IMAGE_REFERENCE,
    LEAST_BANDWIDTH,
    MOST_LATENCY,
    NODES,
    RESUME,
    TIMEOUT_HOURS,
    VARIABLE,
    check_phase,
    check_support_command,
    refuse_for_kind,
)
from ultracluster_spec.names import Name, resource_id
from ultracluster_spec.neuron import LOGICAL_CORES_VARIABLE, Neuron
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.rules import At, Place, rule
from ultracluster_spec.values import Value, default_of

_KINDS: Final = {
    "nodes": "multi-node",
    "array_size": "single-node",
    "instance_type": "precompile",
    "method": "precompile",
    "phase": "precompile",
}

PROCESSES_PER_NODE: Final = Between(code=PROCESSES, least=1, most=1_024)


def _check_secret(name: str) -> list[Finding]:
    """Refuse credentials: everyone who may describe a job definition can read its variables."""
    return [credential(f"the value of {shown(name)} is a credential")] if names_credential(name) else []


_Secret = Annotated[str, VARIABLE]
_Variable = Annotated[_Secret, Checked(_check_secret)]
SECRET_ARN: Final = Form(
    code="UC6122",
    pattern=r"arn:aws[a-z-]*:(?:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]+-[A-Za-z0-9]{6}(?::[^:]+::)?"
    r"|ssm:[a-z0-9-]+:[0-9]{12}:parameter/[A-Za-z0-9_./-]+)",
    allowed="the ARN of a secret of AWS Secrets Manager with its six random characters, or of a parameter of Systems Manager",
)
"""ARN of a secret that AWS Batch passes to a job."""

_SecretArn = Annotated[str, SECRET_ARN]

_Action = Annotated[
    str,
    Form(
        code="UC6121",
        pattern=r"[a-z0-9-]+:[A-Za-z0-9]+",
        allowed="SERVICE:ACTION without a wildcard, such as s3:GetObject",
    ),
]

_Resource = Annotated[
    str,
    Form(code="UC6121", pattern=r"arn:aws[a-z-]*:\S+|\*", allowed="an ARN, or * for actions without one"),
]

_ManagedPolicyArn = Annotated[
    str,
    Form(
        code=SECRET_ARN.code,
        pattern=r"arn:aws[a-z-]*:iam::(?:[0-9]{12}|aws):policy/[A-Za-z0-9_.,+@=/-]+",
        allowed="the ARN of a managed policy, such as arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess",
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement(Value):
    """A statement of the policy of a job's role."""

    actions: Annotated[tuple[_Action, ...], NotEmpty("UC6121")]
    """Actions, such as s3:GetObject; no wildcards."""

    resources: Annotated[tuple[_Resource, ...], NotEmpty("UC6121")]
    """ARNs that the actions apply to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Permissions(Value):
    """Permissions of the role of a job."""

    statements: tuple[Statement, ...] = ()
    """Statements that allow actions. Default: none."""

    managed_policy_arns: tuple[_ManagedPolicyArn, ...] = ()
    """ARNs of managed policies. Default: none."""


@rule("UC6123")
def nothing_is_bought_by_a_job(permissions: Permissions) -> Iterator[At]:
    """No job may buy or reserve capacity, or change IAM."""
    for place, action, _ in _allowed(permissions):
        if forbidden(action):
            problem = f"got {quote(action)}, which buys or reserves capacity, or changes permissions"
            yield At(place, problem, remedy="Remove it: the role of the job denies it")


@rule("UC6123")
def powers_are_on_named_resources(permissions: Permissions) -> Iterator[At]:
    """What acts as another role, deletes, ends, or starts what is paid is allowed on named resources only."""
    for place, action, resources in _allowed(permissions):
        for power in () if forbidden(action) else powers(action):
            if unnamed := [each for each in resources if not is_named(each, power)]:
                problem = f"{quote(action)}, which {power}, is allowed on {quote(unnamed[0])}"
                yield At(place, problem, allowed="the ARNs of certain resources", remedy="Name the resources")
                break


@rule("UC6124")
def managed_policies_are_harmless(permissions: Permissions) -> Iterator[At]:
    """Managed policies allow nothing beyond the work of a program."""
    for index, arn in enumerate(permissions.managed_policy_arns):
        owner, name = arn.split(":")[4], arn.rpartition("/")[2]
        known = POWERFUL_POLICIES.get(name, ()) if owner == "aws" else ()
        if owner == "aws" and HARMLESS_POLICIES.fullmatch(name):
            continue
        what = f"it {', '.join(known)}" if known else "what it allows is unknown here"
        problem = f"got {quote(arn)}: {what}. The Deny `Never` of the role still refuses to buy, reserve or change IAM"
        yield At(("managed_policy_arns", index), problem)


def _allowed(permissions: Permissions) -> Iterator[tuple[Place, str, tuple[str, ...]]]:
    """Iterate over the actions of the statements, with their places and resources."""
    for index, statement in enumerate(permissions.statements):
        for number, action in enumerate(statement.actions):
            yield ("statements", index, "actions", number), action, statement.resources


PERMISSION_RULES: Final = (
    nothing_is_bought_by_a_job,
    powers_are_on_named_resources,
    managed_policies_are_harmless,
)


_PLAIN: Final = r"(?!.*(?:/\.\.?(?:/|$)|//))/[A-Za-z0-9_.@+=/-]+"


# As in botocore 1.44.5, S3 Files, FileSystemArn and AccessPointArn.
S3_FILE_SYSTEM: Final = Form(
    code="UC6157",
    pattern=r"arn:aws[a-z-]*:s3files:[a-z0-9-]+:[0-9]{12}:file-system/fs-[0-9a-f]{17,40}",
    allowed="the ARN of a file system of S3 Files",
)
"""ARN of a file system of Amazon S3 Files."""


def _explain_source(source: str) -> str:
    if source.startswith(("s3:", "arn:aws:s3:")):
        return "A bucket is no folder of a node: name it in datasets or checkpoints, or its file system of S3 Files here"
    return ""


_Source = Annotated[
    str,
    Form(
        code="UC6157",
        pattern=rf"(?!{OWNING_FOLDER}$){_PLAIN}|{S3_FILE_SYSTEM.pattern}(?:/access-point/fsap-[0-9a-f]{{17,40}})?",
        allowed="an absolute path such as /opt/models, none by which a container owns its node, such as /etc or /var/lib/docker, "
        "or the ARN of a file system of S3 Files or of its access point",
        explain=_explain_source,
    ),
]
# Over these the container would not find its own programs and devices.
_Inside = Annotated[
    str,
    Form(
        code="UC6157",
        pattern=rf"(?!/(?:boot|dev|etc|proc|root|sys|usr|var|(?:var/)?run)?/?$){_PLAIN}",
        allowed="an absolute path such as /opt/models, and no system folder such as /etc",
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Mount(Value):
    """A folder of each node, or a bucket by Amazon S3 Files, that the container of a job sees."""

    source: _Source
    """Folder of the node, made empty if it is missing and lost with the node unless user data mounts something there; or the
    ARN of a file system of S3 Files, or of its access point."""

    path: _Inside | None = None
    """Folder in the container; S3 Files need one. Default: the same path."""

    read_only: bool = False
    """Whether the container can only read it. Default: no."""

    security_group_id: Annotated[str, resource_id("sg", code="UC6157")] | None = None
    """ID of the security group of the mount target that S3 Files have in the zone of the nodes; rules for the nodes are added to
    it. Default: a new mount target is created in their subnet."""

    @property
    def file_system_arn(self) -> str | None:
        """ARN of the file system of S3 Files; None for a folder of the node."""
        return self.source.partition("/access-point/")[0] if self.source.startswith("arn:") else None

    @property
    def inside(self) -> str:
        """Folder in the container."""
        return self.path or self.source


# Names that AWS Batch passes to Docker (https://docs.docker.com/reference/cli/docker/container/run/#ulimit, 2026-11).
ULIMITS: Final = (
    "core", "cpu", "data", "fsize", "locks", "memlock", "msgqueue", "nice", "nofile", "nproc", "rss", "rtprio", "rttime",
    "sigpending", "stack",
)  # fmt: skip
_Ulimit = Annotated[
    str,
    Known(code="UC6156", names=ULIMITS, explain=lambda name: suggestion(name, ULIMITS)),
]
SHARED_MEMORY: Final = Between("UC6155", 65, 16_777_216)  # more than the default of Docker
"""Bounds of shared memory in MiB, before the memory of a node is known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gates(Value):
    """Jobs that must succeed first, on as many nodes as the job and with the same image."""

    fabric: bool = False
    """Whether to add the job JOB-fabric, which counts the EFA interfaces visible in the image and measures an all-reduce
    over all nodes. Default: no."""

    min_bandwidth: Annotated[int, LEAST_BANDWIDTH] | None = None
    """Minimum bus bandwidth of an all-reduce of 1 GiB in the fabric gate, in GiB/s. Default: none; the job logs the
    measurement."""

    max_latency: Annotated[int, MOST_LATENCY] | None = None
    """Maximum duration of an all-reduce of 1 KiB in the fabric gate, in microseconds. Default: none."""

    smoke: bool = False
    """Whether to add the job JOB-smoke, which trains a tiny model in every process and compares the losses of all ranks.
    Default: no."""

    device: Literal["xla", "neuron", "cuda"] | None = None
    """Torch device of the smoke training: xla for torch-neuronx, neuron for TorchNeuron, cuda for GPUs. Default: xla on
    Neuron instance types, else cuda."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Job(Value):
    """A job definition: its program, its nodes, its permissions and its Neuron settings."""

    image: Annotated[str, IMAGE_REFERENCE] | None = None
    """Container image with an immutable tag or a digest, in the Amazon ECR of the Region."""

    command: tuple[str, ...] = ()
    """Arguments for the launcher, one per item: a script and its arguments for torchrun, else a program."""

    nodes: Annotated[int, NODES] | None = None
    """Number of nodes of a multi-node job. Default: all nodes of the cluster."""

    processes_per_node: Annotated[int, PROCESSES_PER_NODE] | None = None
    """Number of processes that torchrun starts on each node. Default: one per logical NeuronCore."""

    launcher: Literal["torchrun", "jax", "raw"] = "torchrun"
    """How the command starts on each node: torchrun; jax, one process that receives its rank; or raw, a program that starts
    its own processes. Default: torchrun."""

    environment: dict[_Variable, str] = field(default_factory=dict)
    """Environment variables of the container, without credentials: those are `secrets`. Default: none."""

    secrets: dict[_Secret, _SecretArn] = field(default_factory=dict)
    """Environment variables with the ARN of a secret of AWS Secrets Manager, optionally followed by `:KEY::` for one key of
    it, or of a parameter of Systems Manager. The former needs `endpoints: [secretsmanager]` or a NAT gateway in `network`.
    Default: none."""

    permissions: Permissions = field(default_factory=Permissions)
    """What the program may do besides using the compile cache, checkpoints and datasets. Default: nothing."""

    shared_memory_mib: Annotated[int, SHARED_MEMORY] | None = None
    """Size of /dev/shm in MiB, which counts as memory of the container, more than the 64 of Docker. Default: 49,152, or a quarter of the
    memory of smaller nodes."""

    ulimits: dict[_Ulimit, Annotated[int, Between("UC6156", -1, 2**53 - 1)]] = field(default_factory=dict)
    """Limits of processes by name, soft and hard, such as {nproc: 65536}; -1 is unlimited. Default: memlock -1, stack
    67,108,864 and nofile 1,048,576."""

    mounts: tuple[Mount, ...] = ()
    """More folders of the nodes, or S3 Files, in the container. Default: the file system and scratch."""

    timeout_hours: Annotated[int, TIMEOUT_HOURS] | None = None
    """Hours after which AWS Batch terminates an attempt. Default: no timeout."""

    attempts: Annotated[int, ATTEMPTS] | None = None
    """Number of attempts if the host is lost, 1 to 10. Default: 1 for a multi-node job, 3 for others."""

    resume: Annotated[int, RESUME] = 0
    """How often the job is submitted again after the drain of a Capacity Block or the loss of a node, so that it continues
    from its last checkpoint, 0 to 100. Not for arrays, precompile jobs and support checks. Default: 0."""

    neuron: Neuron = field(default_factory=Neuron)
    """Settings of the Neuron compiler and runtime. Default: Neuron's defaults."""

    without_efa: bool = False
    """Whether to allow a multi-node job on instance types without EFA, which communicate over TCP at a fraction of the
    speed. Default: no."""

    array_size: Annotated[int, ARRAY_SIZE] | None = None
    """Size of the array job for a single-node job, 2 to 10,000. Default: no array."""

    instance_type: Annotated[str, COMPILE_TYPE] | None = None
    """Instance type of a precompile job, or cpu for a host without Neuron devices, which compiles graphs that were collected
    before. Default: the smallest with the cluster's chips in its zone; for phase: compile, where there is none, cpu."""

    method: Literal["neuron-parallel-compile", "first-steps"] = "neuron-parallel-compile"
    """How a precompile job collects graphs: neuron-parallel-compile (torch-neuronx), or first-steps, which runs the program.
    Default: neuron-parallel-compile."""

    phase: Literal["all", "collect", "compile"] = "all"
    """Phase of a precompile job: collect graphs, compile graphs collected before, or all. Default: all."""


def container_of(job: Job, node: InstanceType, instance_type: InstanceType, **known: Any) -> Container:
    """Return the container of a job, as the rules judge it.

    Args:
        job: The job.
        node: Type of its nodes.
        instance_type: Type that its graphs are for, which can have other chips.
        **known: What else is known of it, as in `Container`.
    """
    place: Place = ("processes_per_node",)
    processes = job.processes_per_node
    if processes is None:
        place = ("environment", LOGICAL_CORES_VARIABLE)
        # Those of JAX are its devices, and a raw program starts its own.
        processes = None if job.launcher == "raw" else job.neuron.processes_per_node(node)
    known["folders"] = {**known["folders"], **{mount.inside: mount.read_only for mount in job.mounts}}
    instance_types = (node,) if node.accelerator == instance_type.accelerator else (node, instance_type)
    return Container(
        instance_types=instance_types if node.chips else (),
        command=job.command,
        ulimits={name: None if is_number_token(each) else each for name, each in job.ulimits.items()},
        launcher=job.launcher,
        processes=processes,
        processes_place=place,
        **known,
    )


def check_room(job: Job, node: InstanceType, folders: Iterable[str]) -> Iterator[Finding]:
    """Check that shared memory fits a node (UC6155), and that each folder of the container is mounted once (UC6157).

    Args:
        job: The job.
        node: Type of its nodes.
        folders: Folders that every job mounts.
    """
    if (job.shared_memory_mib or 0) > node.container_memory_mib:
        problem = f"got {job.shared_memory_mib:,} MiB of shared memory, which is memory of the container"
        allowed = f"up to {node.container_memory_mib:,}, what a container has on {node.name}"
        yield Finding(SHARED_MEMORY.code, problem, allowed=allowed, path="shared_memory_mib")
    taken = {*folders}
    for index, mount in enumerate(job.mounts):
        if mount.file_system_arn and mount.path is None:
            remedy = "Set path, the folder in the container"
            yield Finding("UC6157", "S3 Files have no path", remedy=remedy, path=f"mounts[{index}]")
        if mount.security_group_id and not mount.file_system_arn:
            problem = "a folder of the node needs no security group"
            yield Finding("UC6157", problem, remedy="Remove security_group_id", path=f"mounts[{index}]")
        if mount.inside.rstrip("/") in taken:
            problem = f"{quote(mount.inside)} of the container is mounted already"
            yield Finding("UC6157", problem, remedy="Set another path", path=f"mounts[{index}]")
        taken.add(mount.inside.rstrip("/"))


def check_kind(job: Job, kind: str) -> list[Finding]:
    """Check that a job has no settings of another kind, which would be ignored (UC6112)."""
    found = [
        refuse_for_kind(
            shown(content), kind, remedy=f"Remove it, or define a {owner} job (kind: {owner})"
        ).at(name)
        for name, owner in _KINDS.items()
        if kind != owner and (content := getattr(job, name)) != default_of(Job, name)
    ]
    if kind == "precompile":
        found += [finding.at("phase") for finding in check_phase(job.method, job.phase)]
    if kind == "support-check":
        found += [
            refuse_for_kind(shown(content), kind, remedy="Remove it: the check starts one process").at(name)
            for name in ("launcher", "processes_per_node")
            if (content := getattr(job, name)) != default_of(Job, name)
        ]
        found += [finding.at("command") for finding in check_support_command(job.command)]
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedJob(Job):
    """A job of a rollout file, from which jobs are submitted to a queue of the cluster."""

    name: Name
    """Name of the job, unique in the cluster: lower case letters, digits and hyphens."""

    kind: Literal["multi-node", "single-node", "precompile", "support-check"] = "multi-node"
    """multi-node; single-node, which has a node to itself; precompile, which fills the compile cache on a small on-demand
    node; or support-check, which lists what Neuron does not support of a model, on an on-demand CPU host. Its command is a
    Python file and the name of a function in it that returns the model and its example inputs. Default: multi-node."""

    queue: Name | None = None
    """Name of the additional queue that `ultracluster jobs submit` uses. Default: `queue` of the cluster."""

    image: Annotated[str, IMAGE_REFERENCE]

    depends_on: tuple[Name, ...] = ()
    """Jobs of the cluster that must succeed first; `ultracluster jobs submit` submits them too. Default: none."""

    gates: Gates = field(default_factory=Gates)
    """Jobs that check the nodes first; submitting this job submits them too. Default: none."""

    @property
    def has_own_node(self) -> bool:
        """Whether the job runs on an On-Demand node of its own, outside the capacity of the cluster."""
        return self.kind in {"precompile", "support-check"}

    @property
    def gate_names(self) -> tuple[str, ...]:
        """Names of the job's gates in the order in which they run."""
        gates = {"fabric": self.gates.fabric, "smoke": self.gates.smoke}
        return tuple(f"{self.name}-{gate}" for gate, is_enabled in gates.items() if is_enabled)


RECORDS: Final = (
    RuleRecord(
        "UC6121",
        "Permissions of jobs name their actions.",
        remedy="Write SERVICE:ACTION for each action, without a wildcard, and the ARNs that they apply to.",
        source="IAM User Guide, Security best practices, Apply least-privilege permissions.",
    ),
    RuleRecord(
        "UC6122",
        "Secrets and policies of jobs are named by their ARN.",
        remedy="Write the ARN that `aws secretsmanager describe-secret` or `aws ssm get-parameter` shows.",
        source="AWS Batch API Reference, Secret, valueFrom.",
    ),
    RuleRecord(
        "UC6123",
        "No permission of a job buys, reserves or changes IAM, and what acts as another role, deletes, ends or starts is on named resources.",
        remedy="Remove what buys, reserves or changes IAM; name the resources of the others, at which `ultracluster plan` stops until you allow them.",
        source="Service Authorization Reference, Amazon EC2 and IAM, 2026-11.",
    ),
    RuleRecord(
        "UC6124",
        "Managed policies of a job allow nothing beyond the work of a program.",
        severity=Severity.WARNING,
        remedy="Write the actions that the program needs as statements of `permissions`.",
        source="AWS Managed Policy Reference Guide, 2026-11.",
    ),
    RuleRecord(
        "UC6155",
        "The shared memory of a container fits into the memory of its node.",
        remedy="Specify a size in MiB up to the memory that the finding names, of which the program needs some too.",
        source="https://docs.aws.amazon.com/batch/latest/APIReference/API_LinuxParameters.html: sharedMemorySize is the size of /dev/shm in MiB, which is memory of the container, 2026-11.",
    ),
    RuleRecord(
        "UC6156",
        "A limit of a container has a name that Docker knows, and a number.",
        remedy="Specify one of the names in the finding with a number; -1 is unlimited.",
        source="https://docs.docker.com/reference/cli/docker/container/run/#ulimit, 2026-11; AWS Batch passes ulimits to it.",
    ),
    RuleRecord(
        "UC6157",
        "Each folder in a container is mounted once, from a folder of the node that is not the system's.",
        remedy="Specify an absolute path of a folder made for jobs, and a path in the container that nothing else uses.",
        source="Our decision: a container that writes to folders of the system, or to the socket of Docker, owns the node and the role of all jobs on it.",
    ),
)
