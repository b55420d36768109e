"""Facts about resource updates: replaced properties, types that hold data, types that running jobs depend on.

``make tables`` writes `replacement.json` from the registry's schemas as shipped with cfn-lint 1.58.0 (2026-11-20).
The registry is incomplete; additions from the documentation are listed here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Final

PropertyPath = tuple[str, ...]
"""Path of a property, such as ``("LustreConfiguration", "EfaEnabled")``; ``*`` matches any part."""

ASSOCIATION: Final = "AWS::FSx::DataRepositoryAssociation"
COMPUTE_ENVIRONMENT: Final = "AWS::Batch::ComputeEnvironment"
FILE_SYSTEM: Final = "AWS::FSx::FileSystem"
QUEUE: Final = "AWS::Batch::JobQueue"


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement:
    """Properties of a type whose change replaces the resource."""

    always: frozenset[PropertyPath] = field(default_factory=frozenset)
    sometimes: frozenset[PropertyPath] = field(default_factory=frozenset)


# Parameters of CreateFileSystem only: UpdateFileSystem of botocore 1.44.5 and the registry's schema omit them. The documentation
# of AWS::FSx::FileSystem says "Replacement" for CopyTagsToBackups and DeploymentType, and "No interruption" for the others, which
# no API call supports (2026-11-21); assume replacement for all.
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

STATEFUL: Final = frozenset(
    {
        ASSOCIATION,
        FILE_SYSTEM,
        "AWS::DynamoDB::GlobalTable",
        "AWS::DynamoDB::Table",
        "AWS::EC2::CapacityReservation",  # released capacity may not be available again
        "AWS::EC2::Volume",
        "AWS::ECR::Repository",
        "AWS::EFS::FileSystem",
        "AWS::KMS::Key",
        "AWS::Logs::LogGroup",
        "AWS::S3::Bucket",
        "AWS::SSM::Parameter",
        "AWS::SecretsManager::Secret",
    }
)
"""Types whose content cannot be recreated."""

NETWORK_TYPES: Final = frozenset(
    f"AWS::EC2::{name}"
    for name in (
        "InternetGateway",
        "NatGateway",
        "NetworkAcl",
        "NetworkAclEntry",
        "Route",
        "RouteTable",
        "SecurityGroup",
        "SecurityGroupEgress",
        "SecurityGroupIngress",
        "Subnet",
        "SubnetNetworkAclAssociation",
        "SubnetRouteTableAssociation",
        "VPC",
        "VPCEndpoint",
        "VPCGatewayAttachment",
    )
)
"""Types that carry traffic of running nodes: collectives, Lustre, S3, the container agent."""

AUTO_SCALING_GROUP: Final = "AWS::AutoScaling::AutoScalingGroup"

JOB_CARRIERS: Final = frozenset(
    {
        COMPUTE_ENVIRONMENT,
        AUTO_SCALING_GROUP,
        "AWS::Batch::JobQueue",
        "AWS::Batch::ServiceEnvironment",
        "AWS::ECS::Cluster",
        "AWS::EKS::Cluster",
        "AWS::EKS::Nodegroup",
    }
)
"""Types whose deletion ends running and waiting jobs."""

IDENTITY_TYPES: Final = frozenset({"AWS::IAM::InstanceProfile", "AWS::IAM::Role"})
"""Types that grant permissions to running workloads."""

WORKLOAD_SERVICES: Final = ("ec2.", "ecs-tasks.")
"""Prefixes of the services that assume the roles of nodes and jobs."""

SCALING_PROPERTIES: Final = frozenset({"MaxvCpus", "MinvCpus", "DesiredvCpus"})
"""Members of ComputeResources that need no infrastructure update (Batch guide, "Updating compute environments")."""

LONGEST_JOB_TIMEOUT_MINUTES: Final = 7200
"""The longest ``JobExecutionTimeoutMinutes``: UpdatePolicy of the Batch API reference, botocore 1.44.5, 2026-11-20."""

MOVING_ATTRIBUTES: Final = frozenset({("AWS::EC2::LaunchTemplate", "LatestVersionNumber")})
"""Attributes that change with each in-place update of their resource."""

MOVING_IDS: Final = frozenset({"AWS::Batch::JobDefinition"})
"""Types whose ``Ref`` includes a revision and so changes with each in-place update."""


def is_custom(resource_type: str) -> bool:
    """Return whether this is a custom resource, whose function decides how to update it."""
    return resource_type.startswith("Custom::") or resource_type == "AWS::CloudFormation::CustomResource"


@cache
def _table() -> Mapping[str, Any]:
    text = resources.files("ultracluster_stacks.plan").joinpath("replacement.json").read_text("utf-8")
    table: dict[str, Any] = json.loads(text)
    return table


def replacement(resource_type: str, properties: Mapping[str, Any]) -> Replacement | None:
    """Return the properties whose change replaces a resource, or None if unknown.

    ``ReplaceComputeEnvironment`` among the properties of a compute environment controls its update.
    """
    if resource_type == "AWS::CDK::Metadata":
        return Replacement()  # CDK metadata is not a real resource
    if resource_type not in _table():
        return None
    always, sometimes = (
        frozenset(tuple(path.split("/")) for path in paths) for paths in _table()[resource_type]
    )
    always |= _DOCUMENTED.get(resource_type, frozenset())
    if resource_type == COMPUTE_ENVIRONMENT:
        # By default, every change but scaling replaces the environment; otherwise it is an infrastructure update.
        replaces = str(properties.get("ReplaceComputeEnvironment", True)).lower() != "false"
        return Replacement(always=always | sometimes if replaces else always)
    if resource_type == AUTO_SCALING_GROUP:
        # Replaced as a whole by its update policy only (UpdatePolicy attribute, CloudFormation User Guide, read 2026-11), which
        # ours do not ask for; else only new nodes take another template.
        sometimes = frozenset()
    return Replacement(always=always, sometimes=sometimes)


def touches(path: PropertyPath, others: frozenset[PropertyPath]) -> bool:
    """Return whether one of `others`, in which ``*`` matches any part, equals, contains or is inside a path."""
    return any(
        all(pattern in {part, "*"} for part, pattern in zip(path, other, strict=False)) for other in others
    )
