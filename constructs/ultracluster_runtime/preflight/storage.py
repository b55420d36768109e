"""Checks of existing buckets and KMS keys."""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from ultracluster_runtime.preflight.check import Outcome, check, failed, passed, warned
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.requirements import BucketRequirements, KeyRequirements

Description = Mapping[str, Any]

_BUCKET: Final = "UC9448"
_KEY: Final = "UC9450"

# Buckets


_bucket_check: Final = partial(
    check, subjects=lambda rollout: (bucket for cluster in rollout.clusters for bucket in cluster.buckets)
)


def _location(reader: AwsReader, requirements: BucketRequirements) -> str | None:
    response = reader.call_or_none(
        "s3:GetBucketLocation", requirements.region, absent=("NoSuchBucket", "404"), Bucket=requirements.name
    )
    if response is None:
        return None
    name = response.get("LocationConstraint") or ""
    return {"": "us-east-1", "EU": "eu-west-1"}.get(name, str(name))  # legacy names of the API


@_bucket_check(_BUCKET, _location, "s3:GetBucketLocation")
def _check_bucket(requirements: BucketRequirements, region: str | None) -> Outcome:
    if region is None:
        return failed(f"the bucket {requirements.name} does not exist", "Create it, or correct its name")
    if region == requirements.region:
        return passed(f"{requirements.name} is in {region}")
    evidence = f"{requirements.name} is in {region}, the cluster in {requirements.region}: traffic across Regions is billed per GB"
    if requirements.joined:
        return failed(
            f"{evidence}, and FSx imports automatically from its own Region only",
            f"Copy the data to {requirements.region}",
        )
    return warned(evidence, f"Copy the data to {requirements.region}")


def _policy(reader: AwsReader, requirements: BucketRequirements) -> tuple[Description | None, bool]:
    absent = ("NoSuchBucketPolicy",)
    policy = reader.call_or_none(
        "s3:GetBucketPolicy", requirements.region, absent=absent, Bucket=requirements.name
    )
    if policy is None:
        return None, False
    status = reader.call_or_none(
        "s3:GetBucketPolicyStatus", requirements.region, absent=absent, Bucket=requirements.name
    )
    return json.loads(policy["Policy"]), bool(status and status["PolicyStatus"]["IsPublic"])


@_bucket_check("UC9449", _policy, "s3:GetBucketPolicy", "s3:GetBucketPolicyStatus", after=(_BUCKET,))
def _check_policy(requirements: BucketRequirements, evidence: tuple[Description | None, bool]) -> Outcome:
    """Check that the bucket policy is not public and does not lock out the jobs."""
    policy, public = evidence
    if policy is None:
        return passed("it has no policy: only IAM policies apply")
    if public:
        return failed(
            f"the policy makes {requirements.name} public, including its checkpoints and data",
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


_key_check: Final = partial(
    check, subjects=lambda rollout: (key for cluster in rollout.clusters for key in cluster.keys)
)


def _key(reader: AwsReader, requirements: KeyRequirements) -> Description | None:
    region = requirements.arn.split(":")[3]
    response = reader.call_or_none(
        "kms:DescribeKey", region, absent=("NotFoundException",), KeyId=requirements.arn
    )
    return response["KeyMetadata"] if response else None


@_key_check(_KEY, _key, "kms:DescribeKey")
def _check_key(requirements: KeyRequirements, description: Description | None) -> Outcome:
    if description is None:
        return failed(f"the key {requirements.arn} does not exist", "Create it, or correct its ARN")
    state, usage = description.get("KeyState", ""), description.get("KeyUsage") or "ENCRYPT_DECRYPT"
    if state != "Enabled":
        return failed(f"it is {state}", "Enable it, or cancel its deletion; without it, its data is lost")
    if usage != "ENCRYPT_DECRYPT" or description.get("KeySpec", "SYMMETRIC_DEFAULT") != "SYMMETRIC_DEFAULT":
        return failed(f"it is for {usage} ({description.get('KeySpec')})", "Use a symmetric encryption key")
    return passed(f"it is {state} and symmetric")


def _key_policy(reader: AwsReader, requirements: KeyRequirements) -> tuple[Description, str]:
    region, owner = requirements.arn.split(":")[3:5]
    policy = reader.call("kms:GetKeyPolicy", region, KeyId=requirements.arn, PolicyName="default")
    return json.loads(policy["Policy"]), owner


@_key_check("UC9451", _key_policy, "kms:GetKeyPolicy", after=(_KEY,))
def _check_key_policy(_: KeyRequirements, evidence: tuple[Description, str]) -> Outcome:
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
