"""Security group rules for traffic between nodes, tasks of multi-node jobs and file systems."""

from aws_cdk import CfnResource
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

_HTTPS = 443


def allow_between_groups(
    scope: Construct,
    names: tuple[str, str],
    *,
    source: str,
    destination: str,
    descriptions: tuple[str, str],
    ports: tuple[int, int] | None = None,
) -> list[CfnResource]:
    """Allow TCP ports, by default all traffic, from one security group to another or to itself.

    `names` and `descriptions` are those of the ingress and the egress rule. The rules are L1, because the L2 silently drops
    the outbound rule of a group that allows all outbound traffic. EC2 rejects a duplicate of an existing rule at deployment.
    """
    protocol = "tcp" if ports else "-1"
    first, last = ports or (None, None)
    ingress = ec2.CfnSecurityGroupIngress(
        scope,
        names[0],
        group_id=destination,
        source_security_group_id=source,
        ip_protocol=protocol,
        from_port=first,
        to_port=last,
        description=descriptions[0],
    )
    egress = ec2.CfnSecurityGroupEgress(
        scope,
        names[1],
        group_id=source,
        destination_security_group_id=destination,
        ip_protocol=protocol,
        from_port=first,
        to_port=last,
        description=descriptions[1],
    )
    return [ingress, egress]


def add_efa_rules(scope: Construct, *, security_group_id: str) -> None:
    """Allow all traffic between members of a security group, which EFA needs; CIDR rules do not apply to it."""
    allow_between_groups(
        scope,
        ("EfaIngress", "EfaEgress"),
        source=security_group_id,
        destination=security_group_id,
        descriptions=("EFA from the nodes of the cluster", "EFA to the nodes of the cluster"),
    )


def add_task_rules(scope: Construct, *, security_group_id: str) -> list[CfnResource]:
    """Allow tasks of multi-node jobs, which have the default security group of the VPC, to reach each other and AWS."""
    among_tasks = allow_between_groups(
        scope,
        ("TasksIngress", "TasksEgress"),
        source=security_group_id,
        destination=security_group_id,
        descriptions=("From other tasks of multi-node jobs", "To other tasks of multi-node jobs"),
    )
    to_aws = ec2.CfnSecurityGroupEgress(
        scope,
        "TasksToAws",
        group_id=security_group_id,
        cidr_ip="0.0.0.0/0",
        ip_protocol="tcp",
        from_port=_HTTPS,
        to_port=_HTTPS,
        description="From tasks of multi-node jobs to AWS services",
    )
    return [*among_tasks, to_aws]
