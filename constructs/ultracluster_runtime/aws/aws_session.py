"""Open a boto3 session."""

from typing import Any

import boto3
from botocore.exceptions import BotoCoreError

from ultracluster_rules.findings import FindingsError

__all__ = ["aws_session", "refuse_credentials"]


def refuse_credentials(problem: str, *, remedy: str) -> FindingsError:
    """Return the refusal (UC9009) of credentials that AWS does not accept or boto3 does not find.

    Args:
        problem: The problem.
        remedy: What to do.
    """
    return FindingsError.of("UC9009", problem, remedy=remedy)


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
        raise refuse_credentials(str(error), remedy=remedy) from error
