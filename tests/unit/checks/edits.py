"""Parts of edits that several rules share, and the codes that a template breaks after an edit."""

from typing import Any

from tests.unit.checks.defects import DROP, Edits, edited

from ultracluster_checks import Source, check_templates

__all__ = ["BLOCK_ON_BATCH", "CE", "GROUP", "JOB", "LT", "LUSTRE", "TIERED", "codes_after", "statement"]

LT = "LaunchTemplate/LaunchTemplateData"
CE = "ComputeEnvironment/ComputeResources"
JOB = "JobDefinition/NodeProperties/NodeRangeProperties/0/Container"
LUSTRE = "FileSystem/LustreConfiguration"
GROUP = "arn:aws:resource-groups:us-east-2:123456789012:group/training"
BLOCK_ON_BATCH = {
    f"{LT}/InstanceMarketOptions": {"MarketType": "capacity-block"},
    f"{LT}/CapacityReservationSpecification": {
        "CapacityReservationTarget": {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}
    },
    f"{CE}/PlacementGroup": DROP,
}
TIERED = {
    "FileSystem/StorageType": "INTELLIGENT_TIERING",
    "FileSystem/StorageCapacity": DROP,
    f"{LUSTRE}/PerUnitStorageThroughput": DROP,
    f"{LUSTRE}/ThroughputCapacity": 4000,
    f"{LUSTRE}/DataReadCacheConfiguration": {"SizingMode": "NO_CACHE"},
    "DataRepositoryAssociation:Data": DROP,
    "DataRepositoryAssociation:Results": DROP,
}


def statement(**members: Any) -> dict[str, Any]:
    """Return a policy statement that allows something on every resource."""
    return {"Effect": "Allow", "Resource": "*", **members}


def codes_after(foreign: dict[str, Source], base: str, edits: Edits) -> list[str]:
    """Return the codes that a good template breaks after edits."""
    body = edited(foreign[base].body, edits)
    report = check_templates([Source(name=base, body=body, region="us-east-2")])
    return sorted({finding.code for finding in report.findings})
