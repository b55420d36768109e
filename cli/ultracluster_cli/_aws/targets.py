"""Where a rollout is deployed: a real account, or the local AWS with the rollout's fakes in it."""

import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import botocore.exceptions

from ultracluster_cli._aws.call_counts import CallCounts
from ultracluster_cli._cdk.timing import timed
from ultracluster_cli.deploy.verification import Client
from ultracluster_local import LocalAws
from ultracluster_local.instance.clients import Clients
from ultracluster_local.instance.environment import ACCOUNT, child_environment
from ultracluster_local.seeding.seed_client import SeedContainerImage, SeedImage, SeedReservation, seed
from ultracluster_local.server.daemon import status
from ultracluster_rules.findings import Finding, FindingsError
from ultracluster_runtime.aws.aws_session import aws_session
from ultracluster_stacks.config import ClusterConfig, sources

__all__ = ["Target", "account", "local_aws", "running_local_aws"]

_FAKE_BLOCK = timedelta(days=14)


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
        raise FindingsError([Finding(code="UC9009", problem=problem, remedy=remedy)]) from error
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
    """Give the local AWS, with the reservations and images of the clusters in it as fakes.

    Takes the one that `ultracluster local up` has started; else starts one that ends with this context.

    Args:
        clusters: What will be deployed.
        background: Folder of the one that may run in the background.
        temporary: Folder for one that ends with this context.
        steps: Receives the seconds that starting takes.
        seed_blocks: Put the Capacity Blocks of the clusters there too. Default: yes; no is for who buys them there.

    Raises:
        FindingsError: If it cannot start (UC8002 to UC8004), or does not take the reservations (UC8006).
    """
    with ExitStack() as stack:
        with timed(steps, "starting the local AWS"):
            running = status(background)
            endpoint = (
                running.endpoint
                if running
                else stack.enter_context(LocalAws(directory=temporary / "local")).endpoint
            )
            seed(
                endpoint=endpoint,
                regions={cluster.region for cluster in clusters},
                images=[SeedImage(image_id=cluster.image_id, region=cluster.region) for cluster in clusters],
                container_images={fake for cluster in clusters for fake in _container_images(cluster)},
                reservations=[
                    fake for cluster in clusters for fake in _fakes(cluster) if seed_blocks or not fake.block
                ],
            )
        fakes = "the reservations and images" if seed_blocks else "the images"
        calls = CallCounts()
        yield Target(
            name=f"the local AWS at {endpoint}: a fake, with fakes of {fakes}",
            local=True,
            environment=child_environment(endpoint=endpoint, region=clusters[0].region),
            client=calls.counted(Clients(endpoint=endpoint).get),
            calls=calls,
        )


def running_local_aws(*, background: Path, region: str) -> Target:
    """Give the local AWS that `ultracluster local up` has started, as it is.

    Args:
        background: Its folder.
        region: Region that its environment names.

    Raises:
        FindingsError: If none runs (UC9206).
    """
    running = status(background)
    if running is None:
        remedy = "Start one with `ultracluster local up`, and deploy to it with `ultracluster deploy --local`"
        problem = "no local AWS runs in the background here, so nothing is deployed in it"
        raise FindingsError([Finding(code="UC9206", problem=problem, remedy=remedy)])
    return Target(
        name=f"the local AWS at {running.endpoint}",
        local=True,
        environment=child_environment(endpoint=running.endpoint, region=region),
        client=Clients(endpoint=running.endpoint).get,
    )


_LOCAL_IMAGE = re.compile(
    rf"{ACCOUNT}\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com/(?P<name>[^:@]+):(?P<tag>[^@]+)"
)


def _container_images(cluster: ClusterConfig) -> Iterator[SeedContainerImage]:
    """The images of jobs that are in registries of the fake account, and have a tag."""
    for job in cluster.jobs:
        if found := _LOCAL_IMAGE.fullmatch(job.image):
            yield SeedContainerImage(repository=found["name"], tag=found["tag"], region=found["region"])


def _fakes(cluster: ClusterConfig) -> list[SeedReservation]:
    now = datetime.now(UTC)
    return [
        SeedReservation(
            reservation_id=capacity.reservation_id,
            region=cluster.region,
            zone_id=cluster.zone_id,
            instance_type=cluster.instance_type,
            count=capacity.max_nodes or cluster.nodes,
            # A rollout need not name the times; a block that is running now is what one deploys to.
            start=capacity.start or now,
            end=capacity.end or (now + _FAKE_BLOCK if block else None),
            block=block,
        )
        for _, capacity in sources(cluster)
        if capacity.reservation_id is not None
        for block in (capacity.market_type == "capacity-block",)
    ]
