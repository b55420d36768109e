"""Where a rollout is deployed: a real account, or the local AWS with the rollout's fakes in it."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import boto3

from ultracluster_cli.read_back import Client
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
    """Give the account of the credentials, as boto3 and the CDK CLI find them."""
    session = boto3.Session()
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    yield Target(
        name=f"AWS at {endpoint}" if endpoint else "the AWS account of your credentials",
        environment=os.environ,
        client=cache(lambda service, region: session.client(service, region_name=region)),
    )


@contextmanager
def local_aws(state: Path, clusters: Sequence[ClusterConfig], *, steps: dict[str, float]) -> Iterator[Target]:
    """Give the local AWS, with the reservations and AMIs of the clusters in it.

    Takes the one that `ultracluster local up` started; else starts one that ends with this context.

    Args:
        state: Folder of its files.
        clusters: What will be deployed.
        steps: Receives the seconds that starting takes.

    Raises:
        FindingsError: If the packages of the local AWS are not installed (UC9009).
    """
    raise NotImplementedError(state, clusters, steps)
    yield


@contextmanager
def timed(steps: dict[str, float], step: str) -> Iterator[None]:
    """Add the seconds that the body takes to `steps`, unless it fails."""
    began = time.monotonic()
    yield
    steps[step] = time.monotonic() - began
