"""What CloudFormation does to a resource that changes: what is replaced, what holds data, what running jobs hang on.

`replacement.json` is written by ``make types`` from the registry's schemas as cfn-lint 1.58.0 ships them (2026-11-20).
The registry is not complete, so what the documentation of a type adds stands here by hand.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Final

__all__ = [
    "ASSOCIATION",
    "COMPUTE_ENVIRONMENT",
    "IDENTITY_TYPES",
    "JOB_CARRIERS",
    "LONGEST_JOB_TIMEOUT_MINUTES",
    "MOVING_ATTRIBUTES",
    "MOVING_IDS",
    "NETWORK_TYPES",
    "QUEUE",
    "SCALING_PROPERTIES",
    "STATEFUL",
    "WORKLOAD_SERVICES",
    "PropertyPath",
    "Replacement",
    "Safe",
    "is_custom",
    "replacement",
    "touches",
]

PropertyPath = tuple[str, ...]
"""Where a property is, such as ``("LustreConfiguration", "EfaEnabled")``; ``*`` stands for any part."""

ASSOCIATION: Final = "AWS::FSx::DataRepositoryAssociation"
COMPUTE_ENVIRONMENT: Final = "AWS::Batch::ComputeEnvironment"
QUEUE: Final = "AWS::Batch::JobQueue"


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement:
    """Which properties of a type force CloudFormation to make a new resource.

    Attributes:
        always: Paths whose change always does.
        sometimes: Paths whose change does in some cases.
    """

    always: frozenset[PropertyPath] = field(default_factory=frozenset)
    sometimes: frozenset[PropertyPath] = field(default_factory=frozenset)


class Safe(StrEnum):
    """When a change in place of something that holds data is harmless."""

    ANY = "any"
    GROWS = "grows"
    """Only from one number to a larger one; the service refuses a smaller one."""
    KEEPS_LONGER = "keeps longer"
    """Only to a larger number, or to none at all, which is for ever."""


# Given to CreateFileSystem only: UpdateFileSystem of botocore 1.44.5 has none of them, and the registry's schema omits them. The
# documentation of AWS::FSx::FileSystem says "Replacement" of CopyTagsToBackups and DeploymentType, and "No interruption" of the
# others, which no call could do (read 2026-11-21); the worse is taken.
_DOCUMENTED: Final[Mapping[str, frozenset[PropertyPath]]] = MappingProxyType(
    {
        "AWS::FSx::FileSystem": frozenset(
            {
                ("StorageType",),
                ("LustreConfiguration", "CopyTagsToBackups"),
                ("LustreConfiguration", "DeploymentType"),
                ("LustreConfiguration", "DriveCacheType"),
                ("LustreConfiguration", "EfaEnabled"),
                ("LustreConfiguration", "ExportPath"),
                ("LustreConfiguration", "ImportPath"),
                ("LustreConfiguration", "ImportedFileChunkSize"),
            }
        )
    }
)

STATEFUL: Final[Mapping[str, Mapping[PropertyPath, Safe]]] = MappingProxyType(
    {
        "AWS::FSx::FileSystem": {
            ("Tags",): Safe.ANY,
            ("StorageCapacity",): Safe.GROWS,  # UpdateFileSystem: greater than the current capacity
            ("LustreConfiguration", "PerUnitStorageThroughput"): Safe.ANY,
            ("LustreConfiguration", "DataCompressionType"): Safe.ANY,
            ("LustreConfiguration", "MetadataConfiguration", "Iops"): Safe.GROWS,
            ("LustreConfiguration", "ThroughputCapacity"): Safe.GROWS,
            ("LustreConfiguration", "DataReadCacheConfiguration"): Safe.ANY,  # holds copies only
            ("LustreConfiguration", "WeeklyMaintenanceStartTime"): Safe.ANY,
            ("LustreConfiguration", "DailyAutomaticBackupStartTime"): Safe.ANY,
        },
        ASSOCIATION: {("Tags",): Safe.ANY, ("S3", "AutoImportPolicy"): Safe.ANY},
        "AWS::S3::Bucket": {
            ("Tags",): Safe.ANY,
            ("BucketEncryption",): Safe.ANY,  # what is stored stays as it was written
            ("LoggingConfiguration",): Safe.ANY,
            ("MetricsConfigurations",): Safe.ANY,
            ("NotificationConfiguration",): Safe.ANY,
            ("InventoryConfigurations",): Safe.ANY,
        },
        "AWS::Logs::LogGroup": {("Tags",): Safe.ANY, ("RetentionInDays",): Safe.KEEPS_LONGER},
        "AWS::DynamoDB::Table": {("Tags",): Safe.ANY, ("BillingMode",): Safe.ANY},
        "AWS::DynamoDB::GlobalTable": {("BillingMode",): Safe.ANY},
        "AWS::KMS::Key": {
            ("Tags",): Safe.ANY,
            ("Description",): Safe.ANY,
            ("RotationPeriodInDays",): Safe.ANY,
        },
        "AWS::ECR::Repository": {
            ("Tags",): Safe.ANY,
            ("ImageScanningConfiguration",): Safe.ANY,
            ("ImageTagMutability",): Safe.ANY,
        },
        "AWS::SSM::Parameter": {("Tags",): Safe.ANY, ("Description",): Safe.ANY},
        "AWS::SecretsManager::Secret": {("Tags",): Safe.ANY, ("Description",): Safe.ANY},
        "AWS::EFS::FileSystem": {("FileSystemTags",): Safe.ANY},
        "AWS::EC2::Volume": {("Tags",): Safe.ANY, ("Size",): Safe.GROWS},
        # Capacity that was given back may be gone for good.
        "AWS::EC2::CapacityReservation": {("TagSpecifications",): Safe.ANY},
    }
)
"""The types that hold what cannot be made again, each with the paths that change in place without harm.

