"""The boto3 clients of a profile."""

import os
from typing import Any, Final
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    InvalidConfigError,
    NoCredentialsError,
    SSOError,
    TokenRetrievalError,
)

from ultracluster_runtime.functions.clients import Clients
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.names import REGION
from ultracluster_spec.record import RuleRecord


def refuse_credentials(problem: str, *, remedy: str) -> FindingsError:
    """Return the refusal (UC9009) of credentials that AWS does not accept or boto3 does not find."""
    return FindingsError.of("UC9009", problem, remedy=remedy)


SIGN_IN: Final = "Sign in (such as with `aws sso login`), or set AWS_PROFILE"


def is_not_signed_in(error: Exception) -> bool:
    """Whether there are no credentials, or they have expired."""
    if isinstance(error, ClientError):
        return error.response["Error"]["Code"] in {"ExpiredToken", "ExpiredTokenException"}
    return isinstance(error, (NoCredentialsError, CredentialRetrievalError, SSOError, TokenRetrievalError))


def clients_of(profile: str | None) -> Clients:
    """Return the clients of an existing profile (UC9009), without a call, in the Region of the profile or the environment.

    They refuse unknown Regions and endpoints at once (UC2102), instead of when their names cannot be resolved.
    """
    try:
        session = boto3.Session(profile_name=profile)
    except BotoCoreError as error:
        remedy = "`aws configure list-profiles` lists the profiles"
        raise refuse_credentials(str(error), remedy=remedy) from error

    def make(service: str, *, region_name: str | None, config: Config) -> Any:
        if region_name and (findings := REGION.check(region_name, path="Region")):
            raise FindingsError(findings)
        try:
            _ = urlsplit(os.environ.get("AWS_ENDPOINT_URL", "")).port  # raises, if it is none
            return session.client(service, region_name=region_name, config=config)
        except ValueError as error:
            raise InvalidConfigError(error_msg=str(error)) from error

    return Clients(make, region=session.region_name)


RECORDS: Final = (
    RuleRecord(
        "UC9009",
        "There are credentials of an AWS account, and AWS accepts them.",
        remedy="Sign in, set AWS_PROFILE, or deploy to a local AWS with --local.",
        source="botocore 1.44.5, STS GetCallerIdentity, 2026.",
    ),
)
