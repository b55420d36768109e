"""Rules for job definitions: nodes, launcher, environment, image, dependencies, precompilation and gates."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from ultracluster_catalog.capacity.capacity_blocks import LONGEST_BLOCK
from ultracluster_catalog.limits.queues import MOST_NODES
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.names.identifiers import AWS_IMAGES
from ultracluster_catalog.names.submission_tags import MOST_ARRAY_JOBS, MOST_DEPENDENCIES
from ultracluster_catalog.neuron.compile_machines import CPU, VLLM_CPU_COMPILE_VARIABLE, compile_target
from ultracluster_catalog.neuron.compiler_flags import split_compiler_flags
from ultracluster_catalog.neuron.neuron import CACHE_URL_FLAG, XLA_CACHE_VARIABLE, XLA_COMPILER_FLAGS_VARIABLE
from ultracluster_spec.bounds import Between, Form
from ultracluster_spec.commands import check_parameters
from ultracluster_spec.findings import Finding, Severity, is_token, quote, require
from ultracluster_spec.record import RuleRecord

NO_SPOT_NODES: Final = "UC6308"
"""Code of a multi-node job on a queue that cannot run it."""


ARRAY_SIZE: Final = Between(code="UC6111", least=2, most=MOST_ARRAY_JOBS)
"""Number of jobs of an array."""

ATTEMPTS: Final = Between(code="UC6104", least=1, most=10)
"""Number of times that AWS Batch starts a job."""

RESUME: Final = Between(code="UC6117", least=0, most=100)
"""How often a job is submitted again after a drain or the loss of a node."""

TIMEOUT_HOURS: Final = Between(code=ATTEMPTS.code, least=1, most=LONGEST_BLOCK // timedelta(hours=1))
"""Hours after which an attempt is ended; the longest job is one over the longest Capacity Block."""

NODES: Final = Between(code="UC6101", least=1, most=MOST_NODES)
"""Number of nodes of a job."""

LEAST_BANDWIDTH: Final = Between(code="UC6151", least=1, most=10_000)
"""Bus bandwidth in GiB/s that a fabric gate asks for."""

MOST_LATENCY: Final = Between(code=LEAST_BANDWIDTH.code, least=1, most=10_000_000)
"""Latency in microseconds that a fabric gate allows."""

LAUNCHERS: Final = ("torchrun", "jax", "raw")
"""What starts the command of a job on a node."""

PROCESSES_VARIABLE: Final = "UC_PROCESSES_PER_NODE"
"""Variable with the number of processes of each node."""

DEVICES_VARIABLE: Final = "UC_DEVICES_PER_NODE"
"""Variable with the number of devices of each node."""

ULTRASERVER_VARIABLE: Final = "UC_ULTRASERVER_NODES"
"""Variable with the number of nodes of an UltraServer."""

_SHORTEST_TIMEOUT_SECONDS: Final = 60
_LARGEST_DEFINITION: Final = 24 * 1024  # AWS Batch User Guide, service quotas, read 2026-11
_MOST_TAG_CHARACTERS: Final = 256  # a tag of the definition has the names of the jobs that it waits for
_DEPENDENCIES: Final = "UC6113"


def _explain_variable(name: str) -> str:
    return "AWS Batch sets the variables that begin with AWS_BATCH" if name.startswith("AWS_BATCH") else ""


VARIABLE: Final = Form(
    code="UC6109",
    pattern=r"(?!AWS_BATCH)[A-Za-z_][A-Za-z0-9_]{0,254}",
    allowed="letters, digits and _, not starting with a digit or AWS_BATCH",
    explain=_explain_variable,
)
"""Name of an environment variable."""


# No host with a dot, colon or `localhost` is required: `ubuntu:24.04` refers to Docker Hub.
IMAGE_REFERENCE: Final = Form(
    code="UC6106",
    pattern=r"(?=.{1,255}$)[a-z0-9]+(?:[._:/-]{1,2}[a-z0-9]+)*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?"
    r"(?:@sha256:[0-9a-f]{64})?",
    allowed="a container image, such as 123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20",
)
"""Reference of a container image."""


def check_timeout_seconds(seconds: int) -> list[Finding]:
    """Check a timeout (UC6104)."""
    return require(
        _SHORTEST_TIMEOUT_SECONDS <= seconds <= TIMEOUT_HOURS.most * 3600,
        ATTEMPTS.code,
        f"got {seconds}",
        allowed=f"{_SHORTEST_TIMEOUT_SECONDS} seconds to {TIMEOUT_HOURS.most:,} hours",
    )


def check_nodes_fit(nodes: int, most: int | None, *, path: str = "") -> list[Finding]:
    """Check whether a queue, of a maximum size if known, can have all nodes of a job at once (UC6101)."""
    if nodes >= 1 and (most is None or nodes <= most):
        return []
    had = "" if most is None else f" for a queue of {most}; the job would wait forever"
    allowed = "1 or more" if most is None else f"1 to {most:,}"
    return [Finding(NODES.code, f"got {quote(nodes)} nodes{had}", allowed=allowed, path=path)]


def check_nodes_can_talk(nodes: int, type_name: str, *, has_efa: bool, path: str = "") -> list[Finding]:
    """Check whether the nodes of a job have EFA (UC6102)."""
    return require(
        nodes <= 1 or has_efa,
        "UC6102",
        f"the job runs on {nodes} nodes, but {type_name} has no EFA",
        allowed="1 node on this type",
        remedy="Choose a type with EFA, such as trn1.32xlarge or trn2.48xlarge, or one node; or set without_efa",
        path=path,
    )


def check_spot(*, spot: bool, path: str = "") -> list[Finding]:
    """Check that a multi-node job does not wait for Spot nodes (UC6308)."""
    return require(
        not spot,
        NO_SPOT_NODES,
        "the queue has Spot nodes, on which AWS Batch does not run multi-node jobs: the job would block the "
        "queue forever",
        remedy="Use a queue without Spot nodes; they can have another queue",
        path=path,
    )


def check_one_launch_method(launched_by: Collection[str], *, path: str = "") -> list[Finding]:
    """Check that one definition of a multi-node job suits all nodes of its queue (UC6309)."""
    methods = set(launched_by)
    return require(
        methods <= {"batch"} or len(launched_by) == 1,
        "UC6309",
        "AWS Batch starts some nodes of the queue and an Auto Scaling group others; a multi-node job is a "
        "multi-node parallel job on the former and an array on the latter"
        if len(methods) > 1
        else "the queue has nodes of several Auto Scaling groups; AWS Batch could spread the children of a multi-node job "
        "over them",
        remedy="Use one queue for each",
        path=path,
    )


def check_meeting_place(nodes: int, *, has_place: bool, path: str = "") -> list[Finding]:
    """Check that the children of an array that is one job have a place to find each other (UC6118)."""
    return require(
        has_place or nodes == 1,
        "UC6118",
        "the nodes share neither a file system nor a bucket in which the children of the job can meet",
        remedy="Mount a file system, or pass a bucket as meeting_place",
        path=path,
    )


def check_launcher(launcher: str, processes_per_node: int | None, command: Sequence[str]) -> list[Finding]:
    """Check whether a launcher can start a command (UC6140, UC6142)."""
    findings = check_parameters(command, path="command")
    findings += require(
        command,
        "UC6142",
        "command is required: the launcher replaces that of the image",
        remedy='Set what the launcher starts, such as ["train.py"]',
        path="command",
    )
    findings += require(
        launcher == "torchrun" or processes_per_node in {None, 1},
        "UC6140",
        f"got {quote(processes_per_node)} processes on a node with the launcher {launcher}, which starts one",
        remedy="Remove it, or choose torchrun",
        path="processes_per_node",
    )
    return findings


def check_variables(environment: Mapping[str, str], *, path: str) -> list[Finding]:
    """Check the names of environment variables (UC6109) and for a second address of the compile cache (UC6010)."""
    findings = []
    for name in environment:
        if name in {DEVICES_VARIABLE, PROCESSES_VARIABLE, ULTRASERVER_VARIABLE}:
            problem = f"got {quote(name)}; the job sets it itself"
            findings.append(Finding(VARIABLE.code, problem, remedy="Leave it out", path=f"{path}{name}"))
        else:
            findings += VARIABLE.check(name, path=f"{path}{name}")
    flags = environment.get(XLA_COMPILER_FLAGS_VARIABLE, "")
    return findings + [
        finding.at(f"{path}{XLA_COMPILER_FLAGS_VARIABLE}") for finding in check_cache_address(flags)
    ]


def check_secrets(
    secrets: Iterable[str],
    environment: Mapping[str, str],
    *,
    in_secrets_manager: Iterable[str],
    services: Collection[str] | None,
    path: str,
) -> list[Finding]:
    """Check variables that AWS Batch fills with secrets.

    Args:
        secrets: Names of the variables.
        environment: Other variables.
        in_secrets_manager: Names of those whose secret is in AWS Secrets Manager.
        services: Services that the nodes reach; None if unknown or all.
        path: Path of the secrets.

    Returns:
        UC6109 for a malformed name, UC6119 for a variable that is set twice, UC6120 for a secret that nodes cannot read.
    """
    findings = []
    for name in secrets:
        findings += check_variables({name: ""}, path=f"{path}.")
        findings += require(
            name not in environment,
            "UC6119",
            f"environment sets {quote(name)} too",
            remedy="Remove it there",
            path=f"{path}.{name}",
        )
    return findings + [
        Finding(
            "UC6120",
            "nodes of the network have no way to AWS Secrets Manager, and the job would fail before it starts",
            remedy='Add "secretsmanager" to endpoints of the network, or use a parameter of Systems Manager',
            path=f"{path}.{name}",
        )
        for name in in_secrets_manager
        if services is not None and "secretsmanager" not in services
    ]


def check_definition_size(size: int) -> list[Finding]:
    """Check the size of a job definition (UC6411)."""
    return require(
        size <= _LARGEST_DEFINITION,
        "UC6411",
        f"got {size:,} bytes",
        allowed=f"up to {_LARGEST_DEFINITION:,} bytes",
    )


def check_cache_address(flags: str) -> list[Finding]:
    """Check that compiler flags do not address the compile cache a second time (UC6010)."""
    return require(
        not any(flag.name == CACHE_URL_FLAG for flag in split_compiler_flags(flags)),
        "UC6010",
        f"got {CACHE_URL_FLAG}, which wins over the compile cache's {XLA_CACHE_VARIABLE}",
        remedy="Leave it out; the compile cache sets the address",
    )


def check_image_tag(image: str, tag: str) -> list[Finding]:
    """Warn about an image that may change between attempts: tagged ``latest``, or without a tag (UC6107)."""
    return require(
        tag not in {"", "latest"},
        "UC6107",
        f"got {quote(image)} {'with the tag latest' if tag else 'without a tag'}",
        remedy="Use an immutable tag or a digest, so that all nodes and attempts run the same image",
    )


def check_image_region(image: str, image_region: str | None, region: str) -> list[Finding]:
    """Warn about an image outside the Region's Amazon ECR, which nodes without internet cannot pull (UC6108)."""
    cost = f": each node pulls it from {image_region}, billed per GB" if image_region else ""
    return require(
        image_region == region,
        "UC6108",
        f"{quote(image)} is not in the Amazon ECR of {region}, the only registry that nodes can reach without "
        f"a NAT gateway{cost}",
        remedy="Copy or replicate it there",
    )


