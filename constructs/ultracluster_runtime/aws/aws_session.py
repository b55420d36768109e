"""Open a boto3 session."""

import os
from collections.abc import Callable
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

import boto3
from botocore.exceptions import BotoCoreError, InvalidConfigError

from ultracluster_spec.findings import FindingsError
from ultracluster_spec.names import REGION
from ultracluster_spec.record import RuleRecord


def refuse_credentials(problem: str, *, remedy: str) -> FindingsError:
    """Return the refusal (UC9009) of credentials that AWS does not accept or boto3 does not find."""
    return FindingsError.of("UC9009", problem, remedy=remedy)


def aws_session(profile: str | None) -> Any:
    """Open a session of an existing profile (UC9009) without making a call.

    Its clients refuse unknown Regions and endpoints at once (UC2102), instead of when their names cannot be resolved.
    """
    try:
        session = boto3.Session(profile_name=profile)
    except BotoCoreError as error:
        remedy = "`aws configure list-profiles` lists the profiles"
        raise refuse_credentials(str(error), remedy=remedy) from error
    session.client = partial(_client, session, session.client)
    return session


def _client(
    session: Any, create: Callable[..., Any], service: str, region_name: str | None = None, **options: Any
) -> Any:
    region = region_name or session.region_name
    if isinstance(region, str) and region and (findings := REGION.check(region, path="Region")):
        raise FindingsError(findings)
    try:
        _ = urlsplit(os.environ.get("AWS_ENDPOINT_URL", "")).port  # raises, if it is none
        return create(service, region_name=region_name, **options)
    except ValueError as error:
        raise InvalidConfigError(error_msg=str(error)) from error


RECORDS: Final = (
    RuleRecord(
        "UC9009",
        "There are credentials of an AWS account, and AWS accepts them.",
        remedy="Sign in, set AWS_PROFILE, or deploy to a local AWS with --local.",
        source="botocore 1.44.5, STS GetCallerIdentity, 2026.",
    ),
)
