"""Billable resources of a cluster, from the templates of its stacks."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_stacks.cost.footprint import Footprint, NodeSupply
from ultracluster_stacks.plan import StackTemplate

_Resources = Mapping[str, Mapping[str, Any]]


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


def _supplies(resources: _Resources) -> Iterator[NodeSupply]:
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
