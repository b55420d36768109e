"""Requirements of a rollout as plain values: the subjects of checks."""

from collections.abc import Iterator
from dataclasses import dataclass

from ultracluster_spec.capacity import CapacityRecord
from ultracluster_spec.file_system import FileSystem

Key = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Placed:
    """Subject in a Region."""

    key: Key  # Region, cluster, and the resource in it

    @property
    def region(self) -> str:
        """Region of the cluster."""
        return self.key[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceRequirements(_Placed):
    """Capacity source of a cluster; `key` names its reservation, its resource group, or its market type."""

    zone_id: str
    instance_type: str
    family: str  # common prefix of all instance types that count against the same quotas, such as trn
    vcpus: int  # vCPUs of one instance
    nodes: int  # maximum number of nodes from this source
    capacity: CapacityRecord
    block_quota: str | None  # quota code for Capacity Blocks of the type; None if unknown
    on_demand_quota: str | None  # quota code for On-Demand Instances of the type; None if unknown
    spot_quota: str | None  # quota code for Spot Instances of the type; None if unknown

    @property
    def all_vcpus(self) -> int:
        """Total vCPUs of all nodes."""
        return self.nodes * self.vcpus


@dataclass(frozen=True, kw_only=True, slots=True)
class SubnetRequirements(_Placed):
    """Existing subnet of the nodes."""

    subnet_id: str
    vpc_id: str
    zone_id: str
    addresses: int
    services: tuple[str, ...]  # services that nodes call, as in endpoint names, such as ecr.api
    security_group_id: str | None  # existing security group of the nodes; None for a new one
    adds_efa_rules: bool  # whether the deployment adds the rules for EFA to that group
    stack: str  # stack that creates the nodes
    # Default security group of the VPC, to which the deployment adds rules for tasks
    default_group_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageRequirements(_Placed):
    """Container image of a job."""

    image: str


@dataclass(frozen=True, kw_only=True, slots=True)
class BucketRequirements(_Placed):
    """Existing bucket."""

    name: str
    # Whether a folder of the file system is linked to it; FSx requires it in the same Region then
    joined: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyRequirements(_Placed):
    """Customer managed KMS key."""

    arn: str


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderRequirements(_Placed):
    """Purchase order for capacity."""

    order: str
    reservation_id: str | None  # reservation that the rollout uses for it; None if not resolved yet
    ledger: tuple[str, str] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSystemRequirements(_Placed):
    """Existing file system."""

    file_system: FileSystem
    zone_id: str
    vpc_id: str | None  # existing VPC of the nodes; None for a new one, which has no route to the file system


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterRequirements:
    """Requirements of one cluster."""

    region: str
    name: str
    account: str | None  # account that the rollout pins it to; None for the account of the credentials
    zone_id: str
    instance_type: str
    image_id: str
    neuron: bool
    sources: tuple[SourceRequirements, ...]  # capacity sources, at least one
    compilers: tuple[SourceRequirements, ...]  # small On-Demand nodes that compile before the paid job starts
    interfaces: int  # number of network interfaces of nodes, tasks and endpoints
    compute_environments: int
    queues: int
    new_vpc: bool
    storage_quota: str | None
    storage_gib: int  # GiB that count against that quota
    subnet: SubnetRequirements | None  # existing subnet; None for a new one
    file_system: FileSystemRequirements | None  # existing file system; None for a new one
    buckets: tuple[BucketRequirements, ...]
    keys: tuple[KeyRequirements, ...]
    images: tuple[ImageRequirements, ...]
    orders: tuple[OrderRequirements, ...]
    stacks: tuple[str, str, str]  # names of its stacks: network, storage, cluster
    functions: int = 0  # number of Lambda functions that can run at the same time
    digest: str = ""  # digest of its configuration without its capacity, to compare with its last rehearsal
    role_path: str = "/"

    @property
    def key(self) -> Key:
        """Region and name."""
        return (self.region, self.name)


@dataclass(frozen=True, kw_only=True, slots=True)
class RegionRequirements:
    """Requirements of a rollout in one Region."""

    region: str
    clusters: tuple[ClusterRequirements, ...]  # clusters in the Region, at least one
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
    """Requirements of a rollout."""

    clusters: tuple[ClusterRequirements, ...]  # clusters to check, at least one
    qualifier: str = "hnb659fds"  # bootstrap qualifier of the CDK; default: the CDK's default

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
