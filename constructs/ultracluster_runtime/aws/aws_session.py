"""Open boto3 sessions."""

from typing import Any

from botocore.exceptions import BotoCoreError

from ultracluster_rules.findings import Finding, FindingsError

__all__ = ["aws_session", "refuse_credentials"]


def refuse_credentials(problem: str, *, remedy: str) -> FindingsError:
    """Return the refusal (UC9009) of credentials that AWS does not accept or boto3 does not find.

    Args:
        problem: The problem.
        remedy: What to do.
    """
    return FindingsError([Finding(code="UC9009", problem=problem, remedy=remedy)])


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
        raise refuse_credentials(str(error), remedy=remedy) from error
