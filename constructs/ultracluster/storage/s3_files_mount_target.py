"""The mount target by which nodes and multi-node tasks reach a file system of Amazon S3 Files."""

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3files as s3files
from constructs import Construct

from ultracluster.network.cluster_network import ClusterNetwork
from ultracluster.network.group_rules import allow_between_groups
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import reject
from ultracluster_spec.job import S3_FILE_SYSTEM

_NFS = (2049, 2049)


class S3FilesMountTarget(Construct):
    """Lets jobs mount an existing file system of Amazon S3 Files: a mount target in the subnet of the nodes, and its rules.

    A file system has one mount target in each zone, all in one VPC. Jobs name the file system in their `mounts`.
    """

    security_group: ec2.ISecurityGroup
    """Security group of the mount target."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        network: ClusterNetwork,
        file_system_arn: str,
        security_group: ec2.ISecurityGroup | None = None,
    ) -> None:
        """Define the mount target, or the rules of an existing one.

        Args:
            network: Network of the nodes.
            file_system_arn: ARN of the file system.
            security_group: Security group of its mount target in the zone of the nodes, if it has one; rules are added to it and
                to the group of the nodes. Default: a new mount target with a new group.

        Raises:
            FindingsError: If the ARN is malformed (UC6157).
        """
        reject(S3_FILE_SYSTEM.check(file_system_arn, path="file_system_arn"))
        super().__init__(scope, construct_id)
        self.security_group = security_group or ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=network.vpc,
            description="Mount target of S3 Files: NFS from the nodes of the cluster and the tasks of its jobs",
            allow_all_outbound=False,
        )
        if security_group is None:
            s3files.CfnMountTarget(
                self,
                "Resource",
                file_system_id=file_system_arn.rpartition("/")[2],
                subnet_id=network.subnet_id,
                security_groups=[self.security_group.security_group_id],
            )
        # A task of a multi-node job mounts through its own interface, which has the default group of the VPC (decision 0018).
        # Where that is not known, the network has warned.
        for sender, group_id in {"Nodes": network.security_group_id, "Tasks": network.tasks_group_id}.items():
            if group_id is not None:
                allow_between_groups(
                    self,
                    (f"{sender}Ingress", f"{sender}Egress"),
                    source=group_id,
                    destination=self.security_group.security_group_id,
                    descriptions=(f"NFS from the {sender.lower()} of the cluster", "NFS to S3 Files"),
                    ports=_NFS,
                )
