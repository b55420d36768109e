"""Open the clients, parse the options and report the errors of `ultracluster jobs`."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_rules.job_definitions import VARIABLE
from ultracluster_runtime.aws.aws_session import aws_session
from ultracluster_runtime.jobs.describe import nodes_of
from ultracluster_runtime.jobs.queues import Client, region_of
from ultracluster_runtime.jobs.submission import refuse_option

__all__ = ["answers", "job_row", "open_region", "read_duration", "read_variables"]

_DURATION = re.compile(r"([1-9][0-9]{0,8})([smhd])")
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def open_region(
    *named: str, region: str | None, profile: str | None, attempts: int = 3
) -> tuple[str, Client]:
    """Return the Region of a command and a function that creates clients.

    Args:
        named: What the command names; an ARN decides the Region.
        region: The Region that was given. None for that of the environment or the profile.
        profile: The profile of the AWS configuration. None for boto3's own choice.
        attempts: How often a request is sent that gets no answer. Default: 3 times.

    Raises:
        FindingsError: If nothing says which Region (UC6201), or there is no such profile (UC9009).
    """
    session = aws_session(profile)
    chosen = (
        next((found for one in named if (found := region_of(one))), None) or region or session.region_name
    )
    if not chosen:
        problem = "no Region given"
        remedy = "Give --region, or an ARN, or set AWS_REGION"
        raise FindingsError([Finding(code="UC6201", problem=problem, remedy=remedy)])
    config = Config(
        retries={"total_max_attempts": attempts, "mode": "standard"}, connect_timeout=5, read_timeout=30
    )
    clients: dict[str, Any] = {}

    def client(service: str) -> Any:
        if service not in clients:
            clients[service] = session.client(service, region_name=chosen, config=config)
        return clients[service]

    return chosen, client


@contextmanager
def answers(remedy: str = "Check the credentials, their permissions and the Region") -> Iterator[None]:
    """Turn errors and refusals of AWS into a finding.

    Args:
        remedy: What to do then. Default: to check the credentials.

    Raises:
        FindingsError: UC6206.
    """
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise FindingsError([Finding(code="UC6206", problem=str(error), remedy=remedy)]) from error


def read_duration(option: str, text: str) -> timedelta:
    """Read a duration such as ``90m``.

    Raises:
        FindingsError: UC6204 if it is none.
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        allowed = "a number with s, m, h or d, such as 90m"
        raise FindingsError([refuse_option(option, quote(text), allowed=allowed)])
    return timedelta(seconds=int(match[1]) * _UNITS[match[2]])


def read_variables(given: list[str]) -> dict[str, str]:
    """Read ``NAME=VALUE`` pairs.

    Raises:
        FindingsError: UC6109 if one is none, or a name is there twice.
    """
    variables: dict[str, str] = {}
    findings = []
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or name in variables:
            # Only the name: a value may be a secret.
            problem = f"got {quote(name)} twice" if equals else f"got {quote(name)} without a value"
            findings.append(
                Finding(code=VARIABLE.code, problem=problem, allowed="NAME=VALUE, once", path="--env")
            )
        variables[name] = value
    if findings:
        raise FindingsError(findings)
    return variables


def job_row(job: Any) -> dict[str, Any]:
    """Return a job as a row of a table and of the JSON."""
    since = {"RUNNING": "startedAt", "SUCCEEDED": "stoppedAt", "FAILED": "stoppedAt"}.get(
        job["status"], "createdAt"
    )
    at = job.get(since) or job.get("createdAt")
    return {
        "job": job["jobId"],
        "name": job["jobName"],
        "state": job["status"],
        "nodes": nodes_of(job),
        "since": datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds") if at else None,
        "share": job.get("shareIdentifier"),
        "reason": job.get("statusReason") or None,
    }
