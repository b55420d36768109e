"""Map the clusters of a rollout to accounts, or all of them to a local AWS."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace

from ultracluster_cli._aws.targets import Target
from ultracluster_rules.findings import FindingsError
from ultracluster_stacks.config import ClusterConfig

__all__ = ["ClusterTargets", "ProfileTarget", "single_target", "targets_by_profile"]

ProfileTarget = Callable[[str | None], AbstractContextManager[Target]]
"""Gives the account of a profile; of the shell's credentials for None."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterTargets:
    """Where each cluster of a rollout is deployed.

    Attributes:
        profiles: The profile of each cluster, by name and Region such as ``training-a-us-east-2``.
        targets: Where each profile leads, in the order of the file.
    """

    profiles: Mapping[str, str | None]
    targets: Mapping[str | None, Target]

    def of(self, cluster: str) -> Target:
        """Return the target of a cluster.

        Args:
            cluster: Its name and Region.

        Raises:
            FindingsError: If the file does not say so (UC9665).
        """
        if cluster in self.profiles:
            return self.targets[self.profiles[cluster]]
        if set(self.targets) == {None}:
            return self.targets[None]
        problem = f"{cluster} is no longer in the rollout file, which names profiles"
        remedy = "Put the cluster with its profile back into the file; its account is not guessed"
        raise FindingsError.of("UC9665", problem, remedy=remedy)

    def clusters(self, profile: str | None) -> tuple[str, ...]:
        """Return the names of the clusters of a profile."""
        return tuple(name for name, cluster_profile in self.profiles.items() if cluster_profile == profile)

    def only(self, clusters: Iterable[str]) -> "ClusterTargets":
        """Return only the targets of some clusters."""
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
        """The accounts, or the local AWS, that a resumed rollout must use again."""
        return ", ".join(dict.fromkeys(target.account or target.name for target in self.targets.values()))

    @property
    def calls(self) -> Mapping[str, int]:
        """Number of requests sent to all targets by call, such as ``ec2:DescribeVpcs``, without those of the CDK CLI."""
        return sum((Counter(target.calls.sent) for target in self.targets.values()), Counter())

    @property
    def local(self) -> bool:
        """Whether every target is on this machine."""
        return all(target.local for target in self.targets.values())


@contextmanager
def targets_by_profile(clusters: Sequence[ClusterConfig], account: ProfileTarget) -> Iterator[ClusterTargets]:
    """Connect to the account of every profile before anything is done in one of them.

    Args:
        clusters: The clusters.
        account: Gives the account of a profile.

    Raises:
        FindingsError: If a profile does not exist, or AWS does not accept its credentials (UC9009).
    """
    profiles = {cluster.stage: cluster.profile for cluster in clusters}
    with ExitStack() as stack:
        yield ClusterTargets(
            profiles=profiles,
            targets={
                profile: stack.enter_context(account(profile)) for profile in dict.fromkeys(profiles.values())
            },
        )


def single_target(target: Target) -> ClusterTargets:
    """Deploy every cluster to one target, whatever its profile: a local AWS has one account."""
    return ClusterTargets(profiles={}, targets={None: target})
