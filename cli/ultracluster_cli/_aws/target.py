"""Deployment targets of the clusters of a rollout: accounts, or one local AWS for all of them."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Self

from ultracluster_runtime.functions.clients import Clients
from ultracluster_spec.findings import FindingsError


def local_clock() -> Mapping[str, Any] | None:
    """Return the clock of the local AWS that the environment names; None for AWS, and for another server."""
    if not (endpoint := os.environ.get("AWS_ENDPOINT_URL")):
        return None
    try:
        from ultracluster_local.errors import LocalAwsError  # noqa: PLC0415 - optional dependency
        from ultracluster_local.seeding.seed_client import move_clock  # noqa: PLC0415 - likewise
    except ImportError:
        return None
    try:
        return move_clock(endpoint=endpoint, key=os.environ.get("AWS_ACCESS_KEY_ID", ""))
    except LocalAwsError:
        return None


def time_there() -> datetime:
    """Return the time of AWS, or that of the local AWS that the environment names, which may be ahead."""
    return time_of(local_clock())


def time_of(clock: Mapping[str, Any] | None) -> datetime:
    """Return the time of a local AWS's clock; without one, that of AWS."""
    return datetime.fromisoformat(clock["now"]).astimezone(UTC) if clock else datetime.now(UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A deployment target.

    Attributes:
        name: Name in messages.
        local: Whether it is a local AWS, where no confirmation is needed.
        environment: Environment variables for the CDK CLI.
        account: Account ID. None for a local AWS.
        profile: AWS profile. None for the default credentials.
        runs_jobs: Whether it is a local AWS of this process that runs jobs.
        now: Returns the time there; a local AWS has a clock of its own.
    """

    name: str
    local: bool
    environment: Mapping[str, str]
    client: Clients
    account: str | None = None
    profile: str | None = None
    runs_jobs: bool = False
    now: Callable[[], datetime] = time_there

    @property
    def cdk_options(self) -> tuple[str, ...]:
        """Options that make the CDK CLI use the same target."""
        options = ("--profile", self.profile) if self.profile else ()
        return (*options, "--no-notices") if self.local else options  # notices need the network


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterTargets:
    """Where each cluster of a rollout is deployed.

    Profiles are by stage name, such as ``training-a-us-east-2``, and targets by profile, in the order of the file.
    """

    profiles: Mapping[str, str | None]
    targets: Mapping[str | None, Target]

    def of(self, cluster: str) -> Target:
        """Return the target of a cluster, which the rollout file must define."""
        if cluster in self.profiles:
            return self.targets[self.profiles[cluster]]
        if set(self.targets) == {None}:
            return self.targets[None]
        problem = f"{cluster} is no longer in the rollout file, so its account is unknown"
        remedy = "Restore the cluster and its profile in the rollout file"
        raise FindingsError.message(problem, remedy=remedy)

    def clusters(self, profile: str | None) -> tuple[str, ...]:
        """Return the names of the clusters of a profile."""
        return tuple(name for name, cluster_profile in self.profiles.items() if cluster_profile == profile)

    def only(self, clusters: Iterable[str]) -> Self:
        """Return the targets restricted to some clusters."""
        profiles = dict.fromkeys(self.profiles.get(cluster) for cluster in clusters)
        return replace(
            self, targets={profile: self.targets[profile] for profile in profiles if profile in self.targets}
        )

    @property
    def name(self) -> str:
        """Description of the targets for messages."""
        return "; ".join(dict.fromkeys(target.name for target in self.targets.values()))

    @property
    def account(self) -> str:
        """Account IDs or local AWS, which a resumed rollout must match."""
        return ", ".join(dict.fromkeys(target.account or target.name for target in self.targets.values()))

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables for synthesis, which needs no account."""
        return next(iter(self.targets.values())).environment

    @property
    def calls(self) -> Mapping[str, int]:
        """Number of requests by API call, such as ``ec2:DescribeVpcs``, excluding those of the CDK CLI."""
        return sum((Counter(target.client.sent) for target in self.targets.values()), Counter())

    @property
    def local(self) -> bool:
        """Whether every target is on this machine."""
        return all(target.local for target in self.targets.values())


def single_target(target: Target) -> ClusterTargets:
    """Return targets that deploy every cluster to the same target, ignoring profiles."""
    return ClusterTargets(profiles={}, targets={None: target})