An allow-list: a path that is not here counts as dangerous. The paths are those that the Update operation of the service
takes (botocore 1.44.5, 2026-11-20); tests/unit/stacks/plan/test_update_operations.py names it for each. Left out on purpose are settings
that delete (lifecycle rules, shorter retention), stop protecting (versioning, export to S3) or lock out (key policies).
"""

NETWORK_TYPES: Final = frozenset(
    f"AWS::EC2::{name}"
    for name in (
        "InternetGateway",
        "NatGateway",
        "Route",
        "RouteTable",
        "SecurityGroup",
        "SecurityGroupEgress",
        "SecurityGroupIngress",
        "Subnet",
        "SubnetRouteTableAssociation",
        "VPC",
        "VPCEndpoint",
        "VPCGatewayAttachment",
    )
)
"""What the traffic of running nodes goes through: the collectives, Lustre, S3, the container agent."""

JOB_CARRIERS: Final = frozenset(
    {
        COMPUTE_ENVIRONMENT,
        "AWS::AutoScaling::AutoScalingGroup",
        "AWS::Batch::JobQueue",
        "AWS::Batch::ServiceEnvironment",
        "AWS::ECS::Cluster",
        "AWS::EKS::Cluster",
        "AWS::EKS::Nodegroup",
    }
)
"""What takes running and waiting jobs with it when it is deleted."""

IDENTITY_TYPES: Final = frozenset({"AWS::IAM::InstanceProfile", "AWS::IAM::Role"})
"""What gives permissions to what runs now."""

WORKLOAD_SERVICES: Final = ("ec2.", "ecs-tasks.")
"""How the services begin that assume the roles of nodes and jobs; functions start anew with another role."""

SCALING_PROPERTIES: Final = frozenset({"MaxvCpus", "MinvCpus", "DesiredvCpus"})
"""Members of ComputeResources that change without an infrastructure update (Batch guide, Updating compute environments)."""

LONGEST_JOB_TIMEOUT_MINUTES: Final = 7200
"""The longest ``JobExecutionTimeoutMinutes``: UpdatePolicy of the Batch API reference, botocore 1.44.5, 2026-11-20."""

MOVING_ATTRIBUTES: Final = frozenset({("AWS::EC2::LaunchTemplate", "LatestVersionNumber")})
"""Attributes that change with each change in place of their resource."""

MOVING_IDS: Final = frozenset({"AWS::Batch::JobDefinition"})
"""Types whose ``Ref`` changes with each change in place: it names the revision."""


def is_custom(resource_type: str) -> bool:
    """Whether a function of somebody decides what happens to resources of this type."""
    return resource_type.startswith("Custom::") or resource_type == "AWS::CloudFormation::CustomResource"


@cache
def _table() -> Mapping[str, Any]:
    text = resources.files("ultracluster_stacks.plan").joinpath("replacement.json").read_text("utf-8")
    table: dict[str, Any] = json.loads(text)
    return table


def replacement(resource_type: str, properties: Mapping[str, Any]) -> Replacement | None:
    """Say which properties of a type force a new resource. None where that is not known.

    Args:
        resource_type: Such as ``AWS::FSx::FileSystem``.
        properties: The properties of the resource as it shall become; only a compute environment's are looked at,
            since ``ReplaceComputeEnvironment`` directs its own update.
    """
    if resource_type == "AWS::CDK::Metadata":
        return Replacement()  # a note of the CDK, which CloudFormation makes nothing of
    if resource_type not in _table():
        return None
    always, sometimes = (
        frozenset(tuple(path.split("/")) for path in paths) for paths in _table()[resource_type]
    )
    always |= _DOCUMENTED.get(resource_type, frozenset())
    if resource_type == COMPUTE_ENVIRONMENT:
        # Its default is true; then all but scaling makes a new environment, else an infrastructure update.
        replaces = str(properties.get("ReplaceComputeEnvironment", True)).lower() != "false"
        return Replacement(always=always | sometimes if replaces else always)
    return Replacement(always=always, sometimes=sometimes)


def touches(
    path: PropertyPath, others: Mapping[PropertyPath, Any] | frozenset[PropertyPath]
) -> PropertyPath | None:
    """Return the first of `others` that a changed path is, is inside or is around. None if there is none.

    Args:
        path: Where something changed.
        others: Paths, in which ``*`` stands for any part.
    """
    for other in sorted(others):
        if all(two in {one, "*"} for one, two in zip(path, other, strict=False)):
            return other
    return None
