"""Derive the preflight requirements of clusters."""

from collections.abc import Iterator, Sequence

from ultracluster_catalog.limits.quotas import ON_DEMAND_QUOTAS, SPOT_QUOTAS, capacity_block_quota
from ultracluster_catalog.limits.service_quotas import SERVICE_QUOTAS
from ultracluster_catalog.lustre.lustre import INTELLIGENT_TIERING
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.neuron.compile_machines import compile_type
from ultracluster_catalog.places.cluster_subnet import NODE_SERVICES
from ultracluster_rules.network import addresses_of_existing_subnet, network_interfaces
from ultracluster_runtime.preflight import requirements
from ultracluster_spec.capacity import CapacityRecord
from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.config.rehearsal import cluster_digest
from ultracluster_stacks.cost.footprint import closes_queues, resumes_jobs

_STORAGE_QUOTAS = {"PERSISTENT_2": "lustre-persistent-2", "SCRATCH_2": "lustre-scratch"}


def rollout_requirements(
    clusters: Sequence[Cluster], *, qualifier: str, ledger: tuple[str, str] | None = None
) -> requirements.RolloutRequirements:
    """Return the requirements of clusters of one account."""
    needs = tuple(_cluster(cluster, ledger) for cluster in clusters)
    return requirements.RolloutRequirements(clusters=needs, qualifier=qualifier)


def _cluster(config: Cluster, ledger: tuple[str, str] | None) -> requirements.ClusterRequirements:
    machine = config.machine
    compilers = tuple(_compilers(config, machine))
    storage = config.file_system
    new = storage.is_new
    quota = None
    if new and storage.storage_type != INTELLIGENT_TIERING:
        quota = SERVICE_QUOTAS[_STORAGE_QUOTAS[storage.deployment_type]].code
    stage = config.stage
    return requirements.ClusterRequirements(
        region=config.region,
        name=config.name,
        account=config.account,
        zone_id=config.zone_id,
        instance_type=config.instance_type,
        image_id=config.image_id,
        neuron=machine.is_neuron,
        sources=tuple(
            _nodes(
                config,
                machine,
                name=capacity.reservation_id or capacity.resource_group_arn or capacity.market_type,
                nodes=config.nodes_from(capacity),
                capacity=capacity,
            )
            for _, capacity in config.sources()
        ),
        compilers=compilers,
        interfaces=_interfaces(config, machine),
        compute_environments=len(list(config.sources())) + len(compilers),
        queues=1 + len(config.additional_queues) + len(compilers),
        new_vpc=config.network.subnet_id is None,
        storage_quota=quota,
        storage_gib=(storage.settings.storage_capacity_gib or 0) if quota else 0,
        subnet=_subnet(config, machine, stack=f"{stage}-Cluster"),
        file_system=_file_system(config),
        buckets=tuple(_buckets(config)),
        keys=tuple(_keys(config)),
        images=tuple(
            requirements.ImageRequirements(key=(config.region, config.name, image), image=image)
            for image in dict.fromkeys(job.image for job in config.jobs)
        ),
        orders=tuple(
            requirements.OrderRequirements(
                key=(config.region, config.name, capacity.order),
                order=capacity.order,
                reservation_id=capacity.reservation_id,
                ledger=ledger,
            )
            for _, capacity in config.sources()
            if capacity.order is not None
        ),
        functions=_functions(config),
        digest=cluster_digest(config),
        stacks=(f"{stage}-Network", f"{stage}-Storage", f"{stage}-Cluster"),
        role_path=config.role_path or "/",
    )


def _functions(config: Cluster) -> int:
    """Return the number of functions: of blocks, the watch, interrupted jobs and the budget."""
    blocks = sum(capacity.market_type == "capacity-block" for _, capacity in config.sources())
    return blocks + (config.effective_alarms is not None) + resumes_jobs(config) + closes_queues(config)


