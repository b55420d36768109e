"""Checks of service quotas: existing usage plus what the rollout adds, against the quotas of the account."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from ultracluster_catalog.limits.quotas import ON_DEMAND_QUOTAS, SPOT_QUOTAS, capacity_block_quota
from ultracluster_catalog.limits.service_quotas import SERVICE_QUOTAS, ServiceQuota, quota_request_command
from ultracluster_catalog.lustre.lustre import INTELLIGENT_TIERING
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG
from ultracluster_catalog.places.cluster_subnet import NODE_SERVICES
from ultracluster_runtime.preflight.check import (
    AnyCheck,
    Outcome,
    Status,
    check,
    failed,
    passed,
    skipped,
    warned,
    worst,
)
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.subjects import Account, Region
from ultracluster_runtime.preflight.zones import zones_of
from ultracluster_spec.capacity import CapacityRecord
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.network import network_interfaces
from ultracluster_spec.record import RuleRecord

_READ_QUOTA: Final = ("service-quotas:GetServiceQuota", "service-quotas:GetAWSDefaultServiceQuota")
_NO_STACK: Final = ("ValidationError",)
_GONE: Final = frozenset({"DELETE_COMPLETE", "REVIEW_IN_PROGRESS"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """Usage of one quota."""

    service: str = "ec2"  # service code in Service Quotas
    code: str
    name: str  # what the quota limits
    value: float | None  # value of the quota; None if Service Quotas does not know it
    used: int  # usage without this rollout
    needed: int  # what the rollout adds


def evaluate_shares(region: Region, shares: Iterable[Share]) -> Outcome:
    """Check that each quota covers existing and added usage."""
    outcomes = [_evaluate(region.name, share) for share in shares]
    return worst(outcomes) if outcomes else skipped("nothing in this rollout counts against it")


def _evaluate(region: str, share: Share) -> Outcome:
    if share.needed == 0:
        return skipped(f"{share.name}: the rollout adds nothing")
    if share.value is None:
        return warned(
            f"{share.name}: Service Quotas has no {share.code} here",
            "Check the quotas of the service in the console",
        )
    together = share.used + share.needed
    evidence = (
        f"{share.name}: {share.used:,} used + {share.needed:,} needed = {together:,} of {share.value:,.0f}"
    )
    if together <= share.value:
        return passed(evidence)
    command = quota_request_command(service=share.service, code=share.code, value=together, region=region)
    return failed(evidence, f"Request an increase (takes days): `{command}`")


def is_deployed(reader: AwsReader, region: str, stack: str) -> bool:
    """Return whether a stack exists, so that its resources are part of the existing usage."""
    description = reader.call_or_none(
        "cloudformation:DescribeStacks", region, absent=_NO_STACK, StackName=stack
    )
    return description is not None and any(
        stack_description["StackStatus"] not in _GONE for stack_description in description["Stacks"]
    )


def quota_value(reader: AwsReader, region: str, service: str, code: str) -> float | None:
    """Return the applied quota of the account, else AWS's default; None if neither is known."""
    for call in _READ_QUOTA:
        response = reader.call_or_none(
            call,
            region,
            absent=("NoSuchResourceException",),
            ServiceCode=service,
            QuotaCode=code,
        )
        if response is not None:
            return float(response["Quota"]["Value"])
    return None


def quota_check(code: str, gather: Any, evaluate: Any = evaluate_shares) -> AnyCheck:
    """Create the check of a quota in each Region; `gather` returns the shares."""
    return check(code, gather, subjects=Account.regions)(evaluate)


