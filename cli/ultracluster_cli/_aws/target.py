"""A deployment target."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ultracluster_cli._aws.call_counts import CallCounts

Client = Callable[[str, str], Any]
"""Returns the boto3 client of a service in a Region."""


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
        calls: Requests of the clients, excluding those of the CDK CLI.
    """

    name: str
    local: bool
    environment: Mapping[str, str]
    client: Client
    account: str | None = None
    profile: str | None = None
    runs_jobs: bool = False
    calls: CallCounts = field(default_factory=CallCounts)

    @property
    def cdk_options(self) -> tuple[str, ...]:
        """Options that make the CDK CLI use the same target."""
        options = ("--profile", self.profile) if self.profile else ()
        return (*options, "--no-notices") if self.local else options  # notices need the network
