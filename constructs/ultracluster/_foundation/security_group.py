"""The security groups of a cluster: nothing comes in, and nothing goes out, but by rules that are written down."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

__all__ = ["ClosedSecurityGroup"]


class ClosedSecurityGroup(Construct):
    """A security group, of which nothing of ours needs more than the id.

    L1, because the L2 group wants the whole VPC, and the CDK loads its table of all Regions for the ARN of that. Its path is
    that of an L2 group: another logical id would replace the group, and with it a file system.
    """

    _imported: ec2.ISecurityGroup | None = None

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc_id: str,
        description: str,
        egress: ec2.CfnSecurityGroup.EgressProperty | None = None,
    ) -> None:
        """Define the group.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            vpc_id: Its VPC.
            description: What is in it, and what its rules are for. A change replaces the group.
            egress: What may go out besides what rules of their own allow. Default: nothing.
        """
        super().__init__(scope, construct_id)
        # Without any rule CloudFormation would leave the one by which EC2 lets everything out of a new group. This one,
        # which the CDK writes as well, lets out ICMP of a type that there is not, to nobody.
        nothing = ec2.CfnSecurityGroup.EgressProperty(
            ip_protocol="icmp",
            from_port=252,
            to_port=86,
            cidr_ip="255.255.255.255/32",
            description="Disallow all traffic",
        )
        self._group_id = ec2.CfnSecurityGroup(
            self,
            "Resource",
            vpc_id=vpc_id,
            group_description=description,
            security_group_egress=[egress or nothing],
        ).attr_group_id

    @property
    def group(self) -> ec2.ISecurityGroup:
        """The group, for what only an L2 construct can do; made when somebody asks."""
        if self._imported is None:
            self._imported = ec2.SecurityGroup.from_security_group_id(
                self, "Imported", self._group_id, allow_all_outbound=False
            )
        return self._imported

    @property
    def group_id(self) -> str:
        """Its id."""
        return self._group_id
