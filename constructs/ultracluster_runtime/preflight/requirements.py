"""Requirements of a rollout as plain values: the subjects of checks."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Key = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Placed:
    """Subject in a Region.

    Attributes:
        key: Region, cluster, and the resource in it.
    """

    key: Key

    @property
    def region(self) -> str:
        """Region of the cluster."""
        return self.key[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceRequirements(_Placed):
    """Capacity source of a cluster.

    Attributes:
        key: Region, cluster and name of the source: its reservation, its resource group, or its market type.
        zone_id: Zone ID of the cluster.
        instance_type: Name of the instance type.
        family: Common prefix of all instance types that count against the same quotas, such as ``trn``.
        vcpus: vCPUs of one instance.
        nodes: Maximum number of nodes from this source.
        market_type: Market type.
        reservation_id: Reservation. None without one.
        resource_group_arn: Resource group of reservations. None without one.
        placement_group: Name of the placement group of the reservation. None without one.
        start: Start of the capacity in the rollout. None if not specified.
        end: End of the capacity in the rollout. None if not specified.
        block_quota: Quota code for Capacity Blocks of the type. None if unknown.
        on_demand_quota: Quota code for On-Demand Instances of the type. None if unknown.
        spot_quota: Quota code for Spot Instances of the type. None if unknown.
    """

    zone_id: str
    instance_type: str
    family: str
    vcpus: int
    nodes: int
    market_type: Literal["capacity-block", "on-demand", "spot"]
    reservation_id: str | None
    resource_group_arn: str | None
    placement_group: str | None
    start: datetime | None
    end: datetime | None
    block_quota: str | None
    on_demand_quota: str | None
    spot_quota: str | None

    @property
    def all_vcpus(self) -> int:
        """Total vCPUs of all nodes."""
        return self.nodes * self.vcpus


@dataclass(frozen=True, kw_only=True, slots=True)
class SubnetRequirements(_Placed):
    """Existing subnet of the nodes.

    Attributes:
        subnet_id: ID of the subnet.
        vpc_id: VPC in the rollout.
        zone_id: Zone ID of the cluster.
        addresses: Number of addresses that the cluster uses.
        services: Services that nodes call, as in endpoint names, such as ``ecr.api``.
        security_group_id: Existing security group of the nodes. None for a new one.
        adds_efa_rules: Whether the deployment adds the rules for EFA to that group.
        stack: Stack that creates the nodes.
        default_group_id: Default security group of the VPC, to which the deployment adds rules for tasks. Default: none
            are added.
    """

    subnet_id: str
    vpc_id: str
    zone_id: str
    addresses: int
    services: tuple[str, ...]
    security_group_id: str | None
    adds_efa_rules: bool
    stack: str
    default_group_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageRequirements(_Placed):
    """Container image of a job.

    Attributes:
        image: Image reference in the job definition.
    """

    image: str


@dataclass(frozen=True, kw_only=True, slots=True)
class BucketRequirements(_Placed):
    """Existing bucket.

    Attributes:
        name: Name of the bucket.
        joined: Whether a folder of the file system is linked to it; FSx requires it in the same Region then.
    """

    name: str
    joined: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyRequirements(_Placed):
    """Customer managed KMS key.

    Attributes:
        arn: ARN of the key.
    """

    arn: str


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderRequirements(_Placed):
    """Purchase order for capacity.

    Attributes:
        order: Name of the order.
        reservation_id: Reservation that the rollout uses for it. None if not resolved yet.
        ledger: Table and Region of the ledger. None without one.
    """

    order: str
    reservation_id: str | None
    ledger: tuple[str, str] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSystemRequirements(_Placed):
    """Existing file system.

    Attributes:
        file_system_id: ID of the file system.
        mount_name: Mount name in the rollout.
        zone_id: Zone ID of the cluster.
        vpc_id: Existing VPC of the nodes. None for a new one, which has no route to the file system.
        security_group_id: Group to which the deployment adds rules for the nodes. None: no rules are added.
    """

    file_system_id: str
    mount_name: str
    zone_id: str
    vpc_id: str | None
    security_group_id: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterRequirements:
    """Requirements of one cluster.

    Attributes:
        region: Region of the cluster.
        name: Name of the cluster.
        account: Account that the rollout pins it to. None for the account of the credentials.
        zone_id: Zone ID of the cluster.
        instance_type: Name of the instance type.
        image_id: AMI of the nodes.
        neuron: Whether the nodes have Neuron devices.
        sources: Capacity sources, at least one.
        compilers: Small On-Demand nodes that compile before the paid job starts.
        interfaces: Number of network interfaces of nodes, tasks and endpoints.
        compute_environments: Number of AWS Batch compute environments.
        queues: Number of job queues.
        new_vpc: Whether it gets its own VPC.
        storage_quota: Quota code for its new file system. None without one.
        storage_gib: GiB that count against that quota.
        subnet: Existing subnet. None for a new one.
        file_system: Existing file system. None for a new one.
        buckets: Existing buckets.
        keys: Customer managed KMS keys.
        images: Container images of its jobs.
        orders: Purchase orders for its capacity.
        stacks: Names of its stacks: network, storage, cluster.
        functions: Number of Lambda functions that can run at the same time.
        digest: Digest of its configuration without its capacity, to compare with its last rehearsal. Default: not compared.
        role_path: IAM path of its roles.
    """

    region: str
    name: str
    account: str | None
    zone_id: str
    instance_type: str
    image_id: str
    neuron: bool
    sources: tuple[SourceRequirements, ...]
    compilers: tuple[SourceRequirements, ...]
    interfaces: int
    compute_environments: int
    queues: int
    new_vpc: bool
    storage_quota: str | None
    storage_gib: int
    subnet: SubnetRequirements | None
    file_system: FileSystemRequirements | None
    buckets: tuple[BucketRequirements, ...]
    keys: tuple[KeyRequirements, ...]
    images: tuple[ImageRequirements, ...]
    orders: tuple[OrderRequirements, ...]
    stacks: tuple[str, str, str]
    functions: int = 0
    digest: str = ""
    role_path: str = "/"

    @property
    def key(self) -> Key:
        """Region and name."""
        return (self.region, self.name)


@dataclass(frozen=True, kw_only=True, slots=True)
class RegionRequirements:
    """Requirements of a rollout in one Region.

    Attributes:
        region: The Region.
        clusters: Clusters in the Region, at least one.
        qualifier: Bootstrap qualifier of the CDK.
    """

    region: str
    clusters: tuple[ClusterRequirements, ...]
    qualifier: str

    @property
    def key(self) -> Key:
        """The Region."""
        return (self.region,)

    @property
    def sources(self) -> tuple[SourceRequirements, ...]:
        """Capacity sources of all clusters, including those for compilation."""
        return tuple(source for cluster in self.clusters for source in (*cluster.sources, *cluster.compilers))


@dataclass(frozen=True, kw_only=True, slots=True)
class RolloutRequirements:
    """Requirements of a rollout.

    Attributes:
        clusters: Clusters to check, at least one.
        qualifier: Bootstrap qualifier of the CDK. Default: the CDK's default.
    """

    clusters: tuple[ClusterRequirements, ...]
    qualifier: str = "hnb659fds"

    @property
    def key(self) -> Key:
        """Empty: the subject is the account."""
        return ()

    @property
    def home(self) -> str:
        """Region for global queries: one that no account can disable."""
        region = self.clusters[0].region
        homes = {
            "cn-": "cn-north-1",
            "us-gov-": "us-gov-west-1",
            "us-iso": region,
            "eu-iso": region,
            "eusc-": region,
        }
        return next((home for start, home in homes.items() if region.startswith(start)), "us-east-1")

    def regions(self) -> Iterator[RegionRequirements]:
        """Yield the Regions with their clusters."""
        for region in dict.fromkeys(cluster.region for cluster in self.clusters):
            clusters = tuple(cluster for cluster in self.clusters if cluster.region == region)
            yield RegionRequirements(region=region, clusters=clusters, qualifier=self.qualifier)
