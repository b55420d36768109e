"""Rules about the jobs of a cluster: kind, nodes, processes, time, image, environment, dependencies and gates."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from ultracluster_catalog.capacity.capacity_blocks import drain_before_end
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.names.identifiers import ECR_IMAGE
from ultracluster_catalog.neuron.compile_machines import CPU
from ultracluster_catalog.neuron.neuron import XLA_COMPILER_FLAGS_VARIABLE
from ultracluster_spec.capacity import CapacityRecord
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.container import (
    JOB_RULES,
    WITHOUT_EFA,
    Container,
    folders_of_jobs,
    job_environment,
    setting_behind,
)
from ultracluster_spec.credentials import (
    command_credential,
    credential,
    names_credential,
    shown,
    variable_credential,
)
from ultracluster_spec.findings import Severity, quote
from ultracluster_spec.images import check_container, check_integer_defaults
from ultracluster_spec.job import (
    PERMISSION_RULES,
    S3_FILE_SYSTEM,
    SECRET_ARN,
    NamedJob,
    check_kind,
    check_room,
    container_of,
)
from ultracluster_spec.job_definitions import (
    captures_graphs,
    check_compile_type,
    check_dependencies,
    check_dependency,
    check_fabric,
    check_gate_bandwidth,
    check_image_account,
    check_image_region,
    check_image_tag,
    check_launcher,
    check_nodes_can_talk,
    check_nodes_fit,
    check_one_launch_method,
    check_secrets,
    check_spot,
    check_support_target,
    check_variables,
    refuse_circle,
    refuse_default_compile_type,
    refuse_for_kind,
    refuse_resume,
    warn_of_other_graphs,
)
from ultracluster_spec.neuron import check_neuron
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.rules import At, Place, broken, duplicates


def job_names_are_unique(cluster: Cluster) -> Iterator[At]:
    """Refuse duplicate job names, which would share a job definition."""
    for index, name in duplicates(getattr(job, "name", None) for job in cluster.jobs):
        yield At(("jobs", index, "name"), f"duplicate job {shown(name)}", code="UC6110")


def job_has_a_queue(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Refuse an unknown queue, and any queue for a job with a node of its own, which has a separate one."""
    names = [queue.name for queue in cluster.additional_queues]
    if job.queue is not None and (job.has_own_node or job.queue not in names):
        yield At(
            ("queue",),
            f"got {shown(job.queue)} for a {job.kind} job",
            allowed="" if job.has_own_node else ", ".join(names),
            remedy=f"Omit it: {job.kind} jobs have their own queue"
            if job.has_own_node
            else "Specify one of additional_queues, or omit it for the main queue of the cluster",
            code="UC6315",
        )