def check_image_account(image: str, owner: str, account: str | None) -> list[Finding]:
    """Warn about an image of another account than the one of the cluster, whose owner must let it pull (UC6180)."""
    return require(
        account is None or owner in {account, AWS_IMAGES},
        "UC6180",
        f"{quote(image)} is in {owner}, whose repository must let {account} pull it",
        remedy="Allow that account ecr:BatchGetImage and ecr:GetDownloadUrlForLayer in the repository policy, or copy it",
    )


def check_dependencies(names: Sequence[str], *, tagged: bool = True, path: str = "") -> list[Finding]:
    """Check the jobs that a job waits for: their number, and characters if a tag holds them (UC6113)."""
    characters = len(" ".join(names)) if tagged else 0
    return require(
        len(names) <= MOST_DEPENDENCIES and characters <= _MOST_TAG_CHARACTERS,
        _DEPENDENCIES,
        f"got {len(names)} jobs" + (f" of {characters} characters in total" if tagged else " to wait for"),
        allowed=f"up to {MOST_DEPENDENCIES} jobs"
        + (f" of {_MOST_TAG_CHARACTERS} characters with the spaces between" if tagged else ""),
        path=path,
    )


def check_dependency(name: str, *, earlier: Collection[str], known: Iterable[str] | None) -> list[Finding]:
    """Check that a job to wait for is known and named once (UC6113); `known` is None if it is sure to be known."""
    if known is not None and name not in (others := tuple(known)):
        problem = f"unknown job {quote(name)}"
        return [Finding(_DEPENDENCIES, problem, allowed=", ".join(others))]
    if name in earlier:
        return [Finding(_DEPENDENCIES, f"duplicate {quote(name)}")]
    return []


