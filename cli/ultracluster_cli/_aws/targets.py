"""Where a rollout is deployed: a real account, or the local AWS with the rollout's fakes in it."""

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import botocore.exceptions

from ultracluster_cli._aws.call_counts import CallCounts
from ultracluster_cli._aws.clients import Client
from ultracluster_cli._aws.local_errors import local_aws_findings
from ultracluster_runtime.aws.aws_session import aws_session, refuse_credentials
from ultracluster_stacks.config import ClusterConfig

__all__ = ["Target", "account", "local_aws", "running_local_aws"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """Where to deploy.

    Attributes:
        name: What to call it when speaking to people.
        local: Whether it is a local AWS, where nothing is real and nobody is asked.
        environment: Environment for the CDK CLI.
        client: Gives boto3 clients.
        account: Account of the credentials. None for a local AWS.
        profile: Profile that the CDK CLI takes too. None for the credentials of the shell.
        calls: What the clients send; not what the CDK CLI sends.
    """

    name: str
    local: bool
    environment: Mapping[str, str]
    client: Client
    account: str | None = None
    profile: str | None = None
    calls: CallCounts = field(default_factory=CallCounts)

    @property
    def cdk_options(self) -> tuple[str, ...]:
        """What the CDK CLI is told, so that it goes to the same place."""
        options = ("--profile", self.profile) if self.profile else ()
        return (*options, "--no-notices") if self.local else options  # notices come from outside this machine


@contextmanager
def account(profile: str | None = None) -> Iterator[Target]:
    """Give the account of a profile or of the credentials, as boto3 and the CDK CLI find them.

    Args:
        profile: Profile of the AWS configuration. Default: the credentials of the shell.

    Raises:
        FindingsError: If there are no credentials, or AWS does not accept them (UC9009).
    """
    try:
        session = aws_session(profile)
        region = session.region_name or "us-east-1"
        identity = session.client("sts", region_name=region).get_caller_identity()
    except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as error:
        remedy = "Sign in (such as `aws sso login`), set AWS_PROFILE, or deploy to a local AWS with --local"
        problem = f"profile {profile}: {error}" if profile else str(error)
        raise refuse_credentials(problem, remedy=remedy) from error
    calls = CallCounts()
    yield Target(
        name=f"account {identity['Account']} as {identity['Arn']}",
        local=False,
        environment=os.environ,
        client=calls.counted(_clients(session)),
        calls=calls,
        account=identity["Account"],
        profile=profile,
    )


def _clients(session: Any) -> Client:
    """Give the clients of a session; threads may ask, though boto3 makes no two clients of a session at a time."""
    lock = threading.Lock()
    make = cache(lambda service, region: session.client(service, region_name=region))

    def client(service: str, region: str) -> Any:
        with lock:
            return make(service, region)

    return client


@contextmanager
def local_aws(
    clusters: Sequence[ClusterConfig],
    *,
    background: Path,
    temporary: Path,
    steps: dict[str, float],
    seed_blocks: bool = True,
) -> Iterator[Target]:
    """Open the local AWS, seeded with fakes of the clusters' reservations and images.

    Uses the one that `ultracluster local up` has started, or starts one that ends with this context.

    Args:
        clusters: Clusters to deploy.
        background: Directory of the one that may run in the background.
        temporary: Directory for one that ends with this context.
        steps: Receives the seconds that starting takes.
        seed_blocks: Whether to seed the clusters' Capacity Blocks too. Default: True.

    Raises:
        FindingsError: If it is not installed (UC8004), cannot start (UC8002, UC8003), or does not take the
            reservations (UC8006).
    """
    with local_aws_findings():
        from ultracluster_cli._aws import local_target  # noqa: PLC0415 - needs an optional distribution

        with local_target.local_aws(
            clusters, background=background, temporary=temporary, steps=steps, seed_blocks=seed_blocks
        ) as target:
            yield target


def running_local_aws(*, background: Path, region: str) -> Target:
    """Return the local AWS that `ultracluster local up` has started, as it is.

    Args:
        background: Its directory.
        region: Region that its environment names.

    Raises:
        FindingsError: If it is not installed (UC8004), or none runs (UC9206).
    """
    with local_aws_findings():
        from ultracluster_cli._aws import local_target  # noqa: PLC0415 - needs an optional distribution

        return local_target.running_local_aws(background=background, region=region)
