"""Checks of existing buckets and KMS keys."""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from ultracluster_runtime.preflight.check import Outcome, check, failed, passed, warned
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.subjects import Account, Part
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.lustre import Association
from ultracluster_spec.record import RuleRecord

Description = Mapping[str, Any]

_BUCKET: Final = "UC9448"
_KEY: Final = "UC9450"

# Buckets


def _buckets(account: Account) -> Iterator[Part]:
    """Yield the existing buckets of checkpoints, datasets and associations."""
    for cluster in account.clusters:
        names = [bucket.bucket_name for _, bucket in cluster.buckets()]
        names += map(_bucket_of, cluster.file_system.associations)
        yield from (Part(cluster=cluster, name=name) for name in dict.fromkeys(names) if name is not None)


def _bucket_of(association: Association) -> str:
    return association.data_repository_path.removeprefix("s3://").partition("/")[0]


def _is_joined(cluster: Cluster, name: str) -> bool:
    """Return whether a folder of the file system is linked to a bucket, which FSx requires in its Region then."""
    file_system = cluster.file_system
    if file_system.is_new and file_system.link_checkpoints and cluster.checkpoints.bucket_name == name:
        return True
    joined = {dataset.bucket_name for dataset in cluster.datasets if dataset.file_system_path is not None}
    joined |= {
        _bucket_of(association) for association in file_system.associations if association.import_events
    }
    return name in joined


_bucket_check: Final = partial(check, subjects=_buckets)


def _location(reader: AwsReader, bucket: Part) -> str | None:
    response = reader.call_or_none(
        "s3:GetBucketLocation", bucket.region, absent=("NoSuchBucket", "404"), Bucket=bucket.name
    )
    if response is None:
        return None
    name = response.get("LocationConstraint") or ""
    return {"": "us-east-1", "EU": "eu-west-1"}.get(name, str(name))  # legacy names of the API


@_bucket_check(_BUCKET, _location)
def _check_bucket(bucket: Part, region: str | None) -> Outcome:
    if region is None:
        return failed(f"the bucket {bucket.name} does not exist", "Create it, or correct its name")
    if region == bucket.region:
        return passed(f"{bucket.name} is in {region}")
    evidence = f"{bucket.name} is in {region}, the cluster in {bucket.region}: traffic across Regions is billed per GB"
    if _is_joined(bucket.cluster, bucket.name):
        return failed(
            f"{evidence}, and FSx imports automatically from its own Region only",
            f"Copy the data to {bucket.region}",
        )
    return warned(evidence, f"Copy the data to {bucket.region}")


def _policy(reader: AwsReader, bucket: Part) -> tuple[Description | None, bool]:
    absent = ("NoSuchBucketPolicy",)
    policy = reader.call_or_none("s3:GetBucketPolicy", bucket.region, absent=absent, Bucket=bucket.name)
    if policy is None:
        return None, False
    status = reader.call_or_none("s3:GetBucketPolicyStatus", bucket.region, absent=absent, Bucket=bucket.name)
    return json.loads(policy["Policy"]), bool(status and status["PolicyStatus"]["IsPublic"])


@_bucket_check("UC9449", _policy, after=(_BUCKET,))
def _check_policy(bucket: Part, evidence: tuple[Description | None, bool]) -> Outcome:
    """Check that the bucket policy is not public and does not lock out the jobs."""
    policy, public = evidence
    if policy is None:
        return passed("it has no policy: only IAM policies apply")
    if public:
        return failed(
            f"the policy makes {bucket.name} public, including its checkpoints and data",
            "Remove the statement, and block public access",
        )
    denials = [statement for statement in _list(policy.get("Statement", [])) if _denies_everyone(statement)]
    if any("Condition" not in statement for statement in denials):
        return failed("a statement denies access to everyone", "Exclude the roles of the jobs")
    if denials:
        names = ", ".join(str(statement.get("Sid", "without a Sid")) for statement in denials)
        return warned(
            f"statements deny access under conditions: {names}",
            "Check that jobs, and FSx if it is linked, meet the conditions",
        )
    return passed("its policy is neither public nor denies access under conditions")