def refuse_circle(names: Sequence[str], *, remedy: str = "") -> Finding:
    """Return the finding (UC6113) about jobs that wait for each other."""
    problem = f"circular dependency: {' waits for '.join(map(quote, names))}"
    return Finding(_DEPENDENCIES, problem, remedy=remedy)


def refuse_for_kind(what: str, kind: str, *, remedy: str) -> Finding:
    """Return the finding (UC6112) about a setting that a kind of job does not have."""
    return Finding("UC6112", f"got {what} for a {kind} job", remedy=remedy)


def refuse_resume(
    kind: str, *, remedy: str = "Remove resume; attempts let AWS Batch start it again"
) -> list[Finding]:
    """Return the finding (UC6117) about a job that cannot be submitted again."""
    problem = f"{kind} is not submitted again after it was interrupted"
    return [Finding(RESUME.code, problem, remedy=remedy)]


def check_phase(method: str, phase: str) -> list[Finding]:
    """Check the phase of a precompile job: first-steps compiles graphs as it collects them (UC6112)."""
    if method != "first-steps" or phase == "all":
        return []
    return [refuse_for_kind(f"phase {quote(phase)}", "first-steps precompile", remedy="Remove it")]


def captures_graphs(method: str, environment: Mapping[str, str] | None) -> bool:
    """Whether a program captures its graphs without a Neuron device, as vLLM Neuron can."""
    return method == "first-steps" and (environment or {}).get(VLLM_CPU_COMPILE_VARIABLE) == "1"


