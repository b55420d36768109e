"""What changes in place, judged by what services can update at all: the shapes of their operations in botocore.

The registry of CloudFormation forgets settings that force a replacement, such as those of Lustre. An operation that does
not take a setting cannot change it, so for each property that the plan lets pass there must be an operation that takes it.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import botocore.session
import pytest
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

from ultracluster_stacks.plan.allowed import SAFE
from ultracluster_stacks.plan.resource_updates import (
    JOB_CARRIERS,
    NETWORK_TYPES,
    STATEFUL,
    PropertyPath,
    replacement,
    touches,
)

pytestmark = pytest.mark.slow

# The operations that take most of the properties of a type under their own names.
UPDATES: Mapping[str, tuple[str, ...]] = {
    "AWS::Batch::ComputeEnvironment": ("batch:UpdateComputeEnvironment",),
    "AWS::Batch::JobQueue": ("batch:UpdateJobQueue",),
    "AWS::Batch::QuotaShare": ("batch:UpdateQuotaShare",),
    "AWS::Batch::SchedulingPolicy": ("batch:UpdateSchedulingPolicy",),
    "AWS::Batch::ServiceEnvironment": ("batch:UpdateServiceEnvironment",),
    "AWS::DynamoDB::GlobalTable": ("dynamodb:UpdateTable",),
    "AWS::DynamoDB::Table": ("dynamodb:UpdateTable",),
    "AWS::EC2::CapacityReservation": ("ec2:ModifyCapacityReservation",),
    "AWS::EC2::NatGateway": (),
    "AWS::EC2::Route": ("ec2:ReplaceRoute",),
    "AWS::EC2::Subnet": ("ec2:ModifySubnetAttribute",),
    "AWS::EC2::VPC": ("ec2:ModifyVpcAttribute", "ec2:ModifyVpcTenancy"),
    "AWS::EC2::VPCEndpoint": ("ec2:ModifyVpcEndpoint",),
    "AWS::EC2::Volume": ("ec2:ModifyVolume",),
    "AWS::ECR::Repository": (),
    "AWS::EFS::FileSystem": ("efs:UpdateFileSystem",),
    "AWS::FSx::DataRepositoryAssociation": ("fsx:UpdateDataRepositoryAssociation",),
    "AWS::FSx::FileSystem": ("fsx:UpdateFileSystem",),
    "AWS::IAM::InstanceProfile": (),
    "AWS::IAM::Role": ("iam:UpdateRole",),
    "AWS::KMS::Key": (),
    "AWS::Lambda::Function": ("lambda:UpdateFunctionConfiguration",),
    "AWS::Logs::LogGroup": (),
    "AWS::S3::Bucket": (),
    "AWS::SSM::Parameter": ("ssm:PutParameter",),
    "AWS::SecretsManager::Secret": ("secretsmanager:UpdateSecret",),
}
# Properties with an operation of their own: which, and what it calls them.
_TAGS = ("ec2:CreateTags Tags",)
ELSEWHERE: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "AWS::Batch::JobQueue": {"Tags": ("batch:TagResource tags",)},
    "AWS::Batch::QuotaShare": {"Tags": ("batch:TagResource tags",)},
    "AWS::Batch::SchedulingPolicy": {"Tags": ("batch:TagResource tags",)},
    "AWS::Batch::ServiceEnvironment": {"Tags": ("batch:TagResource tags",)},
    "AWS::DynamoDB::Table": {
        "PointInTimeRecoverySpecification": (
            "dynamodb:UpdateContinuousBackups PointInTimeRecoverySpecification",
        ),
        "Tags": ("dynamodb:TagResource Tags",),
    },
    "AWS::EC2::CapacityReservation": {"TagSpecifications": _TAGS},
    "AWS::EC2::NatGateway": {
        "AvailabilityZoneAddresses": ("ec2:AssociateNatGatewayAddress AvailabilityZone",),
        "MaxDrainDurationSeconds": ("ec2:DisassociateNatGatewayAddress MaxDrainDurationSeconds",),
        "SecondaryAllocationIds": ("ec2:AssociateNatGatewayAddress AllocationIds",),
        "SecondaryPrivateIpAddressCount": ("ec2:AssignPrivateNatGatewayAddress PrivateIpAddressCount",),
        "SecondaryPrivateIpAddresses": ("ec2:AssignPrivateNatGatewayAddress PrivateIpAddresses",),
        "Tags": _TAGS,
    },
    "AWS::EC2::Subnet": {
        "PrivateDnsNameOptionsOnLaunch": (
            "ec2:ModifySubnetAttribute PrivateDnsHostnameTypeOnLaunch",
            "ec2:ModifySubnetAttribute EnableResourceNameDnsARecordOnLaunch",
        ),
        "Tags": _TAGS,
    },
    "AWS::EC2::VPC": {"Tags": _TAGS},
    "AWS::EC2::VPCEndpoint": {
        "RouteTableIds": (
            "ec2:ModifyVpcEndpoint AddRouteTableIds",
            "ec2:ModifyVpcEndpoint RemoveRouteTableIds",
        ),
        "SecurityGroupIds": (
            "ec2:ModifyVpcEndpoint AddSecurityGroupIds",
            "ec2:ModifyVpcEndpoint RemoveSecurityGroupIds",
        ),
        "SubnetIds": ("ec2:ModifyVpcEndpoint AddSubnetIds", "ec2:ModifyVpcEndpoint RemoveSubnetIds"),
        "Tags": _TAGS,
    },
    "AWS::EC2::Volume": {"Tags": _TAGS},
    "AWS::ECR::Repository": {
        "ImageScanningConfiguration": ("ecr:PutImageScanningConfiguration imageScanningConfiguration",),
        "ImageTagMutability": ("ecr:PutImageTagMutability imageTagMutability",),
        "Tags": ("ecr:TagResource tags",),
    },
    "AWS::EFS::FileSystem": {"FileSystemTags": ("efs:TagResource Tags",)},
    "AWS::FSx::DataRepositoryAssociation": {"Tags": ("fsx:TagResource Tags",)},
    "AWS::FSx::FileSystem": {"Tags": ("fsx:TagResource Tags",)},
    "AWS::IAM::InstanceProfile": {
        "Roles": (
            "iam:AddRoleToInstanceProfile RoleName",
            "iam:RemoveRoleFromInstanceProfile RoleName",
        )
    },
    "AWS::IAM::Role": {
        "AssumeRolePolicyDocument": ("iam:UpdateAssumeRolePolicy PolicyDocument",),
        "ManagedPolicyArns": ("iam:AttachRolePolicy PolicyArn", "iam:DetachRolePolicy PolicyArn"),
        "PermissionsBoundary": ("iam:PutRolePermissionsBoundary PermissionsBoundary",),
        "Policies": ("iam:PutRolePolicy PolicyDocument", "iam:DeleteRolePolicy PolicyName"),
        "Tags": ("iam:TagRole Tags",),
    },
    "AWS::KMS::Key": {
        "Description": ("kms:UpdateKeyDescription Description",),
        "EnableKeyRotation": ("kms:EnableKeyRotation KeyId", "kms:DisableKeyRotation KeyId"),
        "RotationPeriodInDays": ("kms:EnableKeyRotation RotationPeriodInDays",),
        "Tags": ("kms:TagResource Tags",),
    },
    "AWS::Lambda::Function": {
        "Architectures": ("lambda:UpdateFunctionCode Architectures",),
        "Code": ("lambda:UpdateFunctionCode S3Key", "lambda:UpdateFunctionCode ZipFile"),
        "CodeSigningConfigArn": ("lambda:PutFunctionCodeSigningConfig CodeSigningConfigArn",),
        "FunctionScalingConfig": ("lambda:PutFunctionScalingConfig FunctionScalingConfig",),
        "PublishToLatestPublished": ("lambda:UpdateFunctionCode PublishTo",),
        "RecursiveLoop": ("lambda:PutFunctionRecursionConfig RecursiveLoop",),
        "ReservedConcurrentExecutions": ("lambda:PutFunctionConcurrency ReservedConcurrentExecutions",),
        "RuntimeManagementConfig": ("lambda:PutRuntimeManagementConfig UpdateRuntimeOn",),
        "Tags": ("lambda:TagResource Tags",),
    },
    "AWS::Logs::LogGroup": {
        "RetentionInDays": (
            "logs:PutRetentionPolicy retentionInDays",
            "logs:DeleteRetentionPolicy logGroupName",
        ),
        "Tags": ("logs:TagResource tags",),
    },
    "AWS::S3::Bucket": {
        "BucketEncryption": ("s3:PutBucketEncryption ServerSideEncryptionConfiguration",),
        "LifecycleConfiguration": ("s3:PutBucketLifecycleConfiguration LifecycleConfiguration",),
        "MetricsConfigurations": ("s3:PutBucketMetricsConfiguration MetricsConfiguration",),
        "PublicAccessBlockConfiguration": ("s3:PutPublicAccessBlock PublicAccessBlockConfiguration",),
        "Tags": ("s3:PutBucketTagging Tagging",),
        "VersioningConfiguration": ("s3:PutBucketVersioning VersioningConfiguration",),
    },
    "AWS::SecretsManager::Secret": {"Tags": ("secretsmanager:TagResource Tags",)},
}
# No service is told of them: they direct CloudFormation.
OF_CLOUDFORMATION = {("AWS::Batch::ComputeEnvironment", ("ReplaceComputeEnvironment",))}
Node = Mapping[str, Any]


def members(operation: str) -> Mapping[str, Any]:
    service, name = operation.split(":")
    return _inside(_model(service).operation_model(name).input_shape)


@cache
def _model(service: str) -> Any:
    return botocore.session.get_session().get_service_model(service)


def _inside(shape: Any) -> dict[str, Any]:
    """Members by their names in lower case: CloudFormation writes ``ComputeResources`` where AWS Batch has ``computeResources``."""
    while shape.type_name == "list":
        shape = shape.member
    return {name.lower(): member for name, member in getattr(shape, "members", {}).items()}


def schema(resource_type: str) -> Node:
    found: Node = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", resource_type).schema
    return found


def _resolved(document: Node, node: Node) -> Node:
    while "$ref" in node:
        reference, node = node["$ref"], document
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]
    return _resolved(document, node["items"]) if "items" in node else node


def not_updated(resource_type: str) -> Iterator[PropertyPath]:
    """Properties that users can set, a change of which is said to be in place, and which no operation of `UPDATES` takes."""
    document = schema(resource_type)
    rules = replacement(resource_type, {"ReplaceComputeEnvironment": "false"})
    assert rules is not None
    given = {tuple(one.split("/")[2:]) for one in document.get("readOnlyProperties", ())}

    def look(node: Node, taken: list[Mapping[str, Any]], path: PropertyPath) -> Iterator[PropertyPath]:
        for name, part in _resolved(document, node).get("properties", {}).items():
            inner = (*path, name)
            if inner in given or inner in rules.always or inner in rules.sometimes:
                continue
            found = [shapes[name.lower()] for shapes in taken if name.lower() in shapes]
            if not found:
                yield inner
            elif deeper := [inside for shape in found if (inside := _inside(shape))]:
                yield from look(part, deeper, inner)

    yield from look(document, [members(each) for each in UPDATES[resource_type]], ())


def test_all_types_that_hold_data_or_jobs_are_judged() -> None:
    # Rules, routes and attachments are replaced by any change, or have no property of their own to change.
    whole = {
        f"AWS::EC2::{name}"
        for name in (
            "InternetGateway",
            "NetworkAcl",
            "NetworkAclEntry",
            "RouteTable",
            "SecurityGroup",
            "SecurityGroupEgress",
            "SecurityGroupIngress",
            "SubnetNetworkAclAssociation",
            "SubnetRouteTableAssociation",
            "VPCGatewayAttachment",
        )
    }
    not_emitted = {kind for kind in JOB_CARRIERS if not kind.startswith("AWS::Batch::")}

    assert {*STATEFUL, *NETWORK_TYPES, *JOB_CARRIERS} - whole - not_emitted <= UPDATES.keys()


@pytest.mark.parametrize("resource_type", sorted(UPDATES))
def test_what_passes_as_a_change_in_place_is_what_the_service_can_update(resource_type: str) -> None:
    safe = SAFE.get(resource_type, {}) if resource_type in STATEFUL else None
    passes = [
        path
        for path in not_updated(resource_type)
        # In what holds data only the allow-list passes; elsewhere all that does not replace.
        if (safe is None or touches(path, frozenset(safe))) and (resource_type, path) not in OF_CLOUDFORMATION
    ]

    assert [".".join(path) for path in passes if ".".join(path) not in ELSEWHERE.get(resource_type, {})] == []


@pytest.mark.parametrize("resource_type", sorted(SAFE))
def test_what_is_safe_is_a_property_that_users_can_set(resource_type: str) -> None:
    document = schema(resource_type)
    for path in SAFE[resource_type]:
        node: Node = document
        for name in path:
            node = _resolved(document, node)
            if name in node.get("properties", {}):
                node = node["properties"][name]
            elif name.isdigit() or (name == "*" and "items" in node):
                node = node["items"]
            else:  # names that people choose
                break
        assert f"/properties/{'/'.join(path)}" not in document.get("readOnlyProperties", ())


@pytest.mark.parametrize("resource_type", sorted(ELSEWHERE))
def test_separate_operations_exist_and_accept_the_property(resource_type: str) -> None:
    for path, operations in ELSEWHERE[resource_type].items():
        assert (path,) in set(not_updated(resource_type)), f"{path} needs no operation of its own"
        for operation in operations:
            name, member = operation.split()
            assert member.lower() in members(name), operation


def test_settings_of_lustre_that_no_operation_takes_are_known_to_replace() -> None:
    lustre = [path for path in not_updated("AWS::FSx::FileSystem") if path[0] == "LustreConfiguration"]

    assert lustre == []
