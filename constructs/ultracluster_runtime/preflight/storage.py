"""Checks of existing buckets and of KMS keys."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ultracluster_runtime.preflight.check import (
    REGION_IS_ENABLED,
    AnyCheck,
    Check,
    Outcome,
    failed,
    passed,
    warned,
)
from ultracluster_runtime.preflight.reads import Reads
from ultracluster_runtime.preflight.requirements import BucketNeeds, KeyNeeds, RolloutNeeds

__all__ = ["STORAGE_CHECKS"]

Shown = Mapping[str, Any]

_BUCKET: Final = "UC9448"
_KEY: Final = "UC9450"

# Buckets


def _buckets(rollout: RolloutNeeds) -> Iterator[BucketNeeds]:
    for cluster in rollout.clusters:
        yield from cluster.buckets


def _location(reads: Reads, needs: BucketNeeds) -> str | None:
    answer = reads.find(
        "s3", needs.region, "GetBucketLocation", absent=("NoSuchBucket", "404"), Bucket=needs.name
    )
    if answer is None:
        return None
    name = answer.get("LocationConstraint") or ""
    return {"": "us-east-1", "EU": "eu-west-1"}.get(name, str(name))  # as they were called at first


def _judge_bucket(needs: BucketNeeds, region: str | None) -> Outcome:
    """Whether the bucket is there, and in the Region of the cluster."""
    if region is None:
        return failed(f"there is no bucket {needs.name}", "Make it, or correct its name")
    if region == needs.region:
        return passed(f"{needs.name} is in {region}")
    seen = f"{needs.name} is in {region}, the cluster in {needs.region}: every byte is paid across Regions"
    if needs.joined:
        return failed(
            f"{seen}, and FSx imports by itself from its own Region only", f"Copy the data to {needs.region}"
        )
    return warned(seen, f"Copy the data to {needs.region}")


def _policy(reads: Reads, needs: BucketNeeds) -> tuple[Shown | None, bool]:
    absent = ("NoSuchBucketPolicy",)
    policy = reads.find("s3", needs.region, "GetBucketPolicy", absent=absent, Bucket=needs.name)
    if policy is None:
        return None, False
    status = reads.find("s3", needs.region, "GetBucketPolicyStatus", absent=absent, Bucket=needs.name)
    return json.loads(policy["Policy"]), bool(status and status["PolicyStatus"]["IsPublic"])


def _judge_policy(needs: BucketNeeds, seen: tuple[Shown | None, bool]) -> Outcome:
    """Whether the bucket's policy keeps strangers out, and lets the jobs in."""
    policy, public = seen
    if policy is None:
        return passed("it has no policy: IAM alone decides")
    if public:
        return failed(
            f"{needs.name} is public by its policy; checkpoints and data would be the world's",
            "Take the statement out, and block public access",
        )
    shut = [one for one in _list(policy.get("Statement", [])) if _shuts_out(one)]
    if any("Condition" not in one for one in shut):
        return failed("a statement denies it to everybody", "Let the roles of the jobs in")
    if shut:
        named = ", ".join(str(one.get("Sid", "without a Sid")) for one in shut)
        return warned(
            f"statements deny it to everybody under conditions: {named}",
            "See that jobs, and FSx if it is joined, keep the conditions",
        )
    return passed("its policy is not public and shuts nobody out")


def _shuts_out(statement: Shown) -> bool:
    """Whether a statement denies something to all, other than to plain HTTP."""
    everybody = statement.get("Principal") in ("*", {"AWS": "*"})
    plain = statement.get("Condition") == {"Bool": {"aws:SecureTransport": "false"}}
    return statement.get("Effect") == "Deny" and everybody and not plain


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


# Keys


def _keys(rollout: RolloutNeeds) -> Iterator[KeyNeeds]:
    for cluster in rollout.clusters:
        yield from cluster.keys


def _key(reads: Reads, needs: KeyNeeds) -> Shown | None:
    region = needs.arn.split(":")[3]
    answer = reads.find("kms", region, "DescribeKey", absent=("NotFoundException",), KeyId=needs.arn)
    return answer["KeyMetadata"] if answer else None


def _judge_key(needs: KeyNeeds, shown: Shown | None) -> Outcome:
    """Whether the key can encrypt."""
    if shown is None:
        return failed(f"there is no key {needs.arn}", "Make it, or correct its ARN")
    state, usage = shown.get("KeyState", ""), shown.get("KeyUsage") or "ENCRYPT_DECRYPT"
    if state != "Enabled":
        return failed(
            f"it is {state}", "Enable it, or cancel its deletion; what it encrypts is lost without it"
        )
    if usage != "ENCRYPT_DECRYPT" or shown.get("KeySpec", "SYMMETRIC_DEFAULT") != "SYMMETRIC_DEFAULT":
        return failed(f"it is for {usage} ({shown.get('KeySpec')})", "Take a symmetric key that encrypts")
    return passed(f"it is {state} and symmetric")


def _key_policy(reads: Reads, needs: KeyNeeds) -> tuple[Shown, str]:
    region, owner = needs.arn.split(":")[3:5]
    policy = reads.ask("kms", region, "GetKeyPolicy", KeyId=needs.arn, PolicyName="default")
    return json.loads(policy["Policy"]), owner


def _judge_key_policy(_: KeyNeeds, seen: tuple[Shown, str]) -> Outcome:
    """Whether the key's policy leaves it to IAM who uses it: our roles and FSx's grants get it by IAM alone."""
    policy, owner = seen
    for statement in _list(policy.get("Statement", [])):
        principal = statement.get("Principal", {})
        principals = _list(principal.get("AWS", [])) if isinstance(principal, dict) else [principal]
        root = any(one == owner or str(one).endswith(f"::{owner}:root") for one in principals)
        everything = "kms:*" in _list(statement.get("Action", []))
        if statement.get("Effect") == "Allow" and root and everything:
            return passed(f"its policy leaves it to the IAM policies of {owner}")
    return warned(
        f"its policy does not leave it to the IAM policies of {owner}",
        "Allow kms:Decrypt, GenerateDataKey, DescribeKey to the jobs' roles, and kms:CreateGrant to who deploys",
    )


STORAGE_CHECKS: Final[tuple[AnyCheck, ...]] = (
    Check(
        code=_BUCKET,
        calls=("s3:GetBucketLocation",),
        subjects=_buckets,
        gather=_location,
        judge=_judge_bucket,
        after=(REGION_IS_ENABLED,),
    ),
    Check(
        code="UC9449",
        calls=("s3:GetBucketPolicy", "s3:GetBucketPolicyStatus"),
        subjects=_buckets,
        gather=_policy,
        judge=_judge_policy,
        after=(_BUCKET,),
    ),
    Check(
        code=_KEY,
        calls=("kms:DescribeKey",),
        subjects=_keys,
        gather=_key,
        judge=_judge_key,
        after=(REGION_IS_ENABLED,),
    ),
    Check(
        code="UC9451",
        calls=("kms:GetKeyPolicy",),
        subjects=_keys,
        gather=_key_policy,
        judge=_judge_key_policy,
        after=(_KEY,),
    ),
)