def check_compile_type(
    small: InstanceType, instance_type: InstanceType, *, phase: str, captures: bool = False
) -> list[Finding]:
    """Check whether graphs for a type can be collected on another, which `small` names (UC6114)."""
    return require(
        phase == "compile"
        or captures
        or (small.is_neuron and compile_target(small) == compile_target(instance_type)),
        "UC6114",
        f"the graphs are for {instance_type.name}, which {small.name} cannot run",
        remedy="Choose a type with the same chips, or phase: compile for graphs that were collected before",
    )


def warn_of_other_graphs(precompile: str, job: str, differences: Sequence[str]) -> list[Finding]:
    """Warn about compiled graphs that a dependent job cannot use (UC6115)."""
    return require(
        not differences,
        "UC6115",
        f"{precompile} compiles graphs that {job} cannot use: {'; '.join(differences)}",
        remedy="Use the same settings for both; see `ultracluster docs compile-cache` for graphs of many workers",
    )


def check_support_command(command: Sequence[str]) -> list[Finding]:
    """Check that a support check has a Python file and the name of a function in it (UC6159)."""
    known = [word for word in command if not is_token(word)]
    if not command or len(known) < len(command):  # no command is UC6142
        return []
    return require(
        re.fullmatch(r"\S+\.py [A-Za-z_][A-Za-z0-9_]*", " ".join(known)) is not None,
        "UC6159",
        f"got {quote(' '.join(known))}",
        allowed="a Python file and a function in it, such as [model.py, build]",
        remedy="Write a function without arguments that returns the model and its example inputs",
    )


