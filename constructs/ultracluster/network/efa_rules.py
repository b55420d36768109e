"""The two rules of a security group without which no EFA traffic flows."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

__all__ = ["add_efa_rules"]


def add_efa_rules(scope: Construct, *, security_group_id: str) -> None:
    """Let a security group send everything to itself, and take everything from itself.

    EFA traffic is let through only by rules that name the group itself, in both directions; a CIDR does not
    count. They are L1, because the CDK silently drops the outbound half where a group allows all outbound.

    Args:
        scope: Where to add the rules, as ``EfaIngress`` and ``EfaEgress``.
        security_group_id: Id of the group. A rule that it has already is refused by EC2 at deployment.
    """
    ec2.CfnSecurityGroupIngress(
        scope,
        "EfaIngress",
        group_id=security_group_id,
        source_security_group_id=security_group_id,
        ip_protocol="-1",
        description="EFA from the nodes of the cluster",
    )
    ec2.CfnSecurityGroupEgress(
        scope,
        "EfaEgress",
        group_id=security_group_id,
        destination_security_group_id=security_group_id,
        ip_protocol="-1",
        description="EFA to the nodes of the cluster",
    )
