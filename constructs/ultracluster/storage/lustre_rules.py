"""Security group rules between nodes and their file system."""

from aws_cdk import CfnResource, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster_catalog.lustre.lustre import LUSTRE_PORTS


def add_lustre_rules(
    scope: Construct,
    *,
    file_system_group: str,
    node_group: str,
    efa: bool,
    within_file_system: RemovalPolicy | None,
) -> list[CfnResource]:
    """Allow Lustre traffic between file system and nodes, in both directions.

    The rules open the ports of Lustre, or all traffic for EFA, which needs rules that refer to a group. They are defined
    in this stack, whichever stack contains the group of the nodes: with CDK connections they would be created in the
    stack of the network, and both stacks would depend on each other. Without `within_file_system`, a removal policy, there
    are none among the servers, since EC2 rejects a duplicate rule.
    """
    pairs = [("FromNodes", node_group, file_system_group), ("ToNodes", file_system_group, node_group)]
    if within_file_system is not None:
        pairs.insert(0, ("Own", file_system_group, file_system_group))
    rules: list[CfnResource] = []
    for first, last in [(None, None)] if efa else LUSTRE_PORTS:
        for name, source, destination in pairs:
            both: list[CfnResource] = [
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
            for rule in both if source == destination else ():
                rule.apply_removal_policy(within_file_system, apply_to_update_replace_policy=True)
            rules += both
    return rules
