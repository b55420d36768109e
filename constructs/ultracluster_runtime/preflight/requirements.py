"""What a rollout needs of an account, in plain values: what checks are about."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

__all__ = [
    "BucketRequirements",
    "ClusterRequirements",
    "FileSystemRequirements",
    "ImageRequirements",
    "KeyRequirements",
    "OrderRequirements",
    "RegionRequirements",
    "RolloutRequirements",
    "SourceRequirements",
    "SubnetRequirements",
]

Key = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceRequirements:
    """One source of capacity of a cluster.

    Attributes:
        key: Region, cluster and what names the source: its reservation, its resource group, or how it is bought.
        zone_id: Zone id of the cluster.
        instance_type: Name of the instance type.
        family: What the names of all types that count against the same quotas begin with, such as ``trn``.
        vcpus: vCPUs of one instance.
        nodes: Most nodes from this source.
        market_type: How it is bought.
        reservation_id: Its reservation. None for capacity without one.
        resource_group_arn: Its resource group of reservations. None without.
        placement_group: Name of the placement group that the reservation was made inside. None: outside any.
        start: When the rollout says that it starts. None: not said.
        end: When the rollout says that it ends. None: not said.
        block_quota: Code of the quota on Capacity Blocks of the type. None where it is not known.
        on_demand_quota: Code of the quota on On-Demand Instances of the type. None where it is not known.
        spot_quota: Code of the quota on Spot Instances of the type. None where it is not known.
    """

    key: Key
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
    def region(self) -> str:
        """Its Region."""
        return self.key[0]

    @property
    def all_vcpus(self) -> int:
        """The vCPUs of all its nodes."""
        return self.nodes * self.vcpus


@dataclass(frozen=True, kw_only=True, slots=True)
class SubnetRequirements:
    """An existing subnet that nodes are launched into.

    Attributes:
        key: Region, cluster and subnet.
        subnet_id: Its id.
        vpc_id: Its VPC, as the rollout says.
        zone_id: Zone id of the cluster.
        addresses: Addresses that the cluster takes from it.
        services: Services that nodes call, as in the names of endpoints, such as ``ecr.api``.
        security_group_id: An existing group of the nodes. None for a new one.
        adds_efa_rules: Whether the deployment adds the rules for EFA to that group.
        stack: The stack that makes the nodes, which take addresses once it is there.
    """

    key: Key
    subnet_id: str
    vpc_id: str
    zone_id: str
    addresses: int
    services: tuple[str, ...]
    security_group_id: str | None
    adds_efa_rules: bool
    stack: str

    @property
    def region(self) -> str:
        """Its Region."""
        return self.key[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageRequirements:
    """A container image of a job.

    Attributes:
        key: Region, cluster and image.
        image: The reference, as the job definition has it.
    """

    key: Key
    image: str

    @property
    def region(self) -> str:
        """Region of the cluster."""
        return self.key[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class BucketRequirements:
    """An existing bucket.

    Attributes:
        key: Region, cluster and bucket.
        name: Its name.
        joined: Whether a folder of the file system is joined with it, for which FSx wants it in its Region.
    """

    key: Key
    name: str
    joined: bool

    @property
    def region(self) -> str:
        """Region of the cluster."""
        return self.key[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyRequirements:
    """A KMS key of one's own.

    Attributes:
        key: Region, cluster and ARN.
        arn: Its ARN.
    """

    key: Key
    arn: str

    @property
    def region(self) -> str:
        """Region of the cluster."""
        return self.key[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderRequirements:
    """An order that buys capacity.

    Attributes:
        key: Region, cluster and order.
        order: Its name.
        reservation_id: The reservation that the rollout uses for it. None until it is written there.
        ledger: Table and Region of the ledger. None if none is named.
    """

    key: Key
    order: str
    reservation_id: str | None
    ledger: tuple[str, str] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSystemRequirements:
    """An existing file system.

    Attributes:
        key: Region, cluster and file system.
        file_system_id: Its id.
        mount_name: Its mount name, as the rollout says.
        zone_id: Zone id of the cluster.
        vpc_id: The existing VPC of the nodes. None for a new one, which cannot reach it without more.
        security_group_id: The group that the deployment adds rules for the nodes to. None: no rules are added.
    """

    key: Key
    file_system_id: str
    mount_name: str
    zone_id: str
    vpc_id: str | None
    security_group_id: str | None

    @property
    def region(self) -> str:
        """Its Region."""
        return self.key[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterRequirements:
    """One cluster.

    Attributes:
        region: Its Region.
        name: Its name.
        account: The account that the rollout pins it to. None: that of the credentials.
        zone_id: Its zone.
        instance_type: Name of its instance type.
        image_id: Its AMI.
        neuron: Whether its nodes have Neuron.
        sources: Its capacity, at least one.
        compilers: Small on-demand nodes that compile before the paid job starts.
        interfaces: Network interfaces of its nodes, their tasks and its endpoints.
        compute_environments: Compute environments of AWS Batch.
        queues: Job queues.
        new_vpc: Whether it gets a VPC of its own.
        storage_quota: Code of the quota that its new file system counts against. None without one.
        storage_gib: GiB that count against it.
        subnet: Its existing subnet. None for a new one.
        file_system: Its existing file system. None for a new one.
        buckets: Its existing buckets.
        keys: KMS keys of one's own.
        images: Container images of its jobs.
        orders: Orders that buy its capacity.
        stacks: Names of its stacks: network, storage, cluster.
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
    role_path: str = "/"

    @property
    def key(self) -> Key:
        """Its place."""
        return (self.region, self.name)


@dataclass(frozen=True, kw_only=True, slots=True)
class RegionRequirements:
    """The clusters of a rollout in one Region.

    Attributes:
        region: The Region.
        clusters: Its clusters, at least one.
        qualifier: Of the CDK's bootstrap there.
    """

    region: str
    clusters: tuple[ClusterRequirements, ...]
    qualifier: str

    @property
    def key(self) -> Key:
        """Its place."""
        return (self.region,)

    @property
    def sources(self) -> tuple[SourceRequirements, ...]:
        """All capacity of its clusters, that for compiling included."""
        return tuple(source for cluster in self.clusters for source in (*cluster.sources, *cluster.compilers))


@dataclass(frozen=True, kw_only=True, slots=True)
class RolloutRequirements:
    """All clusters that are looked at.

    Attributes:
        clusters: The clusters, at least one.
        qualifier: Of the CDK's bootstrap. Default: the CDK's own.
    """

    clusters: tuple[ClusterRequirements, ...]
    qualifier: str = "hnb659fds"

    @property
    def key(self) -> Key:
        """Nothing: it is about the account."""
        return ()

    @property
    def home(self) -> str:
        """The Region to ask what is the same in all: one that no account can switch off."""
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
        """Give its Regions, each with its clusters."""
        for region in dict.fromkeys(cluster.region for cluster in self.clusters):
            clusters = tuple(cluster for cluster in self.clusters if cluster.region == region)
            yield RegionRequirements(region=region, clusters=clusters, qualifier=self.qualifier)
