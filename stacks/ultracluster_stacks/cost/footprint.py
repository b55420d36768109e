"""Billable resources of a cluster, from its configuration or the templates of its stacks; tests compare the two."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final, Literal

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.observability.metrics import METRICS
from ultracluster_catalog.places.cluster_subnet import NODE_SERVICES
from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.plan import StackTemplate

# Metrics of a cluster with `alarms` and a file system of known size.
_ALARM_METRICS: Final = 20
_CUSTOM_METRICS: Final = sum(metric.source in {"node", "watch"} for metric in METRICS.values())


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSupply:
    """Nodes of one source of capacity, at most; reserved ones are billed for the whole reservation, used or not."""

    name: str
    instance_type: str
    nodes: int
    market: Literal["capacity-block", "on-demand", "spot"]
    reserved: bool
    volume_gib: int
    volume_mb_per_s: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Footprint:
    """Billable resources of one cluster.

    Attributes:
        supplies: Nodes by source of capacity, in order of preference.
        file_systems: New file systems; existing ones are not counted.
        interface_endpoints: Number of interface endpoints, each in one Availability Zone.
        nat_gateways: Number of NAT gateways, each with one public address.
        alarms: Number of alarm metrics, by which CloudWatch alarms are billed.
        request_metrics: Number of buckets with S3 request metrics, each with up to 16 custom metrics.
        custom_metrics: Number of custom metrics of the nodes and of the function that watches them; not in templates.
        compile_type: Instance type that compiles graphs before the run. None if the nodes do.
    """

    cluster: str
    region: str
    supplies: tuple[NodeSupply, ...] = ()
    file_systems: tuple[LustreSettings, ...] = ()
    buckets: int = 0
    interface_endpoints: int = 0
    nat_gateways: int = 0
    alarms: int = 0
    composite_alarms: int = 0
    dashboards: int = 0
    request_metrics: int = 0
    custom_metrics: int = 0
    compile_type: str | None = None

    def paid_supplies(self) -> tuple[NodeSupply, ...]:
        """Return the nodes that are billed in any case: those of the first source, and reserved ones."""
        return tuple(supply for index, supply in enumerate(self.supplies) if index == 0 or supply.reserved)


def configured_footprint(cluster: Cluster) -> Footprint:
    """Return the billable resources of a cluster."""
    supplies = tuple(
        NodeSupply(
            name=source.name or "",
            instance_type=cluster.instance_type,
            nodes=cluster.nodes_from(source),
            market=source.market_type,
            reserved=source.prepaid,
            volume_gib=cluster.root_volume.size_gib,
            volume_mb_per_s=cluster.root_volume.throughput,
        )
        for source in cluster.capacity_sources()
    )
    alarms = cluster.effective_alarms
    new_network = cluster.network.subnet_id is None
    new_file_system = cluster.file_system.is_new
    # An alarm watches the free space of a file system of known size.
    has_size = new_file_system and cluster.file_system.settings.storage_capacity_gib is not None
    own_cache = not cluster.compile_cache.on_file_system
    new_buckets = sum(bucket.bucket_name is None for _, bucket in cluster.buckets())
    return Footprint(
        cluster=cluster.name,
        region=cluster.region,
        supplies=supplies,
        file_systems=(cluster.file_system.settings,) if new_file_system else (),
        buckets=new_buckets + own_cache,
        interface_endpoints=len(NODE_SERVICES) + len(cluster.network.endpoints) if new_network else 0,
        nat_gateways=1 if new_network and cluster.network.nat_gateway else 0,
        alarms=sum(supply.market == "capacity-block" for supply in supplies)
        + cluster.closes_queues
        + cluster.resumes_jobs
        + (0 if alarms is None else _ALARM_METRICS - (not has_size)),
        composite_alarms=0 if alarms is None else 1,
        dashboards=int(alarms is not None and alarms.dashboard),
        custom_metrics=0 if alarms is None else _CUSTOM_METRICS,
        request_metrics=int(own_cache and cluster.compile_cache.request_metrics),
        compile_type=next((instance_type.name for instance_type in cluster.compile_types), None),
    )


def planned_hours(cluster: Cluster) -> Decimal | None:
    """Return the hours between start and end of a cluster's capacity, or None if unknown."""
    start, end = cluster.capacity.start, cluster.capacity.end
    return None if start is None or end is None else Decimal((end - start) // timedelta(minutes=1)) / 60


def template_footprint(cluster: str, stacks: Iterable[StackTemplate]) -> Footprint:
    """Return the billable resources of a cluster.

    Nodes of instance types that are not in the catalogue are left out, because templates contain vCPUs.
    """
    stacks = list(stacks)

    def properties_of(kind: str) -> list[Mapping[str, Any]]:
        return [
            resource.get("Properties") or {}
            for stack in stacks
            for resource in stack.resources.values()
            if resource["Type"] == kind
        ]

    buckets = properties_of("AWS::S3::Bucket")
    return Footprint(
        cluster=cluster,
        region=stacks[0].region if stacks else "",
        supplies=tuple(supply for stack in stacks for supply in _supplies(stack.resources)),
        file_systems=tuple(map(lustre_settings, properties_of("AWS::FSx::FileSystem"))),
        buckets=len(buckets),
        interface_endpoints=sum(
            len(endpoint.get("SubnetIds") or [None])
            for endpoint in properties_of("AWS::EC2::VPCEndpoint")
            if endpoint.get("VpcEndpointType") == "Interface"
        ),
        nat_gateways=len(properties_of("AWS::EC2::NatGateway")),
        alarms=sum(map(_alarm_metrics, properties_of("AWS::CloudWatch::Alarm"))),
        composite_alarms=len(properties_of("AWS::CloudWatch::CompositeAlarm")),
        dashboards=len(properties_of("AWS::CloudWatch::Dashboard")),
        request_metrics=sum(len(bucket.get("MetricsConfigurations") or ()) for bucket in buckets),
    )


def _supplies(resources: Mapping[str, Mapping[str, Any]]) -> Iterator[NodeSupply]:
    for resource in resources.values():
        properties = resource.get("Properties") or {}
        is_group = resource["Type"] == "AWS::AutoScaling::AutoScalingGroup"
        if not is_group and resource["Type"] != "AWS::Batch::ComputeEnvironment":
            continue
        compute = properties if is_group else properties.get("ComputeResources") or {}
        template_id = (compute.get("LaunchTemplate") or {}).get("LaunchTemplateId")
        reference = template_id.get("Ref") if isinstance(template_id, Mapping) else None
        launch = resources.get(str(reference), {}).get("Properties", {}).get("LaunchTemplateData")
        if launch is None:  # the environment has no nodes of a cluster
            continue
        row = INSTANCE_TYPES.get(str(launch.get("InstanceType")))
        most = str(compute.get("MaxSize" if is_group else "MaxvCpus"))
        if row is None or not most.isdecimal():
            continue
        sold_as = (launch.get("InstanceMarketOptions") or {}).get("MarketType")
        spot = sold_as == "spot" or compute.get("Type") == "SPOT"
        market: Literal["capacity-block", "on-demand", "spot"] = (
            "capacity-block" if sold_as == "capacity-block" else "spot" if spot else "on-demand"
        )
        volume = (launch.get("BlockDeviceMappings") or [{}])[0].get("Ebs") or {}
        yield NodeSupply(
            name="",
            instance_type=row.name,
            nodes=int(most) if is_group else int(most) // row.vcpus,
            market=market,
            reserved="CapacityReservationTarget" in (launch.get("CapacityReservationSpecification") or {}),
            volume_gib=int(volume.get("VolumeSize", 0)),
            volume_mb_per_s=int(volume.get("Throughput", 0)),
        )


def _alarm_metrics(alarm: Mapping[str, Any]) -> int:
    """Return the number of metrics of an alarm: one, or those of its expression."""
    return sum("MetricStat" in metric for metric in alarm.get("Metrics") or ()) or 1


def lustre_settings(properties: Mapping[str, Any]) -> LustreSettings:
    """Return the settings of a file system, from a template or from FSx, which name them alike."""
    lustre = properties.get("LustreConfiguration") or {}
    cache = lustre.get("DataReadCacheConfiguration") or {}
    return LustreSettings(
        deployment_type=lustre.get("DeploymentType", "SCRATCH_1"),
        storage_type=properties.get("StorageType", "SSD"),
        storage_capacity_gib=properties.get("StorageCapacity"),
        per_unit_storage_throughput=lustre.get("PerUnitStorageThroughput"),
        throughput_capacity=lustre.get("ThroughputCapacity"),
        read_cache=cache.get("SizingMode"),
        read_cache_gib=cache.get("SizeGiB"),
        metadata_iops=(lustre.get("MetadataConfiguration") or {}).get("Iops"),
        efa_enabled=bool(lustre.get("EfaEnabled")),
        backup_retention_days=lustre.get("AutomaticBackupRetentionDays") or 0,
    )
