"""References: to a resource of a kind that the property takes, in the form, name or ARN, that it takes."""

from collections.abc import Iterator
from typing import Final

from ultracluster_checks.codes import REFERENCES
from ultracluster_checks.model.permissions import allowing, conditions_of, identity_documents
from ultracluster_checks.model.template import Property, Resource, Templates, places
from ultracluster_checks.model.values import Reference
from ultracluster_checks.problem import Wrong, rule

# Ends of the types that properties of a name refer to, whichever resource they belong to. CloudFormation template reference (2026-11).
_TAKEN: Final = {
    ("SubnetId", "SubnetIds", "Subnets", "VPCZoneIdentifier"): ("::Subnet",),
    ("SecurityGroupIds", "GroupSet", "SourceSecurityGroupId", "DestinationSecurityGroupId"): ("::SecurityGroup", "::VPC", "::Cluster"),
    ("VpcId",): ("::VPC", "::VPCGatewayAttachment"),
    ("RouteTableId", "RouteTableIds"): ("::RouteTable",),
    ("NatGatewayId",): ("::NatGateway",),
    ("InternetGatewayId",): ("::InternetGateway",),
    ("RoleArn", "RoleARN", "Role", "NodeRole", "ExecutionRole", "ExecutionRoleArn", "JobRoleArn", "TaskRoleArn", "IamRoleArn", "DeliverLogsPermissionArn"): ("::Role", "::ServiceLinkedRole"),
    ("InstanceRole", "InstanceProfileName"): ("::InstanceProfile", "::Role"),
    ("KmsKeyId", "KMSMasterKeyID", "KmsMasterKeyId", "TargetKeyId", "EncryptionKeyArn", "KeyArn"): ("Key", "::Alias"),
    ("LaunchTemplateId",): ("::LaunchTemplate",),
    ("AutoScalingGroupName",): ("::AutoScalingGroup",),
    ("FileSystemId",): ("::FileSystem",),
    ("TopicArn", "SnsTopicArn"): ("::Topic",),
    ("FunctionName",): ("::Function", "::Alias", "::Version"),
    ("LogGroupName", "LogGroup", "LogGroupArn", "awslogs-group"): ("::LogGroup",),
    ("ClusterName",): ("Cluster",),
    ("TaskDefinition",): ("::TaskDefinition",),
    ("TargetGroupArn",): ("::TargetGroup",),
    ("LoadBalancerArn",): ("::LoadBalancer",),
    ("SchedulingPolicyArn",): ("::SchedulingPolicy",),
    ("ComputeEnvironment",): ("::ComputeEnvironment",),
    ("JobQueue",): ("::JobQueue", "::QuotaManagement"),
    ("DestinationBucketName", "S3BucketName"): ("Bucket",),
    ("CapacityReservationId",): ("::CapacityReservation",),
    ("PlacementGroup",): ("::PlacementGroup",),
    ("ImageRecipeArn",): ("::ImageRecipe",),
    ("InfrastructureConfigurationArn",): ("::InfrastructureConfiguration",),
    ("DistributionConfigurationArn",): ("::DistributionConfiguration",),
    ("ComponentArn",): ("::Component",),
    ("TargetBackupVault",): ("::BackupVault",),
    ("BackupPlanId",): ("::BackupPlan",),
}  # fmt: skip
_BY_NAME: Final = {name: types for names, types in _TAKEN.items() for name in names}
# Types whose Ref is a name or an ID, and whose ARN is an attribute.
_ARN_APART: Final = {"AWS::IAM::Role", "AWS::IAM::InstanceProfile", "AWS::Lambda::Function", "AWS::Logs::LogGroup", "AWS::S3::Bucket", "AWS::SQS::Queue", "AWS::DynamoDB::Table"}  # fmt: skip
# Amazon ECS takes the name of a role, too.
_NEEDS_ARN: Final = {"DestinationArn", "RoleArn", "IamRoleArn", "EventSourceArn", "SourceArn", "NodeRole", "ExecutionRole", "Resource", "deadLetterTargetArn"}  # fmt: skip
_NEEDS_NAME: Final = {"AutoScalingGroupName", "DestinationBucketName", "LogGroupName", "S3BucketName", "awslogs-group"}  # fmt: skip
# What a template may make by other means.
_ANY: Final = ("Custom::", "AWS::CloudFormation::", "AWS::SSM::")


@rule(REFERENCES)
def references_fit_their_property(templates: Templates) -> Iterator[Wrong]:
    """Find references to a resource of another kind, names in place of ARNs, and ARNs in place of names."""
    for resource in templates.resources:
        for at, name in _references(resource.properties, ""):
            yield from _misfit(at, name, at.target)


def _references(at: Property, name: str) -> Iterator[tuple[Property, str]]:
    """Return each reference below a property, with the name of the property that it is the value or an item of."""
    if isinstance(at.value, Reference):
        yield at, name
    for part in at.members:
        yield from _references(part, str(part.path[-1]))
    for part in at.items:
        yield from _references(part, name)


def _misfit(at: Property, name: str, target: Resource | None) -> Iterator[Wrong]:
    if target is None or target.type.startswith(_ANY):
        return
    types, is_name = _BY_NAME.get(name), not at.value.attribute
    if types and not target.type.endswith(types):
        allowed = " or ".join(kind.lstrip(":") for kind in types)
        yield at, f"got {at.pattern}, which is of {target.type}", allowed
    elif target.type in _ARN_APART and is_name and name in _NEEDS_ARN:
        yield at, f"got the name of {target.logical_id}, and {name} takes an ARN", f"{target.logical_id}.Arn"
    elif at.value.attribute == "Arn" and name in _NEEDS_NAME:
        yield at, f"got the ARN of {target.logical_id}, and {name} takes a name", target.logical_id


@rule(REFERENCES)
def tags_that_select_are_those_of_resources(templates: Templates) -> Iterator[Wrong]:
    """Find selections and conditions by the value of a tag that no resource of the templates has, though some have its key."""
    tags: dict[str, set[str]] = {}
    for resource in templates.resources:
        for key, value in _tags(resource.properties):
            tags.setdefault(key, set()).add(value.pattern)
    for key, at in _selecting(templates):
        values = tags.get(key, set())
        known = values and not any("${" in each or "*" in each for each in (*values, at.pattern))
        if known and at.pattern not in values:
            yield at, f"no resource has the tag {key}={at.pattern}", ", ".join(sorted(values))


def _tags(at: Property) -> Iterator[tuple[str, Property]]:
    """Return the tags below a property: pairs and mappings in ``Tags``, ``FileSystemTags`` and others like these."""
    if str(at.path[-1]).endswith("Tags"):
        yield from ((str(tag.path[-1]), tag) for tag in at.members)
        yield from ((tag["Key"].pattern, tag["Value"]) for tag in at.items)
        return
    for part in at.parts:
        yield from _tags(part)


def _selecting(templates: Templates) -> Iterator[tuple[str, Property]]:
    """Return the values of tags by which backups and permissions select resources, each with its key."""
    for tag in places(templates, "Backup::BackupSelection", "BackupSelection.ListOfTags.*"):
        yield tag["ConditionKey"].pattern, tag["ConditionValue"]
    for _, document in identity_documents(templates):
        for condition in (key for statement in allowing(document) for key in conditions_of(statement)):
            service, _, key = str(condition.path[-1]).partition(":ResourceTag/")
            if service in {"aws", "ec2"} and str(condition.path[-2]) in {"StringEquals", "StringLike"}:
                yield from ((key, value) for value in condition.one_or_more)
