"""What checks are about: the clusters of an account, those of a Region, a cluster, or a part of one."""

from collections.abc import Iterator
from dataclasses import dataclass

from ultracluster_spec.capacity import CapacityRecord
from ultracluster_spec.cluster import Cluster


@dataclass(frozen=True, kw_only=True, slots=True)
class Region:
    """Clusters of an account in one Region."""

    name: str
    clusters: tuple[Cluster, ...]  # at least one
    qualifier: str

    @property
    def key(self) -> tuple[str, ...]:
        """The Region."""
        return (self.name,)


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """Clusters that are checked together, because they share an account."""

    clusters: tuple[Cluster, ...]  # at least one
    qualifier: str = "hnb659fds"  # bootstrap qualifier of the CDK; default: the CDK's default
    ledger: tuple[str, str] | None = None  # table of purchase orders, and its Region

    @property
    def key(self) -> tuple[str, ...]:
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

    def regions(self) -> Iterator[Region]:
        """Yield the Regions with their clusters."""
        for name in dict.fromkeys(cluster.region for cluster in self.clusters):
            clusters = tuple(cluster for cluster in self.clusters if cluster.region == name)
            yield Region(name=name, clusters=clusters, qualifier=self.qualifier)

    def sources(self) -> Iterator["Source"]:
        """Yield the capacity of all clusters, each named by its reservation, its resource group, or its market type."""
        for cluster in self.clusters:
            for _, capacity in cluster.sources():
                name = capacity.reservation_id or capacity.resource_group_arn or capacity.market_type
                yield Source(cluster=cluster, name=name, capacity=capacity)


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """Part of a cluster, by the name that AWS or the rollout has for it."""

    cluster: Cluster
    name: str

    @property
    def key(self) -> tuple[str, ...]:
        """Region, cluster and name."""
        return (*self.cluster.key, self.name)

    @property
    def region(self) -> str:
        """Region of the cluster."""
        return self.cluster.region


@dataclass(frozen=True, kw_only=True, slots=True)
class Source(Part):
    """Capacity of a cluster."""

    capacity: CapacityRecord

    @property
    def nodes(self) -> int:
        """Maximum number of nodes from it."""
        return self.cluster.nodes_from(self.capacity)
