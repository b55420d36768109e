"""Security groups: what their rules admit, and EFA traffic in both directions."""

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Final, Literal

from ultracluster_catalog.lustre.lustre import LUSTRE_PORTS
from ultracluster_catalog.lustre.lustre_figures import can_mount_over_efa
from ultracluster_checks.codes import LUSTRE_PORTS_OPEN
from ultracluster_checks.model.nodes import (
    LAUNCH_TEMPLATE,
    SECURITY_GROUP,
    efa_interfaces,
    groups_at,
    launch_data,
    nodes_of,
)
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.model.values import Unknown
from ultracluster_checks.problem import Wrong, rule
from ultracluster_spec.record import RuleRecord

Direction = Literal["in", "out"]
DIRECTIONS: Final[tuple[Direction, Direction]] = ("in", "out")
RULES_OF: Final = {"in": "SecurityGroupIngress", "out": "SecurityGroupEgress"}
"""Property with the inline rules of a direction."""

_ALONE: Final = {"in": "AWS::EC2::SecurityGroupIngress", "out": "AWS::EC2::SecurityGroupEgress"}
_PEER: Final = {"in": "SourceSecurityGroupId", "out": "DestinationSecurityGroupId"}
_ADDRESSES: Final = ("CidrIp", "CidrIpv6")


@dataclass(frozen=True, slots=True)
class GroupRule:
    """One rule of a security group, for traffic in or out."""

    at: Property
    direction: Direction

    @property
    def peer(self) -> Property:
        """The peer security group."""
        return self.at[_PEER[self.direction]]

    def holds_port(self, first: int, last: int) -> bool:
        """Return whether it admits TCP on all of these ports, or may do so."""
        protocol, low, high = self.at["IpProtocol"].text, self.at["FromPort"], self.at["ToPort"]
        if protocol in {None, "-1"} or low.unknown or high.unknown or low.number == -1:
            return True
        if protocol not in {"tcp", "6"} or low.number is None or high.number is None:
            return False
        return low.number <= first <= last <= high.number


def group_rules(group: Resource, direction: Direction) -> list[GroupRule]:
    """Return the rules of a security group, inline and standalone."""
    alone = _alone(group.template.templates, direction)
    rules = (*group[RULES_OF[direction]].items, *alone.get(group, ()), *alone.get(None, ()))
    return [GroupRule(at, direction) for at in rules]


@lru_cache(maxsize=2)
def _alone(templates: Templates, direction: Direction) -> dict[Resource | None, list[Property]]:
    """Return the standalone rules by their group; None has those that may belong to any group."""
    found: dict[Resource | None, list[Property]] = {}
    for each in templates.of_type(_ALONE[direction]):
        group = each["GroupId"].target
        if group is not None or each["GroupId"].unknown:
            found.setdefault(group, []).append(each.properties)
    return found


def admits(
    groups: Sequence[Resource],
    direction: Direction,
    peers: Sequence[Resource],
    ports: tuple[int, int],
    *,
    networks: Sequence[str] = (),
) -> bool:
    """Return whether security groups admit TCP on ports from or to peers, or may do so.

    Without `networks`, the CIDR blocks of the other end's subnets, any address may be one of it.
    """
    for group in groups:
        at = group[RULES_OF[direction]]
        if at.unknown or (direction == "out" and at.missing and not group_rules(group, "out")):
            return True  # without rules out, a group allows all traffic out
    rules = [each for group in groups for each in group_rules(group, direction)]
    admitted = any(each.holds_port(*ports) and _is_peer(each, peers, networks) for each in rules)
    return admitted or any(group.is_shared for group in groups)


def _is_peer(one: GroupRule, peers: Sequence[Resource], networks: Sequence[str]) -> bool:
    if not one.peer.missing:
        return _may_be(one.peer, peers)
    for at in (one.at[name] for name in _ADDRESSES):
        if at.text is None:
            if not at.missing:
                return True
            continue
        try:
            return not networks or any(_holds(at.text, network) for network in networks)
        except (ValueError, TypeError):
            return True
    lists = [one.at[name].text or "" for name in ("SourcePrefixListId", "DestinationPrefixListId")]
    return not (networks and any(each.startswith("pl-") for each in lists))


def _holds(text: str, network: str) -> bool:
    return ipaddress.ip_network(network, strict=False).subnet_of(ipaddress.ip_network(text, strict=False))  # type: ignore[arg-type]


def _efa_admitted(groups: Sequence[Resource], direction: Direction, peers: Sequence[Resource]) -> bool:
    """Return whether security groups admit all traffic from or to the groups of peers, or may do so."""
    rules = [each for group in groups for each in group_rules(group, direction)]
    admitted = any(
        each.at["IpProtocol"].text in {"-1", None} and not each.peer.missing and _may_be(each.peer, peers)
        for each in rules
    )
    return admitted or any(group.is_shared for group in groups)