def check_support_target(instance_type: InstanceType) -> list[Finding]:
    """Check that a support check is for a type that the Neuron compiler compiles for (UC6159)."""
    return require(
        instance_type.is_neuron,
        "UC6159",
        f"{instance_type.name} has no Neuron devices",
        remedy="Remove the check: a program for GPUs needs no support of Neuron",
    )


def refuse_default_compile_type(type_name: str, zone: str) -> Finding:
    """Return the finding (UC6116) about a zone without a smaller type with the chips of one, or without a CPU host."""
    if type_name == CPU:
        problem = f"no CPU host for the Neuron compiler is known to be offered in {zone}"
        return Finding("UC6116", problem, remedy="Use a cluster in another zone", path="instance_type")
    return Finding(
        "UC6116",
        f"no smaller type with the chips of {type_name} is known to be offered in {zone}",
        remedy="Set phase: compile, for graphs that were collected before, and compile on any type or on CPUs; or compile on "
        "a node of the cluster",
        path="instance_type",
    )


def check_fabric(type_name: str, *, has_efa: bool) -> list[Finding]:
    """Check whether there is a fabric for a fabric gate to test (UC6150)."""
    return require(
        has_efa,
        "UC6150",
        f"{type_name} has no EFA, so there is no fabric to test",
        remedy="Remove the gate, or choose a type with EFA, such as trn1.32xlarge or trn2.48xlarge",
    )


def check_gate_bound(bound: float | None, *, path: str) -> list[Finding]:
    """Check the bandwidth or latency that a fabric gate requires, if any (UC6151)."""
    return require(
        bound is None or bound > 0,
        LEAST_BANDWIDTH.code,
        f"got {quote(bound)}",
        allowed="more than 0",
        path=path,
    )


def check_gate_bandwidth(
    instance_type: InstanceType, nodes: int, bound: float | None, *, path: str
) -> list[Finding]:
    """Check that the network of an instance type carries the bandwidth that a fabric gate asks of several nodes (UC6158).

    Each of N nodes sends at least 2 (N - 1) / N of the data, and the bus bandwidth counts twice the data, so it is at most
    N / (N - 1) times the bandwidth of a node. Inside an UltraServer, nodes also have NeuronLink, for which no such limit is known.
    """
    if bound is None or nodes < 2 or instance_type.in_ultraserver:  # noqa: PLR2004 - one node has no network to test
        return []
    most = instance_type.network_gbps * 1e9 / 8 / 2**30 * nodes / (nodes - 1)
    return require(
        bound <= most,
        "UC6158",
        f"got {bound:g} GiB/s, more than the network of {nodes} x {instance_type.name} carries",
        allowed=f"at most {int(most)} GiB/s",
        remedy="AWS publishes no figure for an all-reduce: use less than the log of a gate without a bound shows",
        path=path,
    )


