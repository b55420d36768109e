"""Security group rules, inline and standalone: open ingress, and EFA traffic in both directions."""

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from ultracluster_checks.machines import LAUNCH_TEMPLATE, launch_data
from ultracluster_checks.problem import Problem
from ultracluster_checks.shared_rules import EFA_GROUPS_ADMIT_THEMSELVES
from ultracluster_checks.template import Property, Resource, Templates
from ultracluster_checks.values import Unknown
from ultracluster_rules.findings import quote

SECURITY_GROUP: Final = "AWS::EC2::SecurityGroup"

_Direction = Literal["in", "out"]
_LIST: Final = {"in": "SecurityGroupIngress", "out": "SecurityGroupEgress"}
_ALONE: Final = {"in": "AWS::EC2::SecurityGroupIngress", "out": "AWS::EC2::SecurityGroupEgress"}
_PEER: Final = {"in": "SourceSecurityGroupId", "out": "DestinationSecurityGroupId"}
_ADDRESSES: Final = ("CidrIp", "CidrIpv6")
_LARGEST_PUBLIC: Final = 8  # a /7 or larger counts as open to the internet


@dataclass(frozen=True, slots=True)
class GroupRule:
    """One rule of a security group.

    Attributes:
        at: Where it is written.
        direction: Whether it lets traffic in or out.
    """

    at: Property
    direction: _Direction

    @property
    def peer(self) -> Property:
        """The peer security group."""
        return self.at[_PEER[self.direction]]

    @property
    def is_all_traffic(self) -> bool | None:
        """Whether it covers every protocol; None if unknown."""
        protocol = self.at["IpProtocol"].text
        return None if protocol is None else protocol == "-1"

    def holds_port(self, first: int, last: int) -> bool:
        """Return whether it admits TCP on all of these ports, or may do so."""
        protocol = self.at["IpProtocol"].text
        if protocol in {None, "-1"}:
            return True
        low, high = self.at["FromPort"].number, self.at["ToPort"].number
        known = isinstance(self.at["FromPort"].value, Unknown) or isinstance(self.at["ToPort"].value, Unknown)
        if known or low == -1:
            return True
        return (
            protocol in {"tcp", "6"} and low is not None and high is not None and low <= first <= last <= high
        )


def group_rules(group: Resource, direction: _Direction) -> list[GroupRule]:
    """Return the rules of a security group, inline and standalone."""
    alone = _alone(group.template.templates, direction)
    rules = (*group[_LIST[direction]].items, *alone.get(group, ()), *alone.get(None, ()))
    return [GroupRule(at, direction) for at in rules]


@lru_cache(maxsize=2)
def _alone(templates: Templates, direction: _Direction) -> dict[Resource | None, list[Property]]:
    """Return the standalone rules by their group; None has those that may belong to any group."""
    found: dict[Resource | None, list[Property]] = {}
    for rule in templates.of_type(_ALONE[direction]):
        group = rule["GroupId"].target
        if group is not None or isinstance(rule["GroupId"].value, Unknown):
            found.setdefault(group, []).append(rule.properties)
    return found


def ingress_is_not_open(templates: Templates) -> Iterator[Problem]:
    """Find rules that admit the whole internet."""
    for group in templates.of_type(SECURITY_GROUP):
        for at in group[_LIST["in"]].items:
            yield from _open_to_everybody(at)
    for rule in templates.of_type(_ALONE["in"]):
        yield from _open_to_everybody(rule.properties)


def _open_to_everybody(at: Property) -> Iterator[Problem]:
    for name in _ADDRESSES:
        text = at[name].text
        if text is None:
            continue
        try:
            network = ipaddress.ip_network(text, strict=False)
        except ValueError:
            continue  # left to schema validation
        if network.prefixlen < _LARGEST_PUBLIC:
            yield Problem.of(
                at[name],
                "UC3206",
                f"got {quote(text)}, which admits everyone",
                "a security group, or the addresses of the clients",
            )


def efa_flows_both_ways(templates: Templates) -> Iterator[Problem]:
    """Find EFA interfaces whose security groups do not admit all traffic from and to themselves."""
    judged: set[tuple[Resource, ...]] = set()
    for template in templates.of_type(LAUNCH_TEMPLATE):
        for interface in launch_data(template)["NetworkInterfaces"].items:
            if interface["InterfaceType"].text in {"efa", "efa-only"}:
                yield from _efa_groups(interface["Groups"], judged)


def _efa_groups(at: Property, judged: set[tuple[Resource, ...]]) -> Iterator[Problem]:
    groups = tuple(each.target for each in at.items)
    if not groups or None in groups:
        return
    known = tuple(group for group in groups if group is not None and group.type == SECURITY_GROUP)
    if len(known) < len(groups) or known in judged:
        return
    judged.add(known)
    for direction, word in (("in", "from"), ("out", "to")):
        if not any(_lets_itself(group, known, direction) for group in known):  # type: ignore[arg-type]
            first = known[0]
            yield Problem.of(
                first[_LIST[direction]],
                EFA_GROUPS_ADMIT_THEMSELVES,
                f"no rule of {' or '.join(group.logical_id for group in known)} admits all traffic {word} itself, which "
                "EFA requires",
                f'IpProtocol "-1" with {_PEER[direction]} that is the group itself; addresses do not count',
                f"Add an {_ALONE[direction]}",
            )


def _lets_itself(group: Resource, peers: tuple[Resource, ...], direction: _Direction) -> bool:
    for rule in group_rules(group, direction):
        if rule.is_all_traffic is False or rule.peer.missing:
            continue
        if rule.peer.target in peers or isinstance(rule.peer.value, Unknown):
            return True
    return False