def _may_be(at: Property, groups: Sequence[Resource]) -> bool:
    """Return whether a property may name one of some groups, which no text or parameter of their own template does."""
    template = at.resource.template
    given = at.text is not None or (isinstance(at.value, Unknown) and at.value.name in template.parameters)
    if given and all(group.template is template for group in groups):
        return False
    return at.target is None or at.target in groups


@rule("UC3201")
def efa_flows_both_ways(templates: Templates) -> Iterator[Wrong]:
    """Find ends of EFA traffic whose security groups do not admit all traffic of each other."""
    for known in _groups_with_efa(templates):
        for way, word in (("in", "from"), ("out", "to")):
            if not any(_efa_admitted([group], way, known) for group in known):  # type: ignore[arg-type]
                names = " or ".join(group.logical_id for group in known)
                got = f"no rule of {names} admits all traffic {word} itself, which EFA requires"
                allowed = (
                    f'IpProtocol "-1" with {_PEER[way]} that is the group itself; addresses do not count'
                )
                yield known[0][RULES_OF[way]], got, allowed, f"Add an {_ALONE[way]}"
    for resource in templates.of_type("AWS::FSx::FileSystem"):
        servers = groups_at(resource["SecurityGroupIds"])
        if servers is None or not resource["LustreConfiguration"]["EfaEnabled"].flag:
            continue
        pairs = [(servers, servers)]
        for clients in _efa_clients(templates, servers):
            pairs += [(servers, clients), (clients, servers)]
        for (groups, peers), direction in product(pairs, DIRECTIONS):
            if not _efa_admitted(groups, direction, peers):
                got = f"{groups[0].logical_id} does not let all traffic {direction} of {peers[0].logical_id}, which EFA of {resource.logical_id} requires"
                allowed = 'IpProtocol "-1" with the other group; addresses do not count'
                yield groups[0][RULES_OF[direction]], got, allowed


@rule(LUSTRE_PORTS_OPEN, SECURITY_GROUP)
def ports_of_lustre_are_together(group: Resource) -> Iterator[Wrong]:
    """Find rules for one of the two ranges of ports of Lustre that leave the other one out for the same group, and for UDP.

    FSx for Lustre user guide, file system access control with Amazon VPC (2026-11).
    """
    for way in DIRECTIONS:
        every = group_rules(group, way)
        anyone = [each for each in every if each.peer.missing or each.peer.unknown]
        for peer in {each.peer.pattern for each in every if each not in anyone}:
            rules = [each for each in every if each.peer.pattern == peer]
            about = [
                each
                for each in rules
                if (each.at["FromPort"].number, each.at["ToPort"].number) in LUSTRE_PORTS
                and not each.at["GroupId"].unknown
            ]
            for at in (each.at["IpProtocol"] for each in about):
                if at.text in {"udp", "17"}:
                    yield at, "got UDP, and Lustre uses TCP", "tcp"
            for first, last in LUSTRE_PORTS if about else ():
                lacking = not any(each.holds_port(first, last) for each in (*rules, *anyone))
                if lacking and not group.is_shared:
                    got = f"{group.logical_id} lets one range of ports of Lustre {way}, and not {first} to {last}"
                    yield about[0].at, got, "988, and 1018 to 1023"


def _groups_with_efa(templates: Templates) -> list[tuple[Resource, ...]]:
    """Return the groups of each EFA interface, each set once."""
    data = [launch_data(template) for template in templates.of_type(LAUNCH_TEMPLATE)]
    efa = [interface["Groups"] for at in data for interface in efa_interfaces(at)]
    sets = [tuple(groups_at(groups) or ()) for groups in efa]
    return [groups for groups in dict.fromkeys(sets) if groups]


def _efa_clients(templates: Templates, servers: list[Resource]) -> Iterator[list[Resource]]:
    for nodes in nodes_of(templates):
        if nodes.groups and nodes.types and all(map(can_mount_over_efa, nodes.types)):
            yield nodes.groups
    named = {each.peer.target for way in DIRECTIONS for group in servers for each in group_rules(group, way)}
    yield from ([each] for each in templates.of_type(SECURITY_GROUP) if each in named and each not in servers)


RECORDS: Final = (
    RuleRecord(
        "UC3201",
        "The security groups of EFA interfaces allow all traffic from and to themselves.",
        remedy="Add a rule for all traffic from the group itself and one for all traffic to the group itself. Rules with addresses do not let EFA through.",
        source="EC2 user guide, get started with EFA.",
    ),
)