RECORDS: Final = (
    RuleRecord(
        "UC6180",
        "A job's image is in the account of the cluster, or its owner lets this account pull it.",
        severity=Severity.WARNING,
        remedy="Let the repository policy allow the account of the cluster ecr:BatchGetImage and ecr:GetDownloadUrlForLayer, or copy the image.",
        source="https://docs.aws.amazon.com/AmazonECR/latest/userguide/repository-policies.html: another account needs a repository policy besides its own policies, 2026-11.",
        suppressible=True,
    ),
    RuleRecord(
        "UC6010",
        "The location of the compile cache is set in only one way.",
        remedy="Omit --cache_dir: the compile cache sets the location, and the flag would take precedence.",
        source="Neuron documentation, compile cache, 2026-10: the flag wins over NEURON_COMPILE_CACHE_URL.",
        in_templates=True,
    ),
    RuleRecord(
        "UC6101",
        "A job requests no more nodes than its cluster has.",
        remedy="Request at most as many nodes as the cluster has: a larger job waits forever, at the head of the queue.",
        source="AWS Batch user guide, multi-node parallel jobs, 2026-10.",
        in_templates=True,
    ),
    RuleRecord(
        "UC6102",
        "A multi-node job runs on an instance type with EFA.",
        remedy="Set nodes: 1, choose a type with EFA such as trn1.32xlarge, or set `without_efa: true` if TCP is enough for the program.",
        source="EC2 user guide, EFA, 2026-10: types with EFA. Our decision: collectives over TCP are a mistake unless said.",
    ),
    RuleRecord(
        "UC6104",
        "A job's attempts and timeout are within the limits of AWS Batch.",
        remedy="Specify 1 to 10 attempts, and a timeout of 1 to 4,368 hours.",
        source="botocore 1.44.5, Batch RetryStrategy, 2026: 1 to 10 attempts. Our decision: 4,368 hours are 182 days, the longest block.",
    ),
    RuleRecord(
        "UC6106",
        "A job's image is the reference of a container image.",
        remedy="Write REGISTRY/REPOSITORY:TAG in lower case, without https://.",
        source="Open Container Initiative, distribution specification 1.1, 2024-02.",
    ),
    RuleRecord(
        "UC6107",
        "A job's image is pinned to a tag that does not move, or to a digest.",
        severity=Severity.WARNING,
        remedy="Use an immutable tag or a digest, so that all nodes and attempts run the same program.",
        source="Our decision: a node that is replaced pulls again, and would run another program than its neighbours.",
        in_templates=True,
        suppressible=True,
    ),
    RuleRecord(
        "UC6108",
        "A job's image is in Amazon ECR in the Region of the cluster.",
        severity=Severity.WARNING,
        remedy="Copy the image there, or let `TrainingImageRepository` and `PullThroughCache` hold it; suppress this for nodes with a NAT gateway.",
        source="Our decision: nodes have no way to the internet by default, only endpoints of AWS services in their Region.",
        in_templates=True,
        suppressible=True,
    ),
    RuleRecord(
        "UC6109",
        "The names of a job's environment variables are valid in a shell and in AWS Batch.",
        remedy="Use letters, digits and underscores, not starting with a digit, and no name that AWS Batch or the job sets itself.",
        source="AWS Batch user guide, job environment variables, 2026-10: AWS_BATCH is reserved.",
    ),
    RuleRecord(
        "UC6111",
        "A job array has 2 to 10,000 jobs.",
        remedy="Specify 2 to 10,000; omit it for a single job.",
        source="botocore 1.44.5, Batch ArrayProperties, 2026; AWS Batch user guide, array jobs, 2026-10.",
    ),
    RuleRecord(
        "UC6112",
        "A job has only the settings of its kind.",
        remedy="Leave the setting out, or set the kind that the finding names for it.",
        source="AWS Batch user guide, 2026-10: a multi-node job is never an array.",
    ),
    RuleRecord(
        "UC6113",
        "A job depends on at most 20 other jobs of its cluster, and never on itself.",
        remedy="Name up to 20 other jobs of this cluster, without a circular dependency; use the names in the rollout file.",
        source="botocore 1.44.5, Batch SubmitJob dependsOn, 2026: up to 20 jobs.",
    ),
    RuleRecord(
        "UC6114",
        "Graphs are collected on the family of chips that they are for.",
        remedy="Choose a type with the chips of the cluster, or `phase: compile` for graphs that were collected on such a node before.",
        source="Neuron documentation, neuronx-cc targets trn1, trn2 and trn3, 2026-10.",
    ),
    RuleRecord(
        "UC6115",
        "A precompile job compiles the graphs of the jobs that depend on it.",
        severity=Severity.WARNING,
        remedy="Use the same settings in both; `ultracluster docs compile-cache` describes an alternative for graphs of many workers.",
        source="Neuron documentation, compile cache, 2026-10: graph and flags make the key of an entry.",
        suppressible=True,
    ),
    RuleRecord(
        "UC6116",
        "A precompile job has a node outside the capacity that it saves.",
        remedy="Name a type with the same chips, or one of another family with `phase: compile`; in Python, queue=cluster.queue compiles on a node of the cluster.",
        source="DescribeInstanceTypeOfferings as moto 5.2.5 ships it, about 2026-08.",
    ),
    RuleRecord(
        "UC6117",
        "A job is submitted again at most 100 times after a drain or the loss of a node.",
        remedy="Set resume from 0 to 100.",
        source="Our decision: a job that is interrupted more often makes no progress; each time costs its start.",
    ),
    RuleRecord(
        "UC6118",
        "The nodes of a job that Auto Scaling starts share a place in which they find each other.",
        remedy="Mount a file system on the nodes, or pass a CheckpointBucket as meeting_place, for which the image needs boto3.",
        source="Our decision: decision 0024, array children have no network of their own job.",
        example="check_meeting_place(4, has_place=True)",
    ),
    RuleRecord(
        "UC6119",
        "A variable of a job is either a secret or a plain value.",
        remedy="Set the variable in one of the two.",
        source="Our decision: AWS Batch documents no order between the two, and a plain value would hide the secret.",
    ),
    RuleRecord(
        "UC6120",
        "Nodes reach the service that keeps the secrets of their jobs.",
        remedy="Add secretsmanager to endpoints of the network, use a NAT gateway, or keep the secret as a SecureString parameter of Systems Manager, which nodes reach.",
        source="Amazon ECS Developer Guide, Pass Secrets Manager secrets through Amazon ECS environment variables: the agent on the node reads the secret before the container starts.",
    ),
    RuleRecord(
        "UC6140",
        "Several processes on a node are requested only with torchrun.",
        remedy="Leave it out, or choose torchrun: the other launchers start one process on each node.",
        source="Our decision: what the launchers of the jobs do, shown by tests/unit/scripts/test_launch.py.",
    ),
    RuleRecord(
        "UC6142",
        "A job with a launcher specifies the program to start.",
        remedy="Specify what the launcher starts, such as command: [train.py]: it replaces the command of the image, which synthesis cannot read.",
        source="botocore 1.44.5, Batch ContainerProperties command, 2026: it replaces the CMD of the image.",
    ),
    RuleRecord(
        "UC6150",
        "A fabric gate tests nodes with EFA.",
        remedy="Leave the fabric gate out, or choose a type with EFA; the smoke training needs none.",
        source="DescribeInstanceTypes as moto 5.2.5 ships it, about 2026-08.",
    ),
    RuleRecord(
        "UC6151",
        "A bound on a fabric is above zero.",
        remedy="Specify what nodes of this type have reached before, which the log of a gate without a bound shows. Omit it for no bound.",
        source="Our decision: a bound of nothing passes every fabric.",
    ),
    RuleRecord(
        "UC6159",
        "A support check has a Python file and a function in it, and a cluster with Neuron devices.",
        remedy="Write [FILE.py, FUNCTION]; the function takes nothing and returns the model and its example inputs.",
        source="https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/api-reference-guide/inference/api-torch-neuronx-analyze.html, 2026-11: analyze takes a module or function and example inputs.",
    ),
    RuleRecord(
        "UC6158",
        "A fabric gate asks for no more bandwidth than the network of the nodes carries.",
        remedy="Specify less than the log of a gate without a bound shows; AWS publishes no figure for an all-reduce.",
        source="github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md: what bus bandwidth is; DescribeInstanceTypes as moto 5.2.5 ships it, about 2026-08.",
    ),
    RuleRecord(
        "UC6308",
        "A multi-node job is assigned to a queue without Spot nodes.",
        remedy="Use a queue without Spot nodes for the job; `queue.capacity` and `additional_queues` define what each queue uses.",
        source="AWS Batch user guide, multi-node parallel jobs, 2026-10: not on Spot.",
        in_templates=True,
    ),
    RuleRecord(
        "UC6309",
        "A multi-node job runs on nodes that AWS Batch starts, or on those of one Auto Scaling group.",
        remedy="Use one queue for each; `queue.capacity` and `additional_queues` define what each queue uses.",
        source="AWS Batch user guide, mnp-ce, 2026-11: no multi-node parallel jobs on unmanaged compute environments.",
    ),
    RuleRecord(
        "UC6411",
        "A job definition is no larger than AWS Batch takes.",
        remedy="Put long scripts and settings into the image or a file that the job reads, and leave names in the definition.",
        source="AWS Batch user guide, service quotas, 2026-11: 24 KiB for RegisterJobDefinition.",
    ),
)