def _denies_everyone(statement: Description) -> bool:
    """Return whether a statement denies access to everyone, other than over plain HTTP."""
    to_everyone = statement.get("Principal") in ("*", {"AWS": "*"})
    plain = statement.get("Condition") == {"Bool": {"aws:SecureTransport": "false"}}
    return statement.get("Effect") == "Deny" and to_everyone and not plain


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


# Keys


def _keys(account: Account) -> Iterator[Part]:
    """Yield the customer managed KMS keys of clusters, file systems and buckets."""
    for cluster in account.clusters:
        arns = [cluster.kms_key_arn, cluster.file_system.kms_key_arn]
        arns += [bucket.kms_key_arn for _, bucket in cluster.buckets()]
        yield from (Part(cluster=cluster, name=arn) for arn in dict.fromkeys(arns) if arn is not None)


_key_check: Final = partial(check, subjects=_keys)


def _key(reader: AwsReader, key: Part) -> Description | None:
    region = key.name.split(":")[3]
    response = reader.call_or_none("kms:DescribeKey", region, absent=("NotFoundException",), KeyId=key.name)
    return response["KeyMetadata"] if response else None


@_key_check(_KEY, _key)
def _check_key(key: Part, description: Description | None) -> Outcome:
    if description is None:
        return failed(f"the key {key.name} does not exist", "Create it, or correct its ARN")
    state, usage = description.get("KeyState", ""), description.get("KeyUsage") or "ENCRYPT_DECRYPT"
    if state != "Enabled":
        return failed(f"it is {state}", "Enable it, or cancel its deletion; without it, its data is lost")
    if usage != "ENCRYPT_DECRYPT" or description.get("KeySpec", "SYMMETRIC_DEFAULT") != "SYMMETRIC_DEFAULT":
        return failed(f"it is for {usage} ({description.get('KeySpec')})", "Use a symmetric encryption key")
    return passed(f"it is {state} and symmetric")


def _key_policy(reader: AwsReader, key: Part) -> tuple[Description, str]:
    region, owner = key.name.split(":")[3:5]
    policy = reader.call("kms:GetKeyPolicy", region, KeyId=key.name, PolicyName="default")
    return json.loads(policy["Policy"]), owner


@_key_check("UC9451", _key_policy, after=(_KEY,))
def _check_key_policy(_: Part, evidence: tuple[Description, str]) -> Outcome:
    """Check that the key policy delegates access to IAM, on which the roles of the jobs and FSx's grants rely."""
    policy, owner = evidence
    for statement in _list(policy.get("Statement", [])):
        principal = statement.get("Principal", {})
        principals = _list(principal.get("AWS", [])) if isinstance(principal, dict) else [principal]
        root = any(
            principal_arn == owner or str(principal_arn).endswith(f"::{owner}:root")
            for principal_arn in principals
        )
        everything = "kms:*" in _list(statement.get("Action", []))
        if statement.get("Effect") == "Allow" and root and everything:
            return passed(f"its policy delegates access to the IAM policies of {owner}")
    return warned(
        f"its policy does not delegate access to the IAM policies of {owner}",
        "Allow kms:Decrypt, GenerateDataKey and DescribeKey for the roles of the jobs, and kms:CreateGrant for deployments",
    )


RECORDS: Final = (
    RuleRecord(
        "UC9448",
        "The existing bucket exists and is in the cluster's Region.",
        remedy="Create it or correct its name; copy the data to the Region of the cluster.",
        source="FSx for Lustre guide, data repository associations, 2026-10: automatic import from its own Region only.",
    ),
    RuleRecord(
        "UC9449",
        "The policy of the existing bucket allows jobs and denies public access.",
        remedy="Remove the statement, block public access, and allow the roles of the jobs.",
        source="botocore 1.44.5, S3 GetBucketPolicyStatus, 2026.",
    ),
    RuleRecord(
        "UC9450",
        "The KMS key is enabled and can encrypt.",
        remedy="Enable it, or cancel its deletion: what it encrypts is lost without it.",
        source="botocore 1.44.5, KMS DescribeKey, 2026.",
    ),
    RuleRecord(
        "UC9451",
        "The policy of the KMS key allows IAM policies to grant its use.",
        remedy="Allow kms:Decrypt, GenerateDataKey and DescribeKey for the roles of the jobs, and kms:CreateGrant for the deploying principal.",
        source="AWS KMS developer guide, default key policy.",
    ),
)
