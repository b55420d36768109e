"""Open boto3 sessions."""

from typing import Any

from botocore.exceptions import BotoCoreError

from ultracluster_rules.findings import Finding, FindingsError

__all__ = ["aws_session"]


def aws_session(profile: str | None) -> Any:
    """Open a session without sending a request.

    Args:
        profile: Profile of the AWS configuration. None for boto3's own choice of credentials.

    Raises:
        FindingsError: If there is no such profile (UC9009).
    """
    import boto3  # noqa: PLC0415 - takes 0.1 s, which commands that never ask AWS do not need

    try:
        return boto3.Session(profile_name=profile)
    except BotoCoreError as error:
        remedy = "`aws configure list-profiles` shows those that there are"
        raise FindingsError([Finding(code="UC9009", problem=str(error), remedy=remedy)]) from error
