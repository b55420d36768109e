"""What every source of nodes has in common."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from aws_cdk import Token
from aws_cdk import aws_ec2 as ec2

from ultracluster_catalog.names.identifiers import SOURCE_NAME
from ultracluster_rules.capacity import MAX_NODES
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_rules.numbers import reject_unsafe_numbers

__all__ = ["CapacitySource"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacitySource:
    """What every source has.

    Attributes:
        name: Name among the sources of a cluster, 2 to 32 lower case letters, digits and hyphens. It is part of the
            ids of what is defined for the source, so that sources can be added, removed and put into another order
            without a change to the others. Default: none, which one source of a cluster may have.
        max_nodes: Most nodes from this source at one time. Default: the most nodes of the queue.
    """

    name: str | None = None
    max_nodes: int | None = None

    def __post_init__(self) -> None:
        reject_unsafe_numbers(self)
        if findings := [*_common_problems(self), *self._problems()]:
            raise FindingsError(findings)

    def _problems(self) -> list[Finding]:
        return []

    @property
    def market_options(self) -> ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty | None:
        """Market type of the launch template; none is on-demand, and is left to AWS Batch for Spot."""
        return None

    @property
    def reservation_specification(
        self,
    ) -> ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty | None:
        """Target of the launch template."""
        return None

    @property
    def node_tags(self) -> Mapping[str, str]:
        """Tags that the nodes get for their source."""
        return {}


def _common_problems(source: CapacitySource) -> list[Finding]:
    findings = []
    if source.name is not None and not re.fullmatch(SOURCE_NAME, source.name):
        findings.append(
            Finding(
                code="UC4123",
                problem=f"got {quote(source.name)}",
                allowed="2 to 32 characters: lower case letters, digits and hyphens, a letter first",
                path="name",
            )
        )
    most = source.max_nodes
    if most is not None and not Token.is_unresolved(most):
        findings += MAX_NODES.check(most, path="max_nodes")
    return findings
