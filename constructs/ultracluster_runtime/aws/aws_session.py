"""Opens the boto3 session of a profile."""

from typing import Any

from ultracluster_rules.findings import Finding, FindingsError

__all__ = ["aws_session"]


def aws_session(profile: str | None) -> Any:
    """Open a session. Nothing is asked of AWS yet.

    Args:
        profile: Profile of the AWS configuration. None for boto3's own choice of credentials.

    Raises:
        FindingsError: If there is no such profile (UC9009).
    """
    import boto3  # noqa: PLC0415 - tests and the command line's help do without it
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - likewise

    try:
        return boto3.Session(profile_name=profile)
    except BotoCoreError as error:
        remedy = "`aws configure list-profiles` shows those that there are"
        raise FindingsError([Finding(code="UC9009", problem=str(error), remedy=remedy)]) from error
