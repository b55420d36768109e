"""The rules of security groups without which nodes do not reach their file system."""

from aws_cdk import CfnResource
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster_catalog.lustre.lustre import LUSTRE_PORTS

__all__ = ["add_lustre_rules"]


def add_lustre_rules(
    scope: Construct, *, file_system_group: str, node_group: str, efa: bool, within_file_system: bool
) -> list[CfnResource]:
    """Open what Lustre needs between file system and nodes, both ways.

    That is its ports, or all traffic with EFA, which is let through only by rules that name a group. The rules are
    defined here, whichever stack the nodes' group belongs to: rules left to the CDK would go to the network's stack
    and make the two stacks depend on each other.

    Args:
        scope: Where to add the rules.
        file_system_group: Id of the file system's security group.
        node_group: Id of the nodes' security group.
        efa: Whether they talk over EFA.
        within_file_system: Whether the servers of the file system need the rules among themselves too. EC2
            refuses a rule that exists already.
    """
    pairs = [
        ("FromNodes", node_group, file_system_group),
        ("ToNodes", file_system_group, node_group),
    ]
    if within_file_system:
        pairs.insert(0, ("Own", file_system_group, file_system_group))
    rules: list[CfnResource] = []
    for first, last in [(None, None)] if efa else LUSTRE_PORTS:
        for name, source, destination in pairs:
            rules += [
                ec2.CfnSecurityGroupIngress(
                    scope,
                    f"{name}Ingress{first or 'All'}",
                    group_id=destination,
                    source_security_group_id=source,
                    ip_protocol="-1" if efa else "tcp",
                    from_port=first,
                    to_port=last,
                    description="Lustre",
                ),
                ec2.CfnSecurityGroupEgress(
                    scope,
                    f"{name}Egress{first or 'All'}",
                    group_id=source,
                    destination_security_group_id=destination,
                    ip_protocol="-1" if efa else "tcp",
                    from_port=first,
                    to_port=last,
                    description="Lustre",
                ),
            ]
    return rules