def job_fits_cluster(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Refuse a job that needs more nodes than its queue has, which never starts."""
    if job.kind == "multi-node" and job.nodes is not None:
        yield from At.of_all(("nodes",), check_nodes_fit(job.nodes, _most_nodes(cluster, job)))


def queue_starts_job(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Refuse multi-node jobs on Spot nodes, where AWS Batch never starts them, and over nodes that differ in what starts them."""
    if job.kind != "multi-node":
        return
    sources = _behind(cluster, job)
    spot = any(source.market_type == "spot" and source.launched_by == "batch" for source in sources)
    yield from At.of_all(("queue",), check_spot(spot=spot))
    yield from At.of_all(("queue",), check_one_launch_method([source.launched_by for source in sources]))


def _behind(cluster: Cluster, job: NamedJob) -> list[CapacityRecord]:
    """Return the capacity behind the queue of a job; empty where the cluster has no such queue."""
    queues = {None: cluster.queue} | {queue.name: queue for queue in cluster.additional_queues}
    return list(cluster.capacity_of(queues[job.queue]).values()) if job.queue in queues else []


def _most_nodes(cluster: Cluster, job: NamedJob) -> int:
    """Return the most nodes of a job in its queue: those of the largest capacity behind it."""
    return max(map(cluster.nodes_from, _behind(cluster, job)), default=cluster.nodes)


def _nodes_of(cluster: Cluster, job: NamedJob) -> int:
    """Return the number of nodes of a job, by default as many as its queue can have."""
    return (job.nodes or _most_nodes(cluster, job)) if job.kind == "multi-node" else 1


def nodes_can_talk(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Refuse multi-node jobs without EFA, which collectives need."""
    if job.without_efa:
        return
    name, has_efa = cluster.node_type.name, bool(_efa_devices(cluster, cluster.node_type))
    yield from At.of_all(("nodes",), check_nodes_can_talk(_nodes_of(cluster, job), name, has_efa=has_efa))


def _efa_devices(cluster: Cluster, node: InstanceType) -> tuple[str, ...]:
    """Return the EFA devices of a node of a type, as many as it has interfaces with EFA."""
    own = cluster.network.network_interfaces if node == cluster.node_type else ()
    return (
        node.efa_devices[: sum(each.interface_type != "interface" for each in own)]
        if own
        else node.efa_devices
    )


def launcher_starts_command(cluster: Cluster, job: NamedJob) -> Iterator[At]:  # noqa: ARG001 - one signature
    """Refuse a launcher without a command, and several processes per node without torchrun."""
    for finding in check_launcher(job.launcher, job.processes_per_node, job.command):
        yield At.of((finding.path,), finding)


def job_holds_no_credentials(cluster: Cluster, job: NamedJob) -> Iterator[At]:  # noqa: ARG001 - one signature
    """Refuse variables and arguments that look like credentials by name and value; forms and names are refused before."""
    for name, value in job.environment.items():
        if not names_credential(name) and (problem := variable_credential(name, value)):
            yield At.of(("environment", name), credential(problem))
    if problem := command_credential(job.command):
        yield At.of(("command",), credential(problem))


def secrets_can_be_read(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Refuse secrets that are plain variables too, or that nodes cannot read."""
    network = cluster.network
    closed = network.subnet_id is None and not network.nat_gateway
    for finding in check_secrets(
        job.secrets,
        job.environment,
        in_secrets_manager=[name for name, arn in job.secrets.items() if ":secretsmanager:" in arn],
        services=network.endpoints if closed else None,
        path="secrets",
    ):
        yield At.of(("secrets",), finding)


def permissions_are_of_a_program(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Refuse permissions that no job should have, and warn of policies that may have them."""
    del cluster
    for place, finding in broken(PERMISSION_RULES, job.permissions):
        yield At.of(("permissions", *place), finding)


def secrets_are_near(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Refuse secrets of another Region, to which the default network has no way and for which the CDK has no reference."""
    for name, arn in job.secrets.items():
        region = arn.split(":")[3]
        if region != cluster.region:
            problem = f"the secret is in {region}, the cluster in {cluster.region}"
            yield At(
                ("secrets", name),
                problem,
                remedy="Copy it to the Region of the cluster",
                code=SECRET_ARN.code,
            )


def files_are_near(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Refuse S3 Files of another Region, whose mount targets are in a VPC there, and a second group of one mount target."""
    groups = {
        mount.file_system_arn: mount.security_group_id
        for each in reversed(cluster.jobs)
        for mount in reversed(each.mounts)
    }
    for index, mount in enumerate(job.mounts):
        if (arn := mount.file_system_arn) is None:
            continue
        if (region := arn.split(":")[3]) != cluster.region:
            problem = f"the S3 Files are in {region}, the cluster in {cluster.region}"
            remedy = "Use a file system of the Region of the cluster"
            yield At(("mounts", index, "source"), problem, remedy=remedy, code=S3_FILE_SYSTEM.code)
        if mount.security_group_id != groups[arn]:
            problem = f"another mount of the file system has {quote(groups[arn])}, and it has one mount target in a zone"
            remedy = "Set one security_group_id, or none, for all its mounts"
            yield At(("mounts", index), problem, remedy=remedy, code=S3_FILE_SYSTEM.code)


def variables_are_free(cluster: Cluster, job: NamedJob) -> Iterator[At]:  # noqa: ARG001 - one signature
    """Refuse variables that the job sets itself, and a second address of its compile cache."""
    for name, value in job.environment.items():
        yield from At.of_all(("environment", name), check_variables({name: value}, path=""))


def container_fits_its_nodes(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Refuse an environment that does not fit the nodes, as in constructs and templates."""
    for place, finding in broken(JOB_RULES, _container(cluster, job)):
        yield At.of(setting_behind(place, job.environment), finding)


def container_has_room(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Refuse shared memory beyond that of a node, and folders that are mounted twice."""
    for finding in check_room(job, _node(cluster, job), _folders(cluster, job)):
        name, _, index = finding.path.rstrip("]").partition("[")
        yield At.of((name, int(index)) if index else (name,), finding)


def _node(cluster: Cluster, job: NamedJob) -> InstanceType:
    node_type = cluster.node_type
    return cluster.compile_type(job) or node_type if job.has_own_node else node_type


def _folders(cluster: Cluster, job: NamedJob) -> dict[str, bool]:
    # A node of its own has no scratch.
    scratch = None if job.has_own_node else cluster.scratch_path
    return folders_of_jobs(cluster.file_system.mount_path, scratch)


def _container(cluster: Cluster, job: NamedJob) -> Container:
    node_type, node = cluster.node_type, _node(cluster, job)
    efa_devices = _efa_devices(cluster, node)
    nodes = _nodes_of(cluster, job)
    meets = nodes > 1 and any(each.launched_by != "batch" for each in _behind(cluster, job))
    defaults = WITHOUT_EFA if job.kind == "multi-node" and job.without_efa and not efa_devices else {}
    return container_of(
        job,
        node,
        node_type,
        environment=job_environment(job.neuron, node, given={**defaults, **job.environment}, cache={}),
        node_count=nodes,
        devices=(*node.neuron_devices, *efa_devices),
        folders=_folders(cluster, job),
        objects=_objects(cluster, job),
        image=job.image,
        secrets=job.secrets,
        meets=meets,
    )


def _objects(cluster: Cluster, job: NamedJob) -> dict[str, tuple[str, ...]] | None:
    """Return the objects that the role of a job may read and write; None if a managed policy may allow more."""
    if job.permissions.managed_policy_arns:
        return None
    # CloudFormation names new buckets after their stack, and shortens that.
    own, written = f"{cluster.stage[:16]}*", cluster.checkpoints.bucket_name
    shared = [own, *([f"{written}/*"] if written else ())]
    found = {
        "s3:GetObject": [*shared, *(f"{each.bucket_name}/*" for each in cluster.datasets)],
        "s3:PutObject": shared,
    }
    return {action: (*patterns, *_granted(job, action)) for action, patterns in found.items()}


def _granted(job: NamedJob, action: str) -> Iterator[str]:
    for statement in job.permissions.statements:
        if action.lower() in map(str.lower, statement.actions):
            yield from (resource.rpartition(":::")[2] for resource in statement.resources)


def timeout_is_within_capacity(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Warn about a job whose timeout is after the end of its capacity."""
    start, end = cluster.capacity.start, cluster.capacity.end
    if job.has_own_node:
        return  # its node is outside that capacity
    if job.timeout_hours is None or start is None or end is None or start >= end:
        return
    usable = end - start
    if cluster.capacity.market_type == "capacity-block":
        usable -= drain_before_end(cluster.node_type)
    if timedelta(hours=job.timeout_hours) > usable:
        yield At(
            ("timeout_hours",),
            f"got {job.timeout_hours} hours, but the capacity can be used for "
            f"{usable / timedelta(hours=1):.1f} hours",
            remedy="Write checkpoints, and set a timeout that ends before the capacity",
            code="UC6105",
        )


def gates_have_their_own_names(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Refuse a job with the name of a gate, which is a job too."""
    for name in sorted(set(job.gate_names) & {getattr(other, "name", None) for other in cluster.jobs}):
        problem = f"a gate and a job have the same name {shown(name)}"
        yield At(("gates",), problem, remedy="Rename the job", code="UC6153")


def gates_protect_several_nodes(cluster: Cluster, job: NamedJob) -> Iterator[At]:  # noqa: ARG001 - one signature
    """Refuse gates of a job on one node, which has no nodes to compare."""
    if job.kind != "multi-node" and job.gate_names:
        remedy = "Remove them, or set kind: multi-node"
        yield At.of(("gates",), refuse_for_kind("gates", job.kind, remedy=remedy))


def fabric_is_there(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Refuse a fabric gate on nodes without EFA, or one that asks for more than their network carries."""
    node_type = cluster.node_type
    if job.gates.fabric:
        findings = check_fabric(node_type.name, has_efa=bool(_efa_devices(cluster, node_type)))
        yield from At.of_all(("gates", "fabric"), findings)
        nodes, bound = _nodes_of(cluster, job), job.gates.min_bandwidth
        bandwidth = check_gate_bandwidth(node_type, nodes, bound, path="")
        yield from At.of_all(("gates", "min_bandwidth"), bandwidth)


def image_is_pinned(cluster: Cluster, job: NamedJob) -> Iterator[At]:  # noqa: ARG001 - one signature
    """Warn about an image whose tag can move, so that attempts or nodes may run different images."""
    tag = job.image.rpartition("/")[2].partition(":")[2]  # if the image has a digest, its hexadecimal digits
    yield from At.of_all(("image",), check_image_tag(job.image, tag))


def image_is_near(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Warn about an image that nodes without internet access cannot pull, or that is billed by the GB."""
    match = re.fullmatch(ECR_IMAGE, job.image)
    if match or not cluster.network.nat_gateway:
        yield from At.of_all(
            ("image",), check_image_region(job.image, match and match["region"], cluster.region)
        )


def image_may_be_pulled(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Warn about an image of another account, whose owner must let this one pull it."""
    match = re.fullmatch(ECR_IMAGE, job.image)
    if match:
        yield from At.of_all(("image",), check_image_account(job.image, match["account"], cluster.account))


def image_runs_on_chips(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Warn about a container image of AWS, or a copy of one, that is not built for the chips of the nodes."""
    yield from At.of_all(("image",), check_container(job.image, cluster.node_type))


def integers_are_compiled_as_before(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Warn about an image whose compiler may have other defaults for integers than the one of SDK 2.32."""
    if cluster.node_type.is_neuron:
        flags = (*job.neuron.flags(), job.environment.get(XLA_COMPILER_FLAGS_VARIABLE, ""))
        yield from At.of_all(("image",), check_integer_defaults(job.image, " ".join(flags)))


def job_has_settings_of_its_kind(cluster: Cluster, job: NamedJob) -> Iterator[At]:  # noqa: ARG001 - one signature
    """Refuse settings of another kind of job, which would be ignored."""
    for finding in check_kind(job, job.kind):
        yield At.of((finding.path,), finding)


def jobs_that_resume_can_be_submitted_again(cluster: Cluster, job: NamedJob) -> Iterator[At]:  # noqa: ARG001 - one signature
    """Refuse resume for arrays and jobs with a node of their own, which are not resubmitted."""
    kind = f"a {job.kind} job" if job.has_own_node else "an array" if job.array_size else None
    if job.resume and kind is not None:
        yield from At.of_all(("resume",), refuse_resume(kind))


def neuron_settings_agree(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Refuse Neuron settings that the chips lack, or that contradict each other or the environment."""
    for finding in check_neuron(job.neuron, cluster.node_type, job.environment):
        loc: Place = tuple(finding.path.split("."))
        yield At.of(loc, finding)


def support_check_compiles_for_neuron(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Refuse a support check of a cluster without Neuron devices, or where no CPU host is known to be offered."""
    if job.kind != "support-check":
        return
    yield from At.of_all(("kind",), check_support_target(cluster.node_type))
    if cluster.compile_type(job) is None:
        yield At.of(("kind",), refuse_default_compile_type(CPU, cluster.zone_id))


def precompile_job_has_a_node(cluster: Cluster, job: NamedJob) -> Iterator[At]:
    """Refuse a node of a precompile job whose type is unknown or cannot collect the graphs."""
    if job.kind != "precompile":
        return
    node = cluster.compile_type(job)
    if node is None:
        wanted = CPU if job.instance_type == CPU else cluster.node_type.name
        yield At.of(("instance_type",), refuse_default_compile_type(wanted, cluster.zone_id))
        return
    captures = captures_graphs(job.method, job.environment)
    findings = check_compile_type(node, cluster.node_type, phase=job.phase, captures=captures)
    yield from At.of_all(("instance_type",), findings)


def jobs_wait_for_jobs_of_their_cluster(cluster: Cluster) -> Iterator[At]:
    """Refuse dependencies on unknown jobs, on too many jobs, and circular ones."""
    waits = {job.name: job.depends_on for job in cluster.jobs}
    for index, job in enumerate(cluster.jobs):
        loc: Place = ("jobs", index, "depends_on")
        yield from At.of_all(loc, check_dependencies(job.depends_on))
        for place, name in enumerate(job.depends_on):
            others = [other for other in waits if other != job.name] if name not in waits else None
            findings = check_dependency(name, earlier=job.depends_on[:place], known=others)
            if not findings and job.name in _reached(name, waits):
                findings = [refuse_circle((name, job.name))]
            yield from At.of_all((*loc, place), findings)


def precompile_job_makes_the_graphs(cluster: Cluster) -> Iterator[At]:
    """Warn about graphs that a job will not find, although it waits for their compilation."""
    named = {job.name: job for job in cluster.jobs}
    for index, job in enumerate(cluster.jobs):
        for place, name in enumerate(job.depends_on):
            before = named.get(name)
            if before is None or before.kind != "precompile":
                continue
            findings = warn_of_other_graphs(name, job.name, list(_differences(cluster, before, job)))
            yield from At.of_all(("jobs", index, "depends_on", place), findings)


def _differences(cluster: Cluster, before: NamedJob, job: NamedJob) -> Iterator[str]:
    if before.image != job.image:
        yield "the image is another one"
    flags = "NEURON_CC_FLAGS"
    if before.neuron != job.neuron or before.environment.get(flags) != job.environment.get(flags):
        yield "the Neuron settings are others"
    workers, wanted = _workers(cluster, before), _workers(cluster, job)
    if before.phase != "compile" and workers != wanted:
        yield f"it has {workers} workers, not {wanted}"


def _workers(cluster: Cluster, job: NamedJob) -> int:
    node_type = cluster.node_type
    nodes = _nodes_of(cluster, job)
    if job.has_own_node:
        node_type = cluster.compile_type(job) or node_type
    cores = job.neuron.processes_per_node(node_type)
    processes = job.processes_per_node if job.launcher == "torchrun" else None
    return nodes * (processes or cores)


def _reached(name: str, waits: dict[str, tuple[str, ...]]) -> set[str]:
    """Return the job and all its dependencies."""
    reached: set[str] = set()
    pending = [name]
    while pending:
        job = pending.pop()
        if job not in reached:
            reached.add(job)
            pending += waits.get(job, ())
    return reached


RULES: Final = (
    job_names_are_unique,
    jobs_wait_for_jobs_of_their_cluster,
    precompile_job_makes_the_graphs,
)
RULES_OF_A_JOB: Final = (
    job_has_a_queue,
    job_fits_cluster,
    queue_starts_job,
    nodes_can_talk,
    launcher_starts_command,
    job_holds_no_credentials,
    secrets_can_be_read,
    permissions_are_of_a_program,
    secrets_are_near,
    files_are_near,
    variables_are_free,
    container_fits_its_nodes,
    container_has_room,
    timeout_is_within_capacity,
    gates_have_their_own_names,
    gates_protect_several_nodes,
    fabric_is_there,
    image_is_pinned,
    image_is_near,
    image_may_be_pulled,
    image_runs_on_chips,
    integers_are_compiled_as_before,
    job_has_settings_of_its_kind,
    jobs_that_resume_can_be_submitted_again,
    neuron_settings_agree,
    support_check_compiles_for_neuron,
    precompile_job_has_a_node,
)
"""Rules over one job, whose places are as seen from the job."""


RECORDS: Final = (
    RuleRecord(
        "UC6105",
        "A job's timeout ends before its capacity does.",
        severity=Severity.WARNING,
        remedy="Write checkpoints, and specify a timeout that ends before the drain; or omit it, since the drain stops the job after notifying it.",
        source="EC2 user guide, Capacity Blocks for ML, 2026-10: instances are ended 30 minutes before the end, of UltraServers 60.",
        suppressible=True,
    ),
    RuleRecord(
        "UC6110",
        "The name of a job is unique in its cluster.",
        remedy="Use a different name for each job of a cluster.",
        source="Our decision: the name is part of ids of constructs, and `ultracluster jobs submit` finds a job by it.",
    ),
    RuleRecord(
        "UC6153",
        "The gates of a job have unique names.",
        remedy="Rename that job: NAME-fabric and NAME-smoke are the names of the gates.",
        source="Our decision: a gate is a job, and names are used once.",
    ),
    RuleRecord(
        "UC6315",
        "A job is assigned to a queue of its cluster.",
        remedy="Specify one of `additional_queues`; omit it for the main queue. Precompile jobs and support checks have their own queue.",
        source="Our decision: a queue that is not in the file cannot be checked with the job.",
    ),
)
