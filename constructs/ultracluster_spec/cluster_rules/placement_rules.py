"""Rules about the location of a cluster and its instance type: account, Region, zone, custom properties, UltraServers."""

from collections.abc import Iterator
from typing import Final

from ultracluster_catalog.places.zones import REGIONS, region_of_zone_id
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import Severity
from ultracluster_spec.instance_type import (
    check_figures_are_sourced,
    check_job_ultraservers,
    check_offered,
    check_scratch,
    check_whole_ultraservers,
)
from ultracluster_spec.network import check_zone_id, check_zone_region
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.rules import At


def boundary_is_of_the_account(cluster: Cluster) -> Iterator[At]:
    """Refuse a permissions boundary from another account."""
    boundary = cluster.permissions_boundary
    if boundary is None or not boundary.startswith("arn:") or cluster.account is None:
        return
    account = boundary.split(":")[4]
    if account not in {"aws", cluster.account}:
        problem = f"the policy is in {account}, the cluster in {cluster.account}"
        remedy = "Specify the name of the policy, which refers to the account of the cluster"
        yield At(("permissions_boundary",), problem, remedy=remedy, code="UC2262")


def partition_is_tested(cluster: Cluster) -> Iterator[At]:
    """Warn about Regions outside the commercial partition."""
    if cluster.region not in REGIONS:
        problem = f"{cluster.region} is in a partition in which these stacks were never tested"
        yield At(("region",), problem, code="UC2103")


def zone_is_in_region(cluster: Cluster) -> Iterator[At]:
    """Refuse a zone of another Region."""
    if cluster.region not in REGIONS:
        return
    findings = check_zone_id(cluster.zone_id)
    if not findings:
        findings = check_zone_region(
            cluster.zone_id, zone_region=region_of_zone_id(cluster.zone_id), region=cluster.region
        )
    yield from At.of_all(("zone_id",), findings)


def type_is_offered_in_zone(cluster: Cluster) -> Iterator[At]:
    """Warn about a zone for which EC2 did not list the type when the catalogue was made."""
    if cluster.region not in REGIONS or all(
        capacity.market_type == "capacity-block" for _, capacity in cluster.sources()
    ):
        return  # Capacity Blocks have a separate list, see capacity_rules
    if not any(zone_is_in_region(cluster)):
        yield from At.of_all(("zone_id",), check_offered(cluster.instance_type, cluster.zone_id))


def figures_have_a_source(cluster: Cluster) -> Iterator[At]:
    """Warn about custom properties that were not compared with EC2."""
    yield from At.of_all(("custom_instance_type",), check_figures_are_sourced(cluster.node_type))


def scratch_has_disks_and_a_path(cluster: Cluster) -> Iterator[At]:
    """Refuse scratch without instance-store disks, and mount points that would hide files."""
    findings = check_scratch(
        cluster.node_type, cluster.scratch_path, mount_path=cluster.file_system.mount_path
    )
    yield from At.of_all(("scratch_path",), findings)


def ultraservers_are_whole(cluster: Cluster) -> Iterator[At]:
    """Warn about paid UltraServer instances that are not used, and refuse jobs whose nodes cannot be joined."""
    yield from At.of_all(("nodes",), check_whole_ultraservers(cluster.node_type, cluster.nodes))
    for index, job in enumerate(cluster.jobs):
        if job.kind != "multi-node":
            continue
        nodes = cluster.nodes if job.nodes is None else job.nodes
        yield from At.of_all(("jobs", index, "nodes"), check_job_ultraservers(cluster.node_type, nodes))


RULES: Final = (
    boundary_is_of_the_account,
    partition_is_tested,
    zone_is_in_region,
    type_is_offered_in_zone,
    figures_have_a_source,
    scratch_has_disks_and_a_path,
    ultraservers_are_whole,
)


RECORDS: Final = (
    RuleRecord(
        "UC2103",
        "A Region belongs to a partition in which this project was tested.",
        severity=Severity.WARNING,
        remedy="Try it with a small cluster first, and compare `ultracluster plan` with what you expect. ARNs and service names are built from the partition.",
        source="Our decision: these stacks are tested in the commercial partition only.",
        suppressible=True,
    ),
    RuleRecord(
        "UC2262",
        "A permissions boundary that is specified by ARN is a policy in the account of the cluster.",
        remedy="Specify the ARN of a policy in the account of the cluster, or its name, which is valid in every account.",
        source="IAM user guide, permissions boundaries: a boundary is a policy of the account of the role.",
    ),
)
