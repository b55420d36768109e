"""Security group rules for EFA traffic between nodes, and for tasks of multi-node jobs."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

_HTTPS = 443


def add_efa_rules(scope: Construct, *, security_group_id: str) -> None:
    """Allow all traffic between members of a security group, in both directions.

    EFA traffic needs rules whose source and destination are the group itself; CIDR rules do not apply to it. The rules
    are L1, because the L2 silently drops the outbound rule of a group that allows all outbound traffic. EC2 rejects a
    duplicate of an existing rule at deployment.
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


def add_task_rules(scope: Construct, *, security_group_id: str) -> None:
    """Allow tasks of multi-node jobs, which have the default security group of the VPC, to reach each other and AWS."""
    ec2.CfnSecurityGroupIngress(
        scope,
        "TasksIngress",
        group_id=security_group_id,
        source_security_group_id=security_group_id,
        ip_protocol="-1",
        description="From other tasks of multi-node jobs",
    )
    ec2.CfnSecurityGroupEgress(
        scope,
        "TasksEgress",
        group_id=security_group_id,
        destination_security_group_id=security_group_id,
        ip_protocol="-1",
        description="To other tasks of multi-node jobs",
    )
    ec2.CfnSecurityGroupEgress(
        scope,
        "TasksToAws",
        group_id=security_group_id,
        cidr_ip="0.0.0.0/0",
        ip_protocol="tcp",
        from_port=_HTTPS,
        to_port=_HTTPS,
        description="From tasks of multi-node jobs to AWS services",
    )
