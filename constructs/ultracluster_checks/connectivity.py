"""Reachability: from nodes to their file system, and back."""

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from ultracluster_catalog.lustre.lustre import LUSTRE_PORTS
from ultracluster_checks.codes import LUSTRE_PORTS_OPEN
from ultracluster_checks.model.nodes import SECURITY_GROUP, Nodes, groups_at, nodes_of, vpc_of
from ultracluster_checks.model.template import Property, Resource
from ultracluster_checks.problem import Wrong, rule
from ultracluster_checks.security_groups import DIRECTIONS, RULES_OF, admits, group_rules
from ultracluster_spec.findings import quote

_FS_ID: Final = re.compile(r"fs-[0-9a-f]{8,17}")
_LUSTRE_RULES: Final = "rules for 988 and 1018 to 1023, between the clients and the file system and within the file system, both ways"


def _networks(subnets: Property) -> list[str]:
    texts = [each.target["CidrBlock"].text if each.target is not None else None for each in subnets.items]
    return [text for text in texts if text] if None not in texts else []


@rule(LUSTRE_PORTS_OPEN, "AWS::FSx::FileSystem")
def nodes_reach_their_file_system(resource: Resource) -> Iterator[Wrong]:
    """Find nodes that mount another file system, and ports of Lustre that its or their security groups do not allow."""
    if resource["FileSystemType"].text != "LUSTRE":
        return
    servers, name = groups_at(resource["SecurityGroupIds"]), resource.logical_id
    clients = list(_clients(resource))
    for data in (nodes.data["UserData"] for nodes in nodes_of(resource.template.templates)):
        if _FS_ID.search(data.pattern):
            got = "the user data mounts a file system by a fixed ID, and not that of the template"
            yield data, got, "its DNSName"
    if resource["SecurityGroupIds"].missing and clients:
        got = "no security group, so that the file system gets the default group of the VPC, which its nodes do not have"
        yield resource["SecurityGroupIds"], got, "a group that lets Lustre in from the nodes"
    if servers is None:
        return
    far = _networks(resource["SubnetIds"])
    ends: list[tuple[Sequence[Resource], Sequence[Resource], str, Sequence[str]]]
    ends = [(servers, servers, f"{name} itself", ())]
    for nodes in clients:
        of_nodes = nodes.groups or []
        ends.append((servers, of_nodes, f"the nodes of {nodes.name}", _networks(nodes.subnets)))
        ends.append((of_nodes, servers, name, far))
    for other in () if clients else _admitted(servers):
        ends += [(servers, [other], other.logical_id, ()), ([other], servers, name, far)]
    for (groups, peers, peer, networks), (first, last), way in product(ends, LUSTRE_PORTS, DIRECTIONS):
        if not admits(groups, way, peers, (first, last), networks=networks):
            ports = f"port {first}" if first == last else f"ports {first} to {last}"
            names, side = " and ".join(group.logical_id for group in groups), "from" if way == "in" else "to"
            got = f"{names} lets no TCP {way} on {ports} {side} {peer}, so that {quote(name)} cannot be mounted or hangs"
            yield groups[0][RULES_OF[way]], got, _LUSTRE_RULES


def _admitted(servers: Sequence[Resource]) -> list[Resource]:
    """Return the groups that those of a file system admit, beside themselves."""
    rules = [each for group in servers for each in group_rules(group, "in")]
    peers = [each.peer.target for each in rules if each.holds_port(*LUSTRE_PORTS[0])]
    named = [each for each in dict.fromkeys(peers) if each is not None and each not in servers]
    return [each for each in named if each.type == SECURITY_GROUP]


def _clients(file_system: Resource) -> Iterator[Nodes]:
    """Return the nodes that mount a file system: their user data names it, or they have chips and are in its VPC."""
    vpc = {vpc_of(each) for each in file_system["SubnetIds"].items}
    for nodes in nodes_of(file_system.template.templates):
        mounts = file_system in nodes.data["UserData"].targets
        near = None not in vpc and bool(vpc & nodes.vpcs) and bool(nodes.types) and bool(nodes.efa_interfaces)
        if nodes.groups is not None and (mounts or near):
            yield nodes
