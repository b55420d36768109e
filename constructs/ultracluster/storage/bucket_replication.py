"""Copies of new objects in buckets of other Regions: the role and the rules of S3."""

from collections.abc import Sequence

from aws_cdk import Token
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster_rules import buckets
from ultracluster_rules.findings import Finding, FindingsError, quote

__all__ = ["allow_replication", "check_destinations", "replication_role", "replication_rules"]


def check_destinations(destinations: Sequence[s3.IBucket]) -> None:
    """Refuse destinations that S3 refuses, or that would get nothing.

    Args:
        destinations: Buckets for the copies.

    Raises:
        FindingsError: UC5140 for a bucket that is named twice, UC5141 for one with a key of its own.
    """
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
            problem = f"{quote(name)} has a key of its own"
            remedy = "Use a bucket that is encrypted with the keys of S3, as that of a CompileCache is"
            findings.append(Finding(code="UC5141", problem=problem, remedy=remedy, path=path))
    if findings:
        raise FindingsError(findings)


def replication_role(scope: Construct) -> iam.Role:
    """Define the role that S3 copies with; `allow_replication` says what it may.

    Args:
        scope: The construct of the bucket.
    """
    return iam.Role(
        scope,
        "ReplicationRole",
        assumed_by=iam.ServicePrincipal("s3.amazonaws.com"),
        description="Copies new objects to buckets of other Regions",
    )


def replication_rules(destinations: Sequence[s3.IBucket], *, prefix: str) -> list[s3.ReplicationRule]:
    """Give one rule for each destination. What is removed here stays there.

    Args:
        destinations: Buckets for the copies, with versions.
        prefix: Key prefix of what is copied.
    """
    return [
        s3.ReplicationRule(
            id=f"copy-{index + 1}",
            priority=index + 1,  # S3 wants different ones, though each rule has a destination of its own
            destination=bucket,
            filter=s3.Filter(prefix=prefix),
            delete_marker_replication=False,
        )
        for index, bucket in enumerate(destinations)
    ]


def allow_replication(
    role: iam.Role, *, source: s3.IBucket, destinations: Sequence[s3.IBucket], prefix: str
) -> None:
    """Let S3 read new versions here and write them there, and nothing else.

    The actions are those of the S3 User Guide, "Setting up permissions for live replication" (read 2026-10), without
    the one that replicates removals.

    Args:
        role: The role.
        source: The bucket.
        destinations: Buckets for the copies.
        prefix: Key prefix of what is copied.
    """
    for actions, resources in (
        (["s3:GetReplicationConfiguration", "s3:ListBucket"], [source.bucket_arn]),
        (
            [
                "s3:GetObjectVersionForReplication",
                "s3:GetObjectVersionAcl",
                "s3:GetObjectVersionTagging",
            ],
            [f"{source.bucket_arn}/{prefix}*"],
        ),
        (
            ["s3:ReplicateObject", "s3:ReplicateTags"],
            [f"{bucket.bucket_arn}/{prefix}*" for bucket in destinations],
        ),
    ):
        role.add_to_policy(iam.PolicyStatement(actions=actions, resources=resources))
