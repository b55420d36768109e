"""Checks of credentials, account, clock, Region and CDK bootstrap."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_runtime.preflight.check import (
    ACCOUNT,
    ACCOUNT_IS_KNOWN,
    BOOTSTRAPPED,
    CREDENTIALS,
    REGION_IS_ENABLED,
    Outcome,
    check,
    failed,
    passed,
    skipped,
    warned,
)
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.subjects import Account, Region
from ultracluster_runtime.purchasing.aws_errors import server_time
from ultracluster_spec.record import RuleRecord

# Signature Version 4 rejects requests whose time is off by five minutes or more:
# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html
_MOST_SKEW: Final = timedelta(minutes=5)
_NOTED_SKEW: Final = timedelta(minutes=1)

# Error codes of services in a Region that the account has not enabled.
_NOT_ENABLED: Final = frozenset(
    {"AuthFailure", "InvalidClientTokenId", "OptInRequired", "UnrecognizedClientException"}
)

# Required by stacks of the CDK's default synthesizer (DefaultStackSynthesizer of aws-cdk-lib 2.275.0).
_LEAST_BOOTSTRAP_VERSION: Final = 6


_account_check: Final = partial(check, subjects=lambda account: (account,), after=())
_region_check: Final = partial(check, subjects=Account.regions)


def identity(reader: AwsReader, region: str) -> Mapping[str, Any]:
    """Return the identity of the credentials."""
    return reader.call("sts:GetCallerIdentity", region)


def _try_identity(reader: AwsReader, account: Account) -> Mapping[str, Any] | Exception:
    response: Mapping[str, Any] | Exception
    try:
        response = identity(reader, account.home)
    except (BotoCoreError, ClientError) as error:
        response = error
    return response


@_account_check(CREDENTIALS, _try_identity)
def _check_credentials(_: Account, response: Mapping[str, Any] | Exception) -> Outcome:
    if isinstance(response, Exception):
        return failed(str(response), "Sign in (such as `aws sso login`), or set AWS_PROFILE")
    return passed(f"account {response['Account']} as {response['Arn']}")


@_account_check(ACCOUNT, lambda reader, account: identity(reader, account.home), after=(CREDENTIALS,))
def _check_account(account: Account, response: Mapping[str, Any]) -> Outcome:
    signed_in = response["Account"]
    other_accounts = [cluster for cluster in account.clusters if cluster.account not in (None, signed_in)]
    if other_accounts:
        names = ", ".join(f"{cluster.name} ({cluster.account})" for cluster in other_accounts)
        return failed(
            f"the credentials are for {signed_in}; clusters pinned to other accounts: {names}",
            "Run preflight once per account, with its credentials and --cluster",
        )
    clusters = len(account.clusters)
    return passed(
        f"the cluster belongs to {signed_in}"
        if clusters == 1
        else f"all {clusters} clusters belong to {signed_in}"
    )


def _times(reader: AwsReader, account: Account) -> tuple[datetime, datetime | None] | None:
    """Return the time of this machine and that of AWS's response; nothing if STS was not asked or did not answer."""
    try:
        response: Mapping[str, Any] = identity(reader, account.home)
    except ClientError as error:  # error responses carry a date, too
        response = error.response
    except BotoCoreError:
        return None
    return reader.now, server_time(dict(response))


@_account_check("UC9403", _times)
def _check_clock(_: Account, times: tuple[datetime, datetime | None] | None) -> Outcome:
    if times is None:
        return skipped("AWS has not answered, so its clock is not known")
    local_time, server_date = times
    if server_date is None:
        return warned("the response of AWS has no date", "Compare the clock of this machine with another one")
    skew = abs(local_time - server_date)
    evidence = f"the clocks of this machine and AWS differ by {skew.total_seconds():.0f} s"
    remedy = "Synchronize the clock of this machine, for example with NTP"
    if skew >= _MOST_SKEW:
        return failed(f"{evidence}; AWS rejects requests from 300 s", remedy)
    return warned(evidence, remedy) if skew > _NOTED_SKEW else passed(evidence)


def _region(reader: AwsReader, region: Region) -> str:
    try:
        description = reader.call(
            "ec2:DescribeRegions", region.name, RegionNames=[region.name], AllRegions=True
        )
    except ClientError as error:
        if error.response["Error"]["Code"] in _NOT_ENABLED:
            return f"not enabled ({error.response['Error']['Code']})"
        raise
    return str(description["Regions"][0].get("OptInStatus", "opt-in-not-required"))


@_region_check(REGION_IS_ENABLED, _region, after=ACCOUNT_IS_KNOWN)
def _check_region(region: Region, status: str) -> Outcome:
    if status in {"opt-in-not-required", "opted-in"}:
        return passed(f"it is {status}")
    return failed(
        f"it is {status}",
        f"Enable it: `aws account enable-region --region-name {region.name}`; this takes minutes to hours",
    )


def _bootstrap(reader: AwsReader, region: Region) -> str | None:
    response = reader.call_or_none(
        "ssm:GetParameter",
        region.name,
        absent=("ParameterNotFound",),
        Name=f"/cdk-bootstrap/{region.qualifier}/version",
    )
    return None if response is None else str(response["Parameter"]["Value"])


@_region_check(BOOTSTRAPPED, _bootstrap)
def _check_bootstrap(region: Region, version: str | None) -> Outcome:
    remedy = f"Run `cdk bootstrap aws://ACCOUNT/{region.name}`"
    if version is None:
        return failed(f"{region.name} is not bootstrapped with the qualifier {region.qualifier}", remedy)
    if not version.isdecimal() or int(version) < _LEAST_BOOTSTRAP_VERSION:
        return failed(f"version {version}; stacks require {_LEAST_BOOTSTRAP_VERSION} or newer", remedy)
    return passed(f"version {version}")


RECORDS: Final = (
    RuleRecord(
        "UC9403",
        "The clock of this machine agrees with AWS's clock.",
        remedy="Synchronize the clock of this machine, for example with NTP.",
        source="IAM user guide, signing requests: AWS refuses requests that are 5 minutes off.",
    ),
)
