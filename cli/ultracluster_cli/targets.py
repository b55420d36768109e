"""Where a rollout is deployed: a real account, or the local AWS with the rollout's fakes in it."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import boto3
import botocore.exceptions

from ultracluster_catalog.findings import Finding, FindingsError
from ultracluster_cli.read_back import Client
from ultracluster_local import LocalAws
from ultracluster_stacks.config import ClusterConfig

__all__ = ["Target", "account", "local_aws", "timed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """Where to deploy.

    Attributes:
        name: What to call it when speaking to people.
        environment: Environment for the CDK CLI.
        client: Gives boto3 clients.
    """

    name: str
    environment: Mapping[str, str]
    client: Client


@contextmanager
def account() -> Iterator[Target]:
    """Give the account of the credentials, as boto3 and the CDK CLI find them.

    Raises:
        FindingsError: If there are no credentials, or AWS does not accept them (UC9009).
    """
    try:
        session = boto3.Session()
        region = session.region_name or "us-east-1"
        identity = session.client("sts", region_name=region).get_caller_identity()
    except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as error:
        remedy = "Sign in (such as `aws sso login`), set AWS_PROFILE, or deploy to a local AWS with --local"
        raise FindingsError([Finding(code="UC9009", problem=str(error), remedy=remedy)]) from error
    yield Target(
        name=f"account {identity['Account']} as {identity['Arn']}",
        environment=os.environ,
        client=cache(lambda service, region: session.client(service, region_name=region)),
    )


@contextmanager
def local_aws(
    clusters: Sequence[ClusterConfig], *, directory: Path, steps: dict[str, float]
) -> Iterator[Target]:
    """Give the local AWS, with the reservations of the clusters in it.

    Args:
        clusters: What will be deployed.
        directory: For files of a local AWS that ends with this context.
        steps: Receives the seconds that starting takes.

    Raises:
        FindingsError: If it cannot start (UC8002 to UC8004).
    """
    with timed(steps, "starting the local AWS"):
        local = LocalAws(
            directory=directory / "local", regions={cluster.region for cluster in clusters}
        ).start()
    try:
        yield Target(
            name=f"the local AWS at {local.endpoint}, which is a fake",
            environment=local.environment(clusters[0].region),
            client=local.client,
        )
    finally:
        local.stop()


@contextmanager
def timed(steps: dict[str, float], step: str) -> Iterator[None]:
    """Add the seconds that the body takes to `steps`, unless it fails."""
    began = time.monotonic()
    yield
    steps[step] = time.monotonic() - began
