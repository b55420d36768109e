"""S3 replication of new objects to buckets in other Regions: role and rules."""

from collections.abc import Sequence

from aws_cdk import Token
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster_rules import buckets
from ultracluster_rules.findings import Finding, quote, reject


def check_destinations(destinations: Sequence[s3.IBucket]) -> None:
    """Raise for duplicate destinations (UC5140), and for those with a customer managed key (UC5141)."""
    names = [bucket.bucket_name for bucket in destinations]
    findings = [
        finding.at(f"replicate_to[{index}]")
        for index, finding in buckets.check_destinations(
            [None if Token.is_unresolved(name) else name for name in names]
        )
    ]
    for index, bucket in enumerate(destinations):
        path = f"replicate_to[{index}]"
        name = bucket.bucket_name
        if bucket.encryption_key is not None:
            problem = f"{quote(name)} has a customer managed key"
            remedy = "Use a bucket with S3 managed keys, such as that of a CompileCache"
            findings.append(Finding("UC5141", problem, remedy=remedy, path=path))
    reject(findings)


def replication_role(scope: Construct) -> iam.Role:
    """Define the replication role; `allow_replication` adds its permissions."""
    return iam.Role(
        scope,
        "ReplicationRole",
        assumed_by=iam.ServicePrincipal("s3.amazonaws.com"),
        description="Copies new objects to buckets of other Regions",
    )


def replication_rules(destinations: Sequence[s3.IBucket], *, prefix: str) -> list[s3.ReplicationRule]:
    """Return one rule per destination. Deletions are not replicated."""
    return [
        s3.ReplicationRule(
            id=f"copy-{index + 1}",
            priority=index + 1,  # must be unique, even though each rule has its own destination
            destination=bucket,
            filter=s3.Filter(prefix=prefix),
            delete_marker_replication=False,
        )
        for index, bucket in enumerate(destinations)
    ]


def allow_replication(
    role: iam.Role, *, source: s3.IBucket, destinations: Sequence[s3.IBucket], prefix: str
) -> None:
    """Allow S3 to read new versions from the source and to write them to the destinations.

    The actions are those of the S3 User Guide, "Setting up permissions for live replication" (read 2026-10), without
    the one that replicates deletions.
    """
    for actions, resources in (
        (["s3:GetReplicationConfiguration", "s3:ListBucket"], [source.bucket_arn]),
        (
            ["s3:GetObjectVersionForReplication", "s3:GetObjectVersionAcl", "s3:GetObjectVersionTagging"],
            [f"{source.bucket_arn}/{prefix}*"],
        ),
        (
            ["s3:ReplicateObject", "s3:ReplicateTags"],
            [f"{bucket.bucket_arn}/{prefix}*" for bucket in destinations],
        ),
    ):
        role.add_to_policy(iam.PolicyStatement(actions=actions, resources=resources))