def _nodes(
    config: Cluster, machine: InstanceType, *, name: str, nodes: int, capacity: CapacityRecord
) -> requirements.SourceRequirements:
    # The quotas of a custom instance type may be unknown.
    family = next((prefix for prefix in ON_DEMAND_QUOTAS if machine.name.startswith(prefix)), None)
    block_quota = capacity_block_quota(machine)
    return requirements.SourceRequirements(
        key=(config.region, config.name, name),
        zone_id=config.zone_id,
        instance_type=machine.name,
        family=family or machine.name,
        vcpus=machine.vcpus,
        nodes=nodes,
        capacity=capacity,
        block_quota=block_quota.code if block_quota else None,
        on_demand_quota=ON_DEMAND_QUOTAS[family].code if family else None,
        spot_quota=SPOT_QUOTAS[family].code if family else None,
    )


def _compilers(config: Cluster, machine: InstanceType) -> Iterator[requirements.SourceRequirements]:
    """Return an on-demand node for each instance type of precompile jobs."""
    nodes = [
        compile_type(machine, zone_id=config.zone_id, phase=job.phase, instance_type=job.instance_type)
        for job in config.jobs
        if job.kind == "precompile" and job.queue is None
    ]
    for machine_type in filter(None, dict.fromkeys(nodes)):
        capacity = CapacityRecord(market_type="on-demand")
        yield _nodes(config, machine_type, name=f"precompile-{machine_type.name}", nodes=1, capacity=capacity)


def _interfaces(config: Cluster, machine: InstanceType) -> int:
    per_node = (
        len(network_interfaces(machine, config.network.layout)) + 1
    )  # one more for the interface of its task
    endpoints = len(NODE_SERVICES) + len(config.network.endpoints) if config.network.subnet_id is None else 0
    return config.most_nodes * per_node + endpoints + config.file_system.subnet_addresses


def _subnet(config: Cluster, machine: InstanceType, *, stack: str) -> requirements.SubnetRequirements | None:
    network = config.network
    if network.subnet_id is None or network.vpc_id is None:
        return None
    addresses = addresses_of_existing_subnet(
        instance_type=machine,
        nodes=config.most_nodes,
        nic_layout=network.layout,
        file_system_interfaces=config.file_system.subnet_addresses,
    )
    return requirements.SubnetRequirements(
        key=(config.region, config.name, network.subnet_id),
        subnet_id=network.subnet_id,
        vpc_id=network.vpc_id,
        zone_id=config.zone_id,
        addresses=addresses,
        services=NODE_SERVICES,
        security_group_id=network.security_group_id,
        adds_efa_rules=network.add_efa_rules,
        default_group_id=network.default_security_group_id,
        stack=stack,
    )


def _file_system(config: Cluster) -> requirements.FileSystemRequirements | None:
    file_system = config.file_system
    if file_system.is_new:
        return None
    return requirements.FileSystemRequirements(
        key=(config.region, config.name, file_system.file_system_id or ""),
        file_system=file_system,
        zone_id=config.zone_id,
        vpc_id=config.network.vpc_id,
    )


def _buckets(config: Cluster) -> Iterator[requirements.BucketRequirements]:
    joined: dict[str, bool] = {}
    new = config.file_system.is_new
    if (name := config.checkpoints.bucket_name) is not None:
        joined[name] = new and config.file_system.link_checkpoints
    for dataset in config.datasets:
        if dataset.bucket_name is not None:
            known = joined.get(dataset.bucket_name, False)
            joined[dataset.bucket_name] = known or dataset.file_system_path is not None
    for association in config.file_system.associations:
        name = association.data_repository_path.removeprefix("s3://").partition("/")[0]
        joined[name] = joined.get(name, False) or bool(association.import_events)
    for name, also_joined in joined.items():
        yield requirements.BucketRequirements(
            key=(config.region, config.name, name), name=name, joined=also_joined
        )


def _keys(config: Cluster) -> Iterator[requirements.KeyRequirements]:
    arns = [config.kms_key_arn, config.file_system.kms_key_arn]
    arns += [bucket.kms_key_arn for _, bucket in config.buckets()]
    for arn in dict.fromkeys(arn for arn in arns if arn is not None):
        yield requirements.KeyRequirements(key=(config.region, config.name, arn), arn=arn)
