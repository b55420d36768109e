"""Checks of credentials, account, clock, Region and the CDK's bootstrap."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_runtime.preflight.check import (
    ACCOUNT,
    ACCOUNT_IS_KNOWN,
    BOOTSTRAPPED,
    CREDENTIALS,
    REGION_IS_ENABLED,
    AnyCheck,
    Check,
    Outcome,
    failed,
    passed,
    warned,
)
from ultracluster_runtime.preflight.reads import Reads
from ultracluster_runtime.preflight.requirements import RegionNeeds, RolloutNeeds
from ultracluster_runtime.purchasing.aws_errors import server_time

__all__ = ["ACCOUNT_CHECKS", "identity"]

# SigV4 refuses a request that is five minutes off (IAM User Guide, "Troubleshooting AWS Signature Version 4 requests").
_MOST_SKEW: Final = timedelta(minutes=5)
_NOTED_SKEW: Final = timedelta(minutes=1)

# What services answer in a Region that an account has not enabled.
_NOT_ENABLED: Final = frozenset(
    {"AuthFailure", "InvalidClientTokenId", "OptInRequired", "UnrecognizedClientException"}
)

# What stacks of the CDK's default synthesizer ask for (DefaultStackSynthesizer of aws-cdk-lib 2.275.0).
_LEAST_BOOTSTRAP_VERSION: Final = 6


def _rollout(needs: RolloutNeeds) -> Iterable[RolloutNeeds]:
    return (needs,)


def identity(reads: Reads, region: str) -> Mapping[str, Any]:
    """Ask who the credentials belong to."""
    return reads.ask("sts", region, "GetCallerIdentity")


def _try_identity(reads: Reads, needs: RolloutNeeds) -> Mapping[str, Any] | BotoCoreError | ClientError:
    try:
        return identity(reads, needs.home)
    except (BotoCoreError, ClientError) as error:
        refusal: BotoCoreError | ClientError = error
        return refusal


def _judge_credentials(_: RolloutNeeds, answer: Mapping[str, Any] | BotoCoreError | ClientError) -> Outcome:
    """Whether AWS accepts the credentials."""
    if isinstance(answer, BotoCoreError | ClientError):
        return failed(str(answer), "Sign in (such as `aws sso login`), or set AWS_PROFILE")
    return passed(f"account {answer['Account']} as {answer['Arn']}")


def _judge_account(needs: RolloutNeeds, answer: Mapping[str, Any]) -> Outcome:
    """Whether the clusters go to the account of the credentials."""
    account = answer["Account"]
    elsewhere = [one for one in needs.clusters if one.account not in (None, account)]
    if elsewhere:
        named = ", ".join(f"{one.name} ({one.account})" for one in elsewhere)
        return failed(
            f"the credentials are of {account}; pinned to another account: {named}",
            "Run preflight once for each account, with its credentials and --cluster",
        )
    return passed(f"all {len(needs.clusters)} clusters go to {account}")


def _times(reads: Reads, needs: RolloutNeeds) -> tuple[datetime, datetime | None]:
    try:
        answer: Mapping[str, Any] = identity(reads, needs.home)
    except ClientError as error:  # also an answer that refuses has a date
        answer = error.response
    except BotoCoreError:
        return reads.now, None
    return reads.now, server_time(dict(answer))


def _judge_clock(_: RolloutNeeds, times: tuple[datetime, datetime | None]) -> Outcome:
    """Whether this machine's clock goes right."""
    ours, theirs = times
    if theirs is None:
        return warned("AWS gave no date", "Compare the clock of this machine with another one")
    skew = abs(ours - theirs)
    seen = f"this machine and AWS are {skew.total_seconds():.0f} s apart"
    remedy = "Set the clock of this machine, such as by NTP"
    if skew >= _MOST_SKEW:
        return failed(f"{seen}; AWS refuses requests from 300 s on", remedy)
    return warned(seen, remedy) if skew > _NOTED_SKEW else passed(seen)


def _region(reads: Reads, needs: RegionNeeds) -> str:
    try:
        shown = reads.ask("ec2", needs.region, "DescribeRegions", RegionNames=[needs.region], AllRegions=True)
    except ClientError as error:
        if error.response["Error"]["Code"] in _NOT_ENABLED:
            return f"not enabled ({error.response['Error']['Code']})"
        raise
    return str(shown["Regions"][0].get("OptInStatus", "opt-in-not-required"))


def _judge_region(needs: RegionNeeds, status: str) -> Outcome:
    """Whether the account may use the Region."""
    if status in {"opt-in-not-required", "opted-in"}:
        return passed(f"it is {status}")
    return failed(
        f"it is {status}",
        f"Enable it: `aws account enable-region --region-name {needs.region}`; that takes minutes to hours",
    )


def _bootstrap(reads: Reads, needs: RegionNeeds) -> str | None:
    answer = reads.find(
        "ssm",
        needs.region,
        "GetParameter",
        absent=("ParameterNotFound",),
        Name=f"/cdk-bootstrap/{needs.qualifier}/version",
    )
    return None if answer is None else str(answer["Parameter"]["Value"])


def _judge_bootstrap(needs: RegionNeeds, version: str | None) -> Outcome:
    """Whether the CDK can deploy to the Region."""
    remedy = f"Run `cdk bootstrap aws://ACCOUNT/{needs.region}`"
    if version is None:
        return failed(f"{needs.region} is not bootstrapped with the qualifier {needs.qualifier}", remedy)
    if not version.isdecimal() or int(version) < _LEAST_BOOTSTRAP_VERSION:
        return failed(f"version {version}; stacks ask for {_LEAST_BOOTSTRAP_VERSION} or newer", remedy)
    return passed(f"version {version}")


ACCOUNT_CHECKS: Final[tuple[AnyCheck, ...]] = (
    Check(
        code=CREDENTIALS,
        calls=("sts:GetCallerIdentity",),
        subjects=_rollout,
        gather=_try_identity,
        judge=_judge_credentials,
    ),
    Check(
        code=ACCOUNT,
        calls=("sts:GetCallerIdentity",),
        subjects=_rollout,
        gather=lambda reads, needs: identity(reads, needs.home),
        judge=_judge_account,
        after=(CREDENTIALS,),
    ),
    Check(
        code="UC9403",
        calls=("sts:GetCallerIdentity",),
        subjects=_rollout,
        gather=_times,
        judge=_judge_clock,
    ),
    Check(
        code=REGION_IS_ENABLED,
        calls=("ec2:DescribeRegions",),
        subjects=RolloutNeeds.regions,
        gather=_region,
        judge=_judge_region,
        after=ACCOUNT_IS_KNOWN,
    ),
    Check(
        code=BOOTSTRAPPED,
        calls=("ssm:GetParameter",),
        subjects=RolloutNeeds.regions,
        gather=_bootstrap,
        judge=_judge_bootstrap,
        after=(REGION_IS_ENABLED,),
    ),
)
