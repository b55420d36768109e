"""Open a boto3 session."""

from typing import Any

import boto3
from botocore.exceptions import BotoCoreError

from ultracluster_rules.findings import Finding, FindingsError

__all__ = ["aws_session"]


def aws_session(profile: str | None) -> Any:
    """Open a session without making a call.

    Args:
        profile: Profile of the AWS configuration. None for boto3's default credentials.

    Raises:
        FindingsError: UC9009 if there is no such profile.
    """
    try:
        return boto3.Session(profile_name=profile)
    except BotoCoreError as error:
        remedy = "`aws configure list-profiles` lists the profiles"
        raise FindingsError([Finding(code="UC9009", problem=str(error), remedy=remedy)]) from error
