"""Rules for FSx for Lustre file systems and data repository associations."""

from typing import Any

import pytest
from tests.unit.checks.defects import DROP
from tests.unit.checks.edits import LUSTRE, TIERED, codes_after

from ultracluster_checks import Source

BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC5202", "lustre-data", {f"{LUSTRE}/DriveCacheType": "READ"}),
    (
        "UC5202",
        "lustre-data",
        {"DataRepositoryAssociation:Data/DataRepositoryPath": {"Fn::Sub": "${DataBucket}/data"}},
    ),
    ("UC5005", "lustre-data", {f"{LUSTRE}/MetadataConfiguration": {"Mode": "USER_PROVISIONED"}}),
    ("UC5005", "lustre-data", {f"{LUSTRE}/MetadataConfiguration": {"Mode": "AUTOMATIC", "Iops": 12000}}),
    ("UC5004", "lustre-data", {"FileSystem/FileSystemTypeVersion": "2.11"}),
    ("UC5010", "lustre-data", {"FileSystem/StorageType": "HDD"}),
    ("UC5011", "lustre-data", {f"{LUSTRE}/ThroughputCapacity": 4000}),
    ("UC5012", "lustre-data", TIERED | {f"{LUSTRE}/ThroughputCapacity": 4001}),
    ("UC5013", "lustre-data", TIERED | {f"{LUSTRE}/DataReadCacheConfiguration/SizingMode": "SOME"}),
    ("UC5015", "lustre-data", {f"{LUSTRE}/AutomaticBackupRetentionDays": 91}),
    ("UC5020", "lustre-data", {f"{LUSTRE}/DeploymentType": "SCRATCH_1"}),
    (
        "UC5021",
        "lustre-data",
        {
            f"/Resources/More{n}": {
                "Type": "AWS::FSx::DataRepositoryAssociation",
                "Properties": {
                    "FileSystemId": {"Ref": "FileSystem"},
                    "FileSystemPath": f"/more{n}",
                    "DataRepositoryPath": f"s3://more-{n}",
                },
            }
            for n in range(7)
        },
    ),
    (
        "UC5024",
        "lustre-data",
        {
            "DataRepositoryAssociation:Results/DataRepositoryPath": {
                "Fn::Sub": "s3://${DataBucket}/data/results/"
            }
        },
    ),
    ("UC5025", "lustre-data", {"DataRepositoryAssociation:Results/DataRepositoryPath": "s3:///results"}),
    (
        "UC5027",
        "lustre-data",
        {
            f"{LUSTRE}/EfaEnabled": True,
            "/Resources/Nodes": {
                "Type": "AWS::EC2::LaunchTemplate",
                "Properties": {"LaunchTemplateData": {"InstanceType": "trn2.48xlarge"}},
            },
        },
    ),
    (
        "UC5211",
        "batch-efa",
        {
            "/Resources/Far": {"Type": "AWS::EC2::Subnet", "Properties": {"AvailabilityZoneId": "use2-az1"}},
            "/Resources/Files": {
                "Type": "AWS::FSx::FileSystem",
                "Properties": {"FileSystemType": "LUSTRE", "SubnetIds": [{"Ref": "Far"}]},
            },
        },
    ),
)

KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("lustre-data", {"/Parameters/CapacityGiB/Default": 1200}),
    ("lustre-data", {f"{LUSTRE}/MetadataConfiguration/Iops": 192_000}),
    (
        "lustre-data",
        {
            f"{LUSTRE}/DeploymentType": "SCRATCH_2",
            f"{LUSTRE}/PerUnitStorageThroughput": DROP,
            f"{LUSTRE}/MetadataConfiguration": DROP,
        },
    ),
    ("lustre-data", TIERED | {f"{LUSTRE}/MetadataConfiguration/Iops": 6000}),
    ("lustre-data", {"DataRepositoryAssociation:Results/FileSystemPath": "/data2"}),
)


@pytest.mark.parametrize(
    ("code", "base", "edits"), BROKEN, ids=lambda value: value if isinstance(value, str) else ""
)
def test_edit_breaks_the_rule(
    foreign: dict[str, Source], code: str, base: str, edits: dict[str, Any]
) -> None:
    assert code in codes_after(foreign, base, edits)


@pytest.mark.parametrize(("base", "edits"), KEPT, ids=str)
def test_edit_within_the_rules_breaks_none(
    foreign: dict[str, Source], base: str, edits: dict[str, Any]
) -> None:
    assert codes_after(foreign, base, edits) == []
