"""Nodes that do not land in their reservation."""

from typing import Any

import pytest
from tests.unit.checks.whole_cluster import DROP, codes_after

LT = "LaunchTemplate/LaunchTemplateData"
TARGET = f"{LT}/CapacityReservationSpecification"
CE = "ComputeEnvironment/ComputeResources"
GROUP = "arn:aws:resource-groups:us-east-2:123456789012:group/blocks"
NODES = {"LaunchTemplateId": {"Ref": "ClusterNodes5F8C920A"}, "Version": "1"}


def group(**properties: Any) -> dict[str, Any]:
    return {
        "/Resources/Group": {
            "Type": "AWS::AutoScaling::AutoScalingGroup",
            "Properties": {"MaxSize": "4", **properties},
        }
    }


def place(strategy: str) -> dict[str, Any]:
    return {
        "/Resources/Place": {"Type": "AWS::EC2::PlacementGroup", "Properties": {"Strategy": strategy}},
        f"{CE}/PlacementGroup": {"Ref": "Place"},
        f"{LT}/InstanceMarketOptions": DROP,
        TARGET: DROP,
    }


def reservation(**properties: Any) -> dict[str, Any]:
    held = {
        "InstanceType": "trn2.48xlarge",
        "InstanceCount": 4,
        "AvailabilityZoneId": "use2-az3",
        **properties,
    }
    return {
        "/Resources/Held": {"Type": "AWS::EC2::CapacityReservation", "Properties": held},
        f"{LT}/InstanceMarketOptions": DROP,
        f"{TARGET}/CapacityReservationTarget/CapacityReservationId": {"Ref": "Held"},
    }


def unused(criteria: str) -> dict[str, Any]:
    """A reservation beside the one that the nodes target."""
    held = reservation(InstanceMatchCriteria=criteria)
    return {"/Resources/Held": held["/Resources/Held"]}


MIXED = {"LaunchTemplate": {"LaunchTemplateSpecification": NODES}}
BROKEN: list[tuple[str, str, dict[str, Any]]] = [
    ("UC4201", "Cluster", {f"{TARGET}/CapacityReservationPreference": "none"}),
    ("UC4201", "Cluster", {f"{TARGET}/CapacityReservationTarget/CapacityReservationResourceGroupArn": GROUP}),
    ("UC4201", "Cluster", {f"{LT}/InstanceMarketOptions": DROP}),
    *(("UC4201", "Cluster", reservation() | {f"{TARGET}/CapacityReservationPreference": each}) for each in ("none", "open")),
    ("UC4202", "Cluster", group(MixedInstancesPolicy=MIXED | {"InstancesDistribution": {"OnDemandPercentageAboveBaseCapacity": 0}})),
    ("UC4221", "Cluster", group(MixedInstancesPolicy=MIXED)),
    ("UC4131", "Cluster", {f"{CE}/AllocationStrategy": "SPOT_CAPACITY_OPTIMIZED"}),
    ("UC4222", "Cluster", place("spread")),
    ("UC4222", "Cluster", place("partition")),
    ("UC4222", "Cluster", {f"{LT}/Placement": {"PartitionNumber": 2}}),
    ("UC4223", "Cluster", {f"{LT}/Placement": {"Tenancy": "dedicated"}}),
    ("UC4223", "Cluster", reservation(InstanceType="trn1.32xlarge")),
    ("UC4223", "Cluster", reservation(InstanceCount=2)),
    ("UC4223", "Cluster", reservation(AvailabilityZoneId="use2-az1")),
    ("UC4223", "Cluster", reservation(Tenancy="dedicated")),
    ("UC4223", "Cluster", unused("targeted")),
    ("UC4216", "Cluster", {
        "/Resources/Older": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": {"MetadataOptions": {"HttpTokens": "required"}}}},
        f"{CE}/LaunchTemplate/Version": {"Fn::GetAtt": ["Older", "LatestVersionNumber"]},
    }),
    ("UC4225", "Cluster", {"JobQueue/ComputeEnvironmentOrder/0/ComputeEnvironment": "arn:aws:batch:us-east-2:123456789012:compute-environment/old"}),
    ("UC4224", "Cluster", {f"{CE}/Ec2Configuration/0/ImageType": "ECS_AL2023_NVIDIA"}),
    ("UC4224", "Cluster", {f"{CE}/Ec2Configuration/0/ImageIdOverride": DROP, f"{LT}/ImageId": DROP}),
]  # fmt: skip
KEPT: list[dict[str, Any]] = [
    group(LaunchTemplate=NODES),
    {f"{TARGET}/CapacityReservationPreference": "capacity-reservations-only"},
    {f"{CE}/AllocationStrategy": DROP},
    {f"{CE}/Ec2Configuration/0/ImageIdOverride": DROP},
    {f"{LT}/Placement": {"Tenancy": "default"}},
]


@pytest.mark.parametrize(("code", "stack", "edits"), BROKEN)
def test_edit_breaks_the_rule(code: str, stack: str, edits: dict[str, Any]) -> None:
    assert code in codes_after(stack, edits)


@pytest.mark.parametrize("edits", KEPT, ids=str)
def test_nodes_that_land_have_no_finding(edits: dict[str, Any]) -> None:
    assert codes_after("Cluster", edits) == []


@pytest.mark.parametrize("strategy", ["cluster"])
def test_a_cluster_placement_group_keeps_the_rule(strategy: str) -> None:
    assert "UC4222" not in codes_after("Cluster", place(strategy))


def test_a_reservation_that_any_launch_may_use_keeps_the_rule() -> None:
    assert "UC4223" not in codes_after("Cluster", unused("open"))


def test_a_reservation_that_fits_keeps_the_rule() -> None:
    assert "UC4223" not in codes_after("Cluster", reservation())