# Accelerated instances: Capacity Blocks, On-Demand and Spot


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Nodes of one type that count against a quota."""

    node_type: InstanceType
    count: int
    capacity: CapacityRecord

    @property
    def family(self) -> str:
        """Common prefix of the instance types under the same quotas, such as trn; empty if a custom type has none."""
        return next((prefix for prefix in ON_DEMAND_QUOTAS if self.node_type.name.startswith(prefix)), "")

    @property
    def vcpus(self) -> int:
        """VCPUs of all nodes."""
        return self.count * self.node_type.vcpus


def _nodes(region: Region, market: str) -> Iterator[_Nodes]:
    """Yield the nodes that are bought in a market, including the small ones that compile before the paid job starts."""
    for cluster in region.clusters:
        sources = [_Nodes(cluster.node_type, cluster.nodes_from(each), each) for _, each in cluster.sources()]
        sources += [
            _Nodes(each, 1, CapacityRecord(market_type="on-demand")) for each in cluster.compile_types
        ]
        yield from (source for source in sources if source.capacity.market_type == market)


def _by_code(sources: Iterable[_Nodes], code: Callable[[_Nodes], str | None]) -> dict[str, list[_Nodes]]:
    grouped: dict[str, list[_Nodes]] = {}
    for source in sources:
        if (quota := code(source)) is not None:
            grouped.setdefault(quota, []).append(source)
    return grouped


def _block_code(source: _Nodes) -> str | None:
    quota = capacity_block_quota(source.node_type)
    return quota.code if quota else None


def _block_shares(reader: AwsReader, region: Region) -> list[Share]:
    return [
        Share(
            code=code,
            name=f"vCPUs of {members[0].node_type.name} in active Capacity Blocks",
            value=quota_value(reader, region.name, "ec2", code),
            used=0,
            needed=sum(source.vcpus for source in members),
        )
        for code, members in _by_code(_nodes(region, "capacity-block"), _block_code).items()
    ]


def _evaluate_blocks(region: Region, shares: list[Share]) -> Outcome:
    """Check that such blocks can be bought. Blocks that are owned are not affected; the next purchase would be."""
    outcome = evaluate_shares(region, shares)
    if outcome.status is Status.FAIL:
        return warned(f"{outcome.evidence}; blocks that you own are not affected", outcome.remedy)
    return outcome


def _instance_shares(reader: AwsReader, region: Region, *, market: str) -> list[Share]:
    spot = market == "spot"
    quotas = SPOT_QUOTAS if spot else ON_DEMAND_QUOTAS
    sources = (source for source in _nodes(region, market) if source.capacity.reservation_id is None)
    by_code = _by_code(sources, lambda source: quotas[source.family].code if source.family else None)
    if not by_code:
        return []
    running = [
        instance
        for reservation in reader.list_all(
            "ec2:DescribeInstances",
            region.name,
            "Reservations",
            Filters=[{"Name": "instance-state-name", "Values": ["pending", "running"]}],
        )
        for instance in reservation["Instances"]
        # Those in Capacity Blocks count against neither quota.
        if instance.get("InstanceLifecycle") == ("spot" if spot else None)
        and not _is_of(instance, region.clusters)
    ]
    bought = "Spot" if spot else "on-demand"
    return [
        Share(
            code=quota,
            name=f"vCPUs of {bought} {members[0].family} instances",
            value=quota_value(reader, region.name, "ec2", quota),
            used=sum(
                _vcpus(instance)
                for instance in running
                if instance["InstanceType"].startswith(members[0].family)
            ),
            needed=sum(source.vcpus for source in members),
        )
        for quota, members in by_code.items()
    ]


def _vcpus(instance: Any) -> int:
    node_type = INSTANCE_TYPES.get(instance["InstanceType"])
    if node_type is not None:
        return node_type.vcpus
    options = instance.get("CpuOptions", {})
    return int(options.get("CoreCount", 0)) * int(options.get("ThreadsPerCore", 1))


def _is_of(instance: Any, clusters: Iterable[Cluster]) -> bool:
    names = {cluster.name for cluster in clusters}
    return any(tag["Key"] == CLUSTER_TAG and tag["Value"] in names for tag in instance.get("Tags", []))


_check_blocks = quota_check("UC9411", _block_shares, evaluate=_evaluate_blocks)
_check_on_demand = quota_check("UC9412", partial(_instance_shares, market="on-demand"))
_check_spot = quota_check("UC9413", partial(_instance_shares, market="spot"))


# Resources


def _share(
    reader: AwsReader, region: str, quota: ServiceQuota, *, used: int, needed: int, name: str = ""
) -> Share:
    value = quota_value(reader, region, quota.service, quota.code)
    return Share(
        service=quota.service,
        code=quota.code,
        name=name or quota.name,
        value=value,
        used=used,
        needed=needed,
    )


def _new(reader: AwsReader, region: Region, stack: int) -> list[Cluster]:
    """Return the clusters whose stack at this index does not exist yet."""
    return [
        cluster
        for cluster in region.clusters
        if not is_deployed(reader, cluster.region, cluster.stacks[stack])
    ]


_NETWORK, _STORAGE, _CLUSTER = range(3)


def _interfaces(cluster: Cluster) -> int:
    """Return the number of network interfaces of nodes, tasks, endpoints and file system."""
    per_node = len(network_interfaces(cluster.node_type, cluster.network.layout)) + 1  # its task has one more
    endpoints = len(NODE_SERVICES) + len(cluster.network.endpoints) if _has_new_vpc(cluster) else 0
    return cluster.most_nodes * per_node + endpoints + cluster.file_system.subnet_addresses


def _has_new_vpc(cluster: Cluster) -> bool:
    return cluster.network.subnet_id is None


def _interface_shares(reader: AwsReader, region: Region) -> list[Share]:
    """Return a share per zone: AWS enforces this quota in each zone of a Region."""
    zones = zones_of(reader, region.name)
    interfaces = reader.list_all("ec2:DescribeNetworkInterfaces", region.name, "NetworkInterfaces")
    new = _new(reader, region, _CLUSTER)
    quota = SERVICE_QUOTAS["network-interfaces"]
    shares = []
    for zone_id in dict.fromkeys(cluster.zone_id for cluster in region.clusters):
        zone = zones.get(zone_id, {}).get("ZoneName")
        used = sum(interface.get("AvailabilityZone") == zone for interface in interfaces)
        added = sum(_interfaces(cluster) for cluster in new if cluster.zone_id == zone_id)
        name = f"network interfaces in {zone_id}"
        shares.append(_share(reader, region.name, quota, used=used, needed=added, name=name))
    return shares


def _counts(cluster: Cluster, kinds: Collection[str]) -> bool:
    """Return whether the new file system of a cluster counts against the quota on some deployment types."""
    system = cluster.file_system
    return system.is_new and system.storage_type != INTELLIGENT_TIERING and system.deployment_type in kinds


def _storage_shares(reader: AwsReader, region: Region) -> list[Share]:
    shares = []
    new = _new(reader, region, _STORAGE)
    systems = reader.list_all("fsx:DescribeFileSystems", region.name, "FileSystems")
    for quota, kinds in (
        (SERVICE_QUOTAS["lustre-persistent-2"], {"PERSISTENT_2"}),
        (SERVICE_QUOTAS["lustre-scratch"], {"SCRATCH_1", "SCRATCH_2"}),
    ):
        added = sum(
            item.file_system.settings.storage_capacity_gib or 0 for item in new if _counts(item, kinds)
        )
        used = sum(
            int(item.get("StorageCapacity", 0))
            for item in systems
            if item.get("LustreConfiguration", {}).get("DeploymentType") in kinds
        )
        if any(_counts(item, kinds) for item in region.clusters):
            name = f"GiB of {quota.name}"
            shares.append(_share(reader, region.name, quota, used=used, needed=added, name=name))
    return shares


def _functions(cluster: Cluster) -> int:
    """Return the number of functions that can run at once: of blocks, the watch, interrupted jobs and the budget."""
    blocks = sum(capacity.market_type == "capacity-block" for _, capacity in cluster.sources())
    watched = cluster.effective_alarms is not None
    return blocks + watched + cluster.resumes_jobs + cluster.closes_queues


def _concurrency(reader: AwsReader, region: Region) -> list[Share]:
    quota = SERVICE_QUOTAS["lambda-concurrency"]
    needed = sum(map(_functions, region.clusters))
    return [_share(reader, region.name, quota, used=0, needed=needed)]


def _evaluate_concurrency(region: Region, shares: list[Share]) -> Outcome:
    """Check that the functions of clusters can run at once, beside those of others, which are not counted."""
    outcome = evaluate_shares(region, shares)
    (share,) = shares
    if outcome.status is not Status.PASS or (share.value or 0) >= _LEAST_CONCURRENCY:
        return outcome
    command = quota_request_command(
        service=share.service, code=share.code, value=_MUCH_CONCURRENCY, region=region.name
    )
    return warned(
        f"{outcome.evidence}, which all functions of the account share",
        f"Request an increase, so that functions of others do not delay the drain of a block: `{command}`",
    )


_LEAST_CONCURRENCY: Final = 100  # new accounts have 10
_MUCH_CONCURRENCY: Final = 1_000


def _counted(
    code: str,
    quota: str,
    stack: int,
    call: str,
    key: str,
    *,
    needed: Callable[[Cluster], int],
    **parameters: Any,
) -> AnyCheck:
    """Create the check of a quota on the number of items that a call lists under `key`."""

    def gather(reader: AwsReader, region: Region) -> list[Share]:
        used = len(reader.list_all(call, region.name, key, **parameters))
        added = sum(needed(cluster) for cluster in _new(reader, region, stack))
        return [_share(reader, region.name, SERVICE_QUOTAS[quota], used=used, needed=added)]

    return quota_check(code, gather)


_check_environments = _counted(
    "UC9414",
    "compute-environments",
    _CLUSTER,
    "batch:DescribeComputeEnvironments",
    "computeEnvironments",
    needed=lambda cluster: len(list(cluster.sources())) + len(cluster.compile_types),
)
_check_queues = _counted(
    "UC9415",
    "job-queues",
    _CLUSTER,
    "batch:DescribeJobQueues",
    "jobQueues",
    needed=lambda cluster: 1 + len(cluster.additional_queues) + len(cluster.compile_types),
)
_check_storage = quota_check("UC9416", _storage_shares)
_check_vpcs = _counted("UC9417", "vpcs", _NETWORK, "ec2:DescribeVpcs", "Vpcs", needed=_has_new_vpc)
_check_interfaces = quota_check("UC9418", _interface_shares)
_check_gateways = _counted(
    "UC9419",
    "gateway-endpoints",
    _NETWORK,
    "ec2:DescribeVpcEndpoints",
    "VpcEndpoints",
    needed=_has_new_vpc,
    Filters=[{"Name": "vpc-endpoint-type", "Values": ["Gateway"]}],
)
_check_concurrency = quota_check("UC9460", _concurrency, evaluate=_evaluate_concurrency)

RECORDS: Final = (
    RuleRecord(
        "UC9411",
        "The quota for Capacity Blocks is large enough for the rollout.",
        remedy="Request an increase with the command in the finding, which takes days. Blocks that were already bought are not affected.",
        source="EC2 instance types guide, quotas, 2026-10: vCPUs of concurrent blocks.",
    ),
    RuleRecord(
        "UC9412",
        "The quota for On-Demand Instances is large enough for the nodes.",
        remedy="Request an increase with the command in the finding, or end the other instances that it counts.",
        source="EC2 instance types guide, quotas, 2026-10: L-2C3B7624, 0 by default.",
    ),
    RuleRecord(
        "UC9413",
        "The quota for Spot Instances is large enough for the nodes.",
        remedy="Request an increase with the command in the finding.",
        source="EC2 instance types guide, quotas, 2026-10: L-6B0D517C, 0 by default.",
    ),
    RuleRecord(
        "UC9414",
        "The quota for AWS Batch compute environments is large enough.",
        remedy="Request an increase, delete unused environments, or share a queue among sources.",
        source="AWS Batch quotas, 2026-10: 50 for each Region.",
    ),
    RuleRecord(
        "UC9415",
        "The quota for AWS Batch job queues is large enough.",
        remedy="Request an increase, or delete unused queues.",
        source="AWS Batch quotas, 2026-10: 50 for each Region.",
    ),
    RuleRecord(
        "UC9416",
        "The quota for Lustre storage is large enough for the file systems.",
        remedy="Request a higher quota, use smaller file systems, or delete unused ones.",
        source="FSx for Lustre quotas, 2026-10: 100,800 GiB of SSD by type.",
    ),
    RuleRecord(
        "UC9417",
        "The quota for VPCs is large enough.",
        remedy="Request a higher quota, or use an existing subnet for the clusters.",
        source="Amazon VPC quotas: 5 for each Region.",
    ),
    RuleRecord(
        "UC9418",
        "The quota for network interfaces is large enough for nodes, tasks and endpoints.",
        remedy="Request an increase, or use the layout batch.",
        source="Amazon VPC quotas: 5,000 interfaces for each zone.",
    ),
    RuleRecord(
        "UC9419",
        "The quota for gateway endpoints is large enough.",
        remedy="Request a higher quota, or use an existing subnet with an endpoint for the clusters.",
        source="Amazon VPC quotas: 20 for each Region.",
    ),
    RuleRecord(
        "UC9460",
        "The account's concurrency quota is large enough to run the clusters' functions at the same time.",
        remedy="Request an increase of the quota Concurrent executions, as the finding says.",
        source="AWS Lambda developer guide, quotas, 2026-11; ten threads on accounts with a quota of 10, 2021 to 2025.",
    ),
)
